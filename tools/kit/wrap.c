/* Text for people, in lines that fit the terminal. Text is a little Markdown: paragraphs, lists,
 * headings, code, tables. On a terminal its lines are made anew; elsewhere it stays as it was
 * written, and other text ends before column 100. Code is never broken. */
#include "ir/ascii.h"
#include "kit.h"

#include "ir/utf8.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDEST = 100, NARROWEST = 20, FEW = 16 };

static int terminal_width(FILE *to) {
  struct winsize size = {0};
  if (!isatty(fileno(to))) return 0;
  if (ioctl(fileno(to), TIOCGWINSZ, &size) || !size.ws_col) return 80;
  return size.ws_col < NARROWEST ? NARROWEST : size.ws_col;
}

int text_width(FILE *to) {
  int width = terminal_width(to);
  return !width ? WIDEST - 1 : width > WIDEST ? WIDEST : width;
}

bool is_wrapped(FILE *to) { return terminal_width(to) > 0; }

/* Bytes of an escape sequence that sets a colour at s, or 0. */
static size_t colour_length(const char *s, size_t n) {
  if (n < 2 || s[0] != '\033' || s[1] != '[') return 0;
  const char *end = memchr(s, 'm', n);
  return end ? (size_t)(end - s) + 1 : 0;
}

/* Places on the screen that a text takes: one for each character, none for a colour. */
static int columns_of(const char *s, size_t n) {
  int columns = 0;
  for (size_t i = 0; i < n;) {
    size_t colour = colour_length(s + i, n - i);
    columns += !colour && !tirc_utf8_continues(s[i]);
    i += colour ? colour : 1;
  }
  return columns;
}

void put_wrapped(FILE *to, int column, int indent, const char *text) {
  const int width = text_width(to);
  bool first = true;
  while (*(text += strspn(text, " \n"))) {
    size_t n = strcspn(text, " \n");
    int columns = columns_of(text, n);
    if (column + !first + columns > width && (!first || column > indent)) {
      fprintf(to, "\n%*s", indent, "");
      column = indent;
    } else if (!first) {
      fputc(' ', to);
      column++;
    }
    fwrite(text, 1, n, to);
    column += columns;
    text += n;
    first = false;
  }
  fputc('\n', to);
}

void print_wrapped(int column, const char *text) { put_wrapped(stdout, column, column, text); }

void put_row(FILE *to, int column, const char *name, const char *text) {
  const int width = text_width(to), indent = width - column < 2 * FEW ? 6 : column;
  if (indent == column)
    fprintf(to, "  %-*s ", column - 3, name);
  else
    fprintf(to, "  %s", name);
  if (indent != column || columns_of(name, strlen(name)) > column - 3)
    fprintf(to, "\n%*s", indent, "");
  put_wrapped(to, indent, indent, text);
}

void print_row(const char *name, const char *text) { put_row(stdout, 33, name, text); }

/* --- Markdown --------------------------------------------------------------------------------- */

#define CODE "\033[36m"

typedef struct Page {
  FILE *to;
  int indent;
  bool colour;
  bool fenced;
  int hang;    /* the column of what follows the marker of a list's item, or of the first line */
  char *words; /* the paragraph so far; NULL: none is open */
  size_t n_words;
  int n_rows; /* of the table that is open */
  char *rows[64];
} Page;

/* Up to the end of a line of text. */
static char *line_of(const char *text) { return tirc_strndup(memory, text, strcspn(text, "\n")); }

/* What a pair of marks is around, or 0: `code`, **bold**, *emphasis*. */
static size_t marked(const char *s, const char *mark) {
  size_t m = strlen(mark);
  if (strncmp(s, mark, m) != 0 || s[m] == ' ' || s[m] == '*') return 0;
  const char *end = strstr(s + m, mark);
  return end && end > s + m && end[-1] != ' ' ? (size_t)(end - s) - m : 0;
}

/* [text](address) is its text. */
static size_t link_length(const char *s, size_t *text) {
  const char *middle = *s == '[' ? strstr(s, "](") : NULL;
  const char *end = middle ? strchr(middle, ')') : NULL;
  if (!end || memchr(s, '\n', (size_t)(end - s))) return 0;
  *text = (size_t)(middle - s) - 1;
  return (size_t)(end - s) + 1;
}

/* The text with colours for its marks; without colours the marks stay, as they are for reading,
 * too. */
static char *in_colours(const Page *p, const char *s, const char *base) {
  static const struct {
    const char *mark, *colour;
  } marks[] = {{"`", CODE}, {"**", BOLD}, {"*", BOLD}};
  const char *start = s;
  char *out = NULL;
  size_t size = 0, text = 0;
  FILE *f = begin_text(&out, &size);
  if (p->colour) fputs(base, f);
  while (*s) {
    size_t n = link_length(s, &text);
    if (n) {
      fprintf(f, "%.*s", (int)text, s + 1);
      s += n;
      continue;
    }
    int i = s > start && tirc_is_letter_or_digit(s[-1]) ? 3 : 0; /* a*b is a product */
    while (i < 3 && !(n = marked(s, marks[i].mark))) i++;
    if (!n || !p->colour) {
      size_t whole = n ? n + 2 * strlen(marks[i].mark) : 1;
      fwrite(s, 1, whole, f);
      s += whole;
      continue;
    }
    size_t m = strlen(marks[i].mark);
    char *words = tirc_strndup(memory, s + m, n), *inside = i ? in_colours(p, words, BOLD) : NULL;
    fprintf(f, "%s%s" RESET "%s", marks[i].colour, inside ? inside : words, base);
    s += n + 2 * m;
  }
  if (p->colour && *base) fputs(RESET, f);
  return end_text(f, &out);
}

static void put_words(const Page *p, int hang, const char *words, const char *base) {
  put_wrapped(p->to, hang, hang, in_colours(p, words, base));
}

static void end_paragraph(Page *p) {
  if (!p->words) return;
  put_words(p, p->hang, p->words, "");
  p->words = NULL;
}

static void add_words(Page *p, const char *words) {
  p->words = p->words ? tirc_format(memory, "%s %s", p->words, words) : tirc_strdup(memory, words);
}

/* --- tables: in columns where they fit, otherwise each row as a list -------------------------- */

enum { MOST_CELLS = 8 };

/* The cells of "| a | b |". */
static int split_row(const Page *p, const char *row, char **cells) {
  int n = 0;
  for (const char *s = row + strspn(row, " |"); *s && n < MOST_CELLS;) {
    size_t length = strcspn(s, "|"), end = length;
    while (end && s[end - 1] == ' ') end--;
    cells[n++] = in_colours(p, tirc_strndup(memory, s, end), "");
    s += length;
    s += strspn(s, "| ");
  }
  return n;
}

static bool is_rule(const char *row) { return row[strspn(row, "|-: ")] == 0; }

static void put_cells(const Page *p, int n, char **cells, const int *widths) {
  fprintf(p->to, "%*s", p->indent, "");
  for (int i = 0; i < n; i++)
    fprintf(p->to, "%s%*s", cells[i],
            i + 1 < n ? widths[i] - columns_of(cells[i], strlen(cells[i])) + 2 : 0, "");
  fputc('\n', p->to);
}

static void put_list(const Page *p, int n, char **cells, int n_heads, char **heads) {
  for (int i = 0; i < n; i++) {
    fprintf(p->to, "%*s%s", p->indent + (i ? 2 : 0), "", i ? "" : "- ");
    if (i && i < n_heads) fprintf(p->to, "%s: ", heads[i]);
    int column =
        p->indent + 2 + (i && i < n_heads ? columns_of(heads[i], strlen(heads[i])) + 2 : 0);
    put_wrapped(p->to, column, p->indent + 4, cells[i]);
  }
}

static void end_table(Page *p) {
  char *cells[64][MOST_CELLS] = {{0}};
  int counts[64], widths[MOST_CELLS] = {0}, total = p->indent;
  for (int r = 0; r < p->n_rows; r++) {
    counts[r] = is_rule(p->rows[r]) ? 0 : split_row(p, p->rows[r], cells[r]);
    for (int i = 0; i < counts[r]; i++) {
      int width = columns_of(cells[r][i], strlen(cells[r][i]));
      if (width > widths[i]) widths[i] = width;
    }
  }
  for (int i = 0; i < MOST_CELLS; i++) total += widths[i] ? widths[i] + 2 : 0;
  const bool fits = total - 2 <= terminal_width(p->to);
  for (int r = 0; r < p->n_rows; r++) {
    if (counts[r] && fits) put_cells(p, counts[r], cells[r], widths);
    if (counts[r] && r && !fits) put_list(p, counts[r], cells[r], counts[0], cells[0]);
  }
  p->n_rows = 0;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* Bytes of "- ", "3. " and the like at the start of a line, or 0. */
static size_t marker_length(const char *s) {
  size_t digits = strspn(s, "0123456789");
  if (digits && s[digits] == '.' && s[digits + 1] == ' ') return digits + 2;
  return (*s == '-' || *s == '*') && s[1] == ' ' ? 2 : 0;
}

static void take_line(Page *p, char *line) {
  size_t spaces = strspn(line, " "), marker = marker_length(line + spaces);
  const char *text = line + spaces;
  bool fence = strncmp(text, "```", 3) == 0, row = *text == '|' && p->n_rows < 64 && !p->fenced;
  if (!row && p->n_rows) end_table(p);
  if (p->fenced || fence || !*text || row || *text == '#' || marker || (!p->words && spaces >= 4))
    end_paragraph(p);
  if (fence) {
    p->fenced = !p->fenced;
  } else if (p->fenced || (!p->words && spaces >= 4 && !marker)) {
    fprintf(p->to, "%*s%s\n", *text ? p->indent + (p->fenced ? 4 : 0) : 0, "", line);
  } else if (row) {
    if ((p->rows[p->n_rows] = tirc_strdup(memory, line))) p->n_rows++;
  } else if (!*text) {
    fputc('\n', p->to);
  } else if (*text == '#') {
    const char *title = text + strspn(text, p->colour ? "# " : "");
    fprintf(p->to, "%*s", p->indent, "");
    put_words(p, p->indent, title, BOLD);
  } else {
    if (!p->words) {
      fprintf(p->to, "%*s%.*s", p->indent + (int)spaces, "", (int)marker, text);
      p->hang = p->indent + (int)(spaces + marker);
    }
    add_words(p, text + marker);
  }
}

void put_text(FILE *to, int indent, bool colour, const char *text) {
  Page p = {.to = to, .indent = indent, .colour = colour};
  const bool made_anew = is_wrapped(to);
  for (const char *end; *text; text = *end ? end + 1 : end) {
    char *line = line_of(text);
    end = text + strcspn(text, "\n");
    if (!made_anew || !line)
      fprintf(to, "%*s%.*s\n", end > text ? indent : 0, "", (int)(end - text), text);
    else
      take_line(&p, line);
  }
  end_paragraph(&p);
  if (p.n_rows) end_table(&p);
}

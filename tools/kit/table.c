#include "table.h"

#include "ir/number.h"

#include <stdarg.h>
#include <string.h>

void add_cell(Table *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  *one_more(t->cells, t->n) = tirc_vformat(memory, format, args);
  va_end(args);
}

/* A spreadsheet takes what begins so for a formula, and runs it. */
static bool is_formula(const char *text) {
  char *end;
  if (!*text || !strchr("=+-@\t\r\n", *text) || !strcmp(text, "-")) return false;
  (void)tirc_parse_double(text, &end);
  return end == text || *end;
}

/* So that what is read back is what was written. */
static bool has_mark(const char *text) {
  return *text == CSV_MARK && (text[1] == CSV_MARK || is_formula(text + 1));
}

const char *without_csv_mark(const char *text) { return has_mark(text) ? text + 1 : text; }

void put_csv_cell(FILE *to, bool first, const char *text) {
  if (!first) fputc(',', to);
  if (!text) return;
  const bool marked = is_formula(text) || has_mark(text);
  const bool quoted = text[strcspn(text, ",\"\n\r\t")] != 0;
  if (quoted) fputc('"', to);
  if (marked) fputc(CSV_MARK, to);
  while (*text) {
    const size_t n = strcspn(text, "\"");
    put_clean(to, text, n);
    text += n;
    if (*text) fputs("\"\"", to), text++;
  }
  if (quoted) fputc('"', to);
}

static void put_csv_row(FILE *to, char *const *cells, const Table *t) {
  for (int i = 0; i < t->columns; i++) put_csv_cell(to, i == 0, cells[i]);
  fputc('\n', to);
}

static bool is_right(const Table *t, int column) { return column < 64 && t->right >> column & 1; }

static void put_plain_row(FILE *to, char *const *cells, const Table *t, const int *widths) {
  for (int i = 0; i < t->columns; i++) {
    const int pad = widths[i] - (int)strlen(cells[i]);
    if (is_right(t, i)) fprintf(to, "%*s", pad, "");
    put_name(to, cells[i]);
    if (i + 1 < t->columns) fprintf(to, "%*s  ", is_right(t, i) ? 0 : pad, "");
  }
  fputc('\n', to);
}

/* A bar would end the cell, and what looks like a tag would be one. */
static void put_markdown_row(FILE *to, char *const *cells, const Table *t) {
  for (int i = 0; i < t->columns; i++) {
    fputs(i ? " | " : "| ", to);
    char *shown = shown_name(cells[i]);
    for (const char *p = shown; *p; p++) {
      if (strchr("|<*_`[]\\", *p)) fputc('\\', to);
      fputc(*p, to);
    }
  }
  fputs(" |\n", to);
}

static void put_markdown_rule(FILE *to, const Table *t) {
  for (int i = 0; i < t->columns; i++) fputs(is_right(t, i) ? "| ---: " : "| --- ", to);
  fputs("|\n", to);
}

static void put_latex_text(FILE *to, const char *text) {
  static const char plus_minus[] = "±";
  char *shown = shown_name(text);
  for (const char *p = shown; *p; p++) {
    if (strncmp(p, plus_minus, strlen(plus_minus)) == 0)
      fputs("$\\pm$", to), p += strlen(plus_minus) - 1;
    else if (*p == '\\')
      fputs("\\textbackslash{}", to);
    else if (*p == '~' || *p == '^')
      fprintf(to, "\\%c{}", *p);
    else
      fprintf(to, strchr("&%$#_{}", *p) ? "\\%c" : "%c", *p);
  }
}

/* --- LaTeX ------------------------------------------------------------------------------------ */

/* A table is as wide as a column of the paper. One that has more than fits is broken into several
 * with the same first columns, those of words. */
enum { COLUMN_LETTERS = 54, GAP = 2 }; /* in \footnotesize; between two columns */

static int letters_of(const char *text) {
  int n = 0;
  for (const char *p = text; *p; p++) n += ((unsigned char)*p & 0xC0) != 0x80;
  return n;
}

static int letters_in(const Table *t, int column) {
  int most = 0;
  for (int i = column; i < t->n; i += t->columns) {
    const int n = letters_of(t->cells[i]);
    if (n > most) most = n;
  }
  return most + GAP;
}

static int count_words(const Table *t) {
  int n = 0;
  while (n < t->columns && !is_right(t, n)) n++;
  return n < t->columns ? n : 0;
}

/* The end of a part that begins at a column: what fits beside the first `words` ones, at least one.
 */
static int end_of_part(const Table *t, int words, int first) {
  int used = -GAP, i = first;
  for (int k = 0; k < words; k++) used += letters_in(t, k);
  do used += letters_in(t, i++);
  while (i < t->columns && used + letters_in(t, i) <= COLUMN_LETTERS);
  return i;
}

static void put_latex_row(FILE *to, char *const *cells, int words, int first, int end) {
  for (int i = words ? 0 : first; i < end; i = i + 1 == words ? first : i + 1) {
    if (i != (words ? 0 : first)) fputs(" & ", to);
    put_latex_text(to, cells[i]);
  }
  fputs(" \\\\\n", to);
}

static void put_latex_part(FILE *to, const Table *t, int words, int first, int end) {
  fputs("\\begin{tabular*}{\\columnwidth}{@{}", to);
  for (int i = 0; i < words; i++) fputc('l', to);
  fputs("@{\\extracolsep{\\fill}}", to);
  for (int i = first; i < end; i++) fputc(is_right(t, i) ? 'r' : 'l', to);
  fputs("@{}}\n\\toprule\n", to);
  for (int row = 0; row < t->n / t->columns; row++) {
    put_latex_row(to, t->cells + row * t->columns, words, first, end);
    if (row == 0) fputs("\\midrule\n", to);
  }
  fputs("\\bottomrule\n", to);
  if (t->note && end == t->columns) {
    fprintf(to, "\\multicolumn{%d}{@{}p{\\columnwidth}@{}}{", words + end - first);
    put_latex_text(to, t->note);
    fputs("} \\\\\n", to);
  }
  fputs("\\end{tabular*}\n", to);
}

static void put_latex(FILE *to, const Table *t) {
  const int words = count_words(t);
  fputs("% \\usepackage{booktabs}\n{\\footnotesize\n", to);
  for (int first = words, end; first < t->columns; first = end) {
    end = end_of_part(t, words, first);
    if (first > words) fputs("\\par\\medskip\n", to);
    put_latex_part(to, t, words, first, end);
  }
  fputs("}\n", to);
}

/* --- all -------------------------------------------------------------------------------------- */

static void find_widths(const Table *t, int *widths) {
  const int rows = t->n / t->columns;
  for (int i = 0; i < rows * t->columns; i++) {
    const int n = (int)strlen(t->cells[i]);
    if (n > widths[i % t->columns]) widths[i % t->columns] = n;
  }
}

void put_table(FILE *to, Table *t) {
  int *widths = tirc_alloc_array(memory, (size_t)t->columns + 1, sizeof *widths);
  find_widths(t, widths);
  if (t->style == LATEX) {
    put_latex(to, t);
    return;
  }
  for (int row = 0; row < t->n / t->columns; row++) {
    char *const *cells = t->cells + row * t->columns;
    if (t->style == CSV)
      put_csv_row(to, cells, t);
    else if (t->style == MARKDOWN)
      put_markdown_row(to, cells, t);
    else
      put_plain_row(to, cells, t, widths);
    if (row == 0 && t->style == MARKDOWN) put_markdown_rule(to, t);
  }
  if (t->style == MARKDOWN && t->note) {
    char *note = shown_name(t->note);
    fprintf(to, "\n%s%s\n", *note == '*' ? "\\" : "", note);
  }
}

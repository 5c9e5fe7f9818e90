/* The report's two forms. What people wrote (names, messages) is escaped for each of them. */
#define _GNU_SOURCE
#include "doc.h"
#include "tools/kit/kit.h"

#include "ir/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 700 }; /* pixels of a drawing */
static const char style[] =
#include "study_style.inc"
    ;

static void put_html(FILE *to, const char *text, size_t n) {
  for (const char *p = text; p < text + n; p++) switch (*p) {
    case '<': fputs("&lt;", to); break;
    case '>': fputs("&gt;", to); break;
    case '&': fputs("&amp;", to); break;
    case '"': fputs("&quot;", to); break;
    default: fputc(*p, to);
    }
}

/* Bars would end a cell, and what looks like a tag would be one. */
static void put_markdown(FILE *to, const char *text) {
  for (const char *p = text; *p; p++) {
    if (*p == '|' || *p == '<') fputc('\\', to);
    fputc(*p == '\n' ? ' ' : *p, to);
  }
}

static void put_words(FILE *to, const char *text) {
  bool code = false;
  for (const char *p = text; *p;) {
    const size_t n = strcspn(p, "`");
    put_html(to, p, n);
    p += n;
    if (*p != '`') break;
    fputs(code ? "</code>" : "<code>", to);
    code = !code;
    p++;
  }
  if (code) fputs("</code>", to);
}

static char *repaired(const char *text) {
  char *valid = tirc_alloc(memory, 3 * strlen(text) + 1);
  (void)tirc_utf8_repair(valid, text);
  return valid;
}

static char *formatted(const char *format, va_list args) {
  return repaired(tirc_vformat(memory, format, args));
}

static NewFile begin_in(const char *folder, const char *name) {
  return begin_file(tirc_format(memory, "%s/%s", folder, name));
}

bool doc_open(Doc *d, const char *folder, const char *title) {
  *d = (Doc){.files = {begin_in(folder, "report.md")}};
  if (d->files[0].f) d->files[1] = begin_in(folder, "report.html");
  d->md = d->files[0].f;
  d->html = d->files[1].f;
  if (!d->md || !d->html) {
    for (int i = 0; i < 2; i++) drop_file(&d->files[i]);
    return false;
  }
  fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
        "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
        d->html);
  char *text = repaired(title);
  put_html(d->html, text, strlen(text));
  fprintf(d->html, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n", style);
  doc_heading(d, 1, title);
  return true;
}

bool doc_close(Doc *d) {
  fputs("</main>\n</body>\n</html>\n", d->html);
  const bool md = end_file(&d->files[0]), html = end_file(&d->files[1]);
  return md && html;
}

void doc_heading(Doc *d, int level, const char *heading) {
  char *text = repaired(heading);
  fprintf(d->md, "%s%.*s ", level > 1 ? "\n" : "", level, "######");
  put_markdown(d->md, text);
  fputs("\n", d->md);
  fprintf(d->html, "<h%d>", level);
  put_html(d->html, text, strlen(text));
  fprintf(d->html, "</h%d>\n", level);
}

void doc_fold(Doc *d, const char *heading) {
  fputs("<details><summary>", d->html);
  doc_heading(d, 2, heading);
  fputs("</summary>\n", d->html);
}

void doc_unfold(Doc *d) { fputs("</details>\n", d->html); }

void doc_text(Doc *d, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = formatted(format, args);
  va_end(args);
  fputs("\n", d->md);
  for (const char *p = text; *p; p++) fprintf(d->md, *p == '<' ? "\\%c" : "%c", *p);
  fputs("\n", d->md);
  fputs("<p>", d->html);
  put_words(d->html, text);
  fputs("</p>\n", d->html);
}

void doc_code(Doc *d, const char *code) {
  char *text = repaired(code);
  fputs("\n", d->md);
  for (const char *p = text; *p;) {
    const size_t n = strcspn(p, "\n");
    fprintf(d->md, "    %.*s\n", (int)n, p);
    p += n + (p[n] == '\n');
  }
  fputs("<pre>", d->html);
  put_html(d->html, text, strlen(text));
  fputs("</pre>\n", d->html);
}

/* On a telephone rows are cards, unless they are mostly numbers. */
void doc_table(Doc *d, const char *heads, unsigned right) {
  d->columns = 1;
  d->column = 0;
  d->right = right;
  for (const char *p = heads; *p; p++) d->columns += *p == '|';
  fprintf(d->md, "\n| %s |\n|", heads);
  d->heads = heads;
  fprintf(d->html, "<div class=\"wide\"><table%s>\n<tr>",
          2 * __builtin_popcount(right) < d->columns ? " class=\"cards\"" : "");
  for (int i = 0; i < d->columns; i++) {
    const size_t n = strcspn(heads, "|");
    const bool is_right = i < 32 && right >> i & 1;
    fputs(is_right ? "---:|" : "---|", d->md);
    fputs(is_right ? "<th class=\"n\">" : "<th>", d->html);
    put_html(d->html, heads, n);
    fputs("</th>", d->html);
    heads += n + 1;
  }
  fputs("\n", d->md);
  fputs("</tr>\n", d->html);
}

static void put_head(FILE *to, const char *heads, int column) {
  while (column-- > 0) heads += strcspn(heads, "|") + 1;
  put_html(to, heads, strcspn(heads, "|"));
}

static void put_cell(Doc *d, const char *class, const char *text) {
  const bool number = d->column < 32 && d->right >> d->column & 1;
  fputs(d->column ? " " : "| ", d->md);
  put_markdown(d->md, text);
  fputs(" |", d->md);
  if (!d->column) fputs("<tr>", d->html);
  fprintf(d->html, "<td%s data-head=\"", number ? " class=\"n\"" : "");
  put_head(d->html, d->heads, d->column);
  fputs("\">", d->html);
  if (class) fprintf(d->html, "<span class=\"%s\">", class);
  put_words(d->html, text);
  fputs(class ? "</span></td>" : "</td>", d->html);
  if (++d->column < d->columns) return;
  d->column = 0;
  fputs("\n", d->md);
  fputs("</tr>\n", d->html);
}

void doc_cell(Doc *d, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = formatted(format, args);
  va_end(args);
  put_cell(d, NULL, text ? text : "");
}

void doc_mark(Doc *d, const char *class, const char *text) { put_cell(d, class, text); }

void doc_end_table(Doc *d) { fputs("</table></div>\n", d->html); }

/* NAME.svg from its root on; NULL: it cannot be read. */
static char *read_drawing(const char *folder, const char *name) {
  char *text = NULL;
  size_t n = 0;
  FILE *f = fopen(tirc_format(memory, "%s/%s.svg", folder, name), "r");
  const ssize_t got = f ? getdelim(&text, &n, 0, f) : -1;
  const char *root = got > 0 ? strstr(text, "<svg") : NULL;
  if (root) memmove(text, root, strlen(root) + 1);
  if (f) fclose(f);
  return keep_text(text) && root ? text : NULL;
}

void doc_figure(Doc *d, const char *folder, const char *name, const char *title) {
  char *drawing = read_drawing(folder, name);
  const char *width = drawing ? strstr(drawing, " width=\"") : NULL;
  const int pixels = width ? atoi(width + strlen(" width=\"")) : 0;
  fprintf(d->md, "\n![");
  put_markdown(d->md, title);
  fprintf(d->md, "](%s.svg)\n", name);
  /* What is drawn wide stays so, and is moved under the telephone's window. */
  fprintf(d->html, "<figure%s>\n", pixels > WIDE ? " class=\"wide\"" : "");
  if (drawing) {
    fprintf(d->html, "<svg style=\"min-width: %dpx\" role=\"img\" aria-label=\"",
            pixels > WIDE ? pixels * 3 / 4 : 0);
    put_html(d->html, title, strlen(title));
    fprintf(d->html, "\"%s", drawing + strlen("<svg"));
  }
  fputs("<figcaption>", d->html);
  put_html(d->html, title, strlen(title));
  fprintf(d->html,
          " (<a href=\"%s.png\">PNG</a>, <a href=\"%s.pdf\">PDF</a>)</figcaption></figure>\n", name,
          name);
}

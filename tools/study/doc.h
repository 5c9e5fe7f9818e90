/* A page that is written twice at once, as Markdown and as one HTML file that needs nothing else.
 */
#ifndef TIRC_TOOLS_STUDY_DOC_H
#define TIRC_TOOLS_STUDY_DOC_H

#include "tools/kit/new_file.h"

typedef struct Doc {
  FILE *md, *html;
  NewFile files[2];
  int columns, column; /* of the table that is being written */
  unsigned right;      /* bit i: column i is of numbers */
  const char *heads;
} Doc;

/* False when a file cannot be written: errno says why, and the old page is left. */
bool doc_open(Doc *d, const char *folder, const char *title);
bool doc_close(Doc *d);

void doc_heading(Doc *d, int level, const char *text);
/* A part under a heading that a browser shows when it is asked to, up to doc_unfold. */
void doc_fold(Doc *d, const char *heading);
void doc_unfold(Doc *d);
/* A paragraph; words between back quotes are code. */
void doc_text(Doc *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void doc_code(Doc *d, const char *text);
/* heads: separated by bars; they stay until the table ends. */
void doc_table(Doc *d, const char *heads, unsigned right);
void doc_cell(Doc *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A cell that says good, bad or open. */
void doc_mark(Doc *d, const char *class, const char *text);
void doc_end_table(Doc *d);
/* FOLDER/NAME.svg, drawn into the page, and a link to FOLDER/NAME.png. */
void doc_figure(Doc *d, const char *folder, const char *name, const char *title);

#endif

/* Tables for people, spreadsheets and papers. */
#ifndef TIRC_TOOLS_TABLE_H
#define TIRC_TOOLS_TABLE_H

#include "kit.h"

/* Cells are kept until put_table; the first row is the head. */
typedef enum TableStyle { ALIGNED, CSV, MARKDOWN, LATEX } TableStyle;
typedef struct Table {
  TableStyle style;
  int columns, n, room; /* n cells */
  char **cells;
  uint64_t right;   /* bit i: column i is of numbers */
  const char *note; /* what stands under it in LaTeX and Markdown; or NULL */
} Table;
void add_cell(Table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void put_table(FILE *to, Table *t);
/* What a spreadsheet would run as a formula gets a mark, which it takes for the sign of a text;
 * numbers stay numbers. */
enum { CSV_MARK = '\'' };
void put_csv_cell(FILE *to, bool first, const char *text);
const char *without_csv_mark(const char *text); /* of a cell that was read */

#endif

/* Shared by the printer's files: the state of one printing. */
#ifndef TIRC_IR_PRINT_INTERNAL_H
#define TIRC_IR_PRINT_INTERNAL_H

#include "print.h"
#include "visit.h"

/* A name that is live in the frames around the place being printed. */
typedef struct Live {
  const void *what; /* variable, buffer, or a buffer's data variable */
  const char *name; /* NULL for data variables: they print as BUFFER.data */
} Live;

typedef struct Printer {
  Tirc *c;
  Text out;
  int indent;
  Dialect dialect;
  bool bare_int64; /* in a graph: an int64 is a number without its type */
  bool bits;       /* elements of a graph's constants are their bits: no program any more */
  bool anonymous;  /* in a graph: its variables have no names of their own */
  const PrintMarks *marks;
  VEC(Live) live;
  PtrMap names;                   /* variable or Buffer -> its name while live */
  PtrMap data;                    /* data variable -> the Buffer that prints it */
  PtrMap loops;                   /* loop variable -> its For statement while live */
  StrMap table;                   /* spelling -> whether it is in use */
  struct OutlineBuilder *outline; /* or NULL */
} Printer;

void tirc_printer_expr(Printer *p, Text *t, Expr e, int min_precedence);
void tirc_printer_indices(Printer *p, Text *t, int n, const Expr *indices);
const char *tirc_printer_name(Printer *p, const void *what, const char *hint);
const char *tirc_printer_string(Tirc *c, const char *s); /* quoted and escaped */
void tirc_printer_attrs(Printer *p, Text *t, Attrs a);   /* {"key": value, ...} */
/* call({"key": value, ...}); nothing where there are none. */
void tirc_printer_attrs_line(Printer *p, const char *call, Attrs a);
void tirc_printer_region(Printer *p, Text *t, Region r);

/* print_stmt.c */
int tirc_printer_mark(Printer *p, Stmt s); /* of a statement that is underlined, or -1 */
void tirc_printer_line(Printer *p, const char *text, int mark);
/* A function after "T.", in the printer's dialect. */
const char *tirc_printer_word(const Printer *p, const char *function);
/* tail: nothing of the frame follows */
void tirc_printer_stmt(Printer *p, Stmt s, bool tail);
/* shape, dtype and whatever differs from the defaults, as T.Buffer and its relatives take them. */
void tirc_printer_buffer_args(Printer *p, Text *t, Buffer b, bool always_dtype);
/* Variables of shapes, strides and offsets that nothing has defined yet: "n = T.int32()". */
void tirc_printer_symbols(Printer *p, Buffer b);
void tirc_printer_block_parts(Printer *p, const Block *b); /* buffers, init and body */

/* Names (print_names.c): a frame is a mark in the stack of live names. */
int tirc_names_enter(Printer *p);
void tirc_names_leave(Printer *p, int mark);
const char *tirc_names_define(Printer *p, const void *what, const char *hint);
const char *tirc_names_define_buffer(Printer *p, Buffer b);

void tirc_printer_module(Printer *p, const Module *m); /* print.c */
struct Graph;
/* print_graph.c; `module` is what the class is called. */
void tirc_printer_graph(Printer *p, const struct Graph *g, const char *module);

/* What the printer tells an outline (outline.c); nothing happens without one. */
void tirc_outline_function(Printer *p, const Func *f); /* parameters are named, not yet printed */
void tirc_outline_loop(Printer *p, const For *loop, const char *name); /* before its line */
void tirc_outline_enter_block(Printer *p, const Block *b);             /* before its line */
void tirc_outline_block(Printer *p, const Block *b); /* when iterators and buffers have names */
void tirc_outline_leave(Printer *p, int n);          /* the n innermost */

#endif

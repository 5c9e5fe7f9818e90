/* Between the scanner, the grammar and the tree they build; nothing outside of the syntax half of
 * this folder includes it. The scanner's and the parser's memory all comes from the arena, so an
 * error may unwind from anywhere in them and nothing leaks. */
#ifndef TIRC_PARSER_TREE_H
#define TIRC_PARSER_TREE_H

#include "syntax.h"

/* A stretch of the source. Columns count characters, offsets count bytes. */
typedef struct Place {
  int first_line, first_column, last_line, last_column;
  size_t first_offset, last_offset;
} Place;

/* A list while it grows. */
typedef struct SynVec {
  Syn **at;
  int n, cap;
} SynVec;

typedef struct Bracket {
  char open;
  int line, column;
} Bracket;
typedef struct Indent {
  int column, alt_column; /* with tabs to multiples of 8, and with tabs as one column */
} Indent;

typedef struct Parser {
  Tirc *c;
  const char *file;
  const char *text; /* normalised: "\n" ends lines, valid UTF-8, no control characters */
  size_t length;
  int depth; /* f-strings around this text */

  /* scanner */
  int line, column;
  size_t offset;
  bool one_expression; /* the text is one expression, not a file */
  int pending_dedents;
  int last_token; /* 0: none yet */
  VEC(Bracket) brackets;
  VEC(Indent) indents;
  const char *line_keyword; /* the keyword that opened the logical line, or NULL */
  int line_keyword_line;

  /* what came out */
  SynList file_body;
  Syn *expression;
} Parser;

_Noreturn void tirc_syn_fail(Parser *p, int line, int column, const char *hint, const char *format,
                             ...) __attribute__((format(printf, 5, 6)));

/* --- source.c --- */
/* The text with "\n" line ends and without a byte order mark; throws on what is no text. */
const char *tirc_syn_normalise(Tirc *c, const Source *source, size_t *length);

/* --- literal.c --- */
/* Decodes a string token as written, prefix and quotes included. */
Syn *tirc_syn_string(Parser *p, Place at, const char *text, size_t n);
Syn *tirc_syn_number(Parser *p, Place at, const char *text, size_t n);
/* Parses one expression that stands at this place of the file. */
Syn *tirc_syn_parse_expression(Parser *outer, const char *text, size_t n, int line, int column);

/* --- tree.c: one function a shape of node --- */
Syn *tirc_syn_node(Parser *p, SynKind kind, Place at);
Syn *tirc_syn_name(Parser *p, Place at, const char *s);
Syn *tirc_syn_1(Parser *p, SynKind kind, Place at, Syn *a);
Syn *tirc_syn_op(Parser *p, SynKind kind, Place at, const char *op, Syn *a, Syn *b);
Syn *tirc_syn_3(Parser *p, SynKind kind, Place at, Syn *a, Syn *b, Syn *c);
Syn *tirc_syn_named(Parser *p, SynKind kind, Place at, const char *s, Syn *a, Syn *b);
Syn *tirc_syn_list(Parser *p, SynKind kind, Place at, SynVec *kids);
/* Parentheses belong to a tuple; around anything else they leave no trace. */
Syn *tirc_syn_parenthesised(Place at, Syn *s);
/* A call, a subscript, a lambda: a and kids. */
Syn *tirc_syn_with_kids(Parser *p, SynKind kind, Place at, Syn *a, SynVec *kids);
Syn *tirc_syn_join_strings(Parser *p, Place at, SynVec *strings);
Syn *tirc_syn_compare(Parser *p, Place at, Syn *left, const char *op, Syn *right);
Syn *tirc_syn_keyword(Parser *p, Place at, Syn *name, Syn *value);
Syn *tirc_syn_assign(Parser *p, Place at, SynVec *parts);
Syn *tirc_syn_annotated(Parser *p, Place at, Syn *target, Syn *annotation, Syn *value);
Syn *tirc_syn_augmented(Parser *p, Place at, Syn *target, const char *op, Syn *value);
/* A compound statement: a, b, kids as given, body, orelse. NULL lists are empty. */
Syn *tirc_syn_compound(Parser *p, SynKind kind, Place at, Syn *a, Syn *b, SynVec *kids,
                       SynVec *body, SynVec *orelse);
Syn *tirc_syn_def(Parser *p, SynKind kind, Place at, const char *name, SynVec *params, Syn *returns,
                  SynVec *body);
Syn *tirc_syn_try(Parser *p, Place at, SynVec *body, SynVec *handlers, SynVec *orelse,
                  SynVec *finally);
Syn *tirc_syn_decorate(Parser *p, SynVec *decorators, Syn *def);
Syn *tirc_syn_import(Parser *p, Place at);
/* A target of an assignment, a loop or `as`; throws when it cannot be one. */
void tirc_syn_check_target(Parser *p, const Syn *target);

SynVec *tirc_syn_vec(Parser *p, Syn *first); /* NULL: empty */
SynVec *tirc_syn_push(Parser *p, SynVec *v, Syn *x);
SynVec *tirc_syn_append(Parser *p, SynVec *v, const SynVec *more);

/* --- message.c --- */
/* The sentence for an unexpected token. `expected` are the spellings that would have fitted. */
_Noreturn void tirc_syn_unexpected(Parser *p, Place at, const char *token, int n_expected,
                                   const char *const *expected);

#endif

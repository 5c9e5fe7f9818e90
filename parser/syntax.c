/* From a text to its syntax tree: scanner and parser put together. Both take all their memory from
 * the arena, so nothing needs to be freed here, not even when an error unwinds. */
#include "syntax.h"
#include "tree.h"

#include "parser/grammar.h"
#include "parser/lexer.h"

static void run(Parser *p, const char *text) {
  yyscan_t scanner;
  tirc_lexer_lex_init_extra(p, &scanner);
  /* The scanner writes NULs into its buffer while it works, so it gets a copy. */
  char *copy = tirc_alloc(p->c, p->length + 2);
  memcpy(copy, text, p->length);
  tirc_lexer__scan_buffer(copy, p->length + 2, scanner);
  if (tirc_grammar_parse(scanner, p) != 0)
    tirc_syn_fail(p, p->line, p->column, NULL, "syntax error");
}

SynList tirc_parse_syntax(Tirc *c, const Source *source) {
  Parser p = {.c = c, .file = source->name, .line = 1, .column = 1};
  p.text = tirc_syn_normalise(c, source, &p.length);
  run(&p, p.text);
  return p.file_body;
}

Syn *tirc_syn_parse_expression(Parser *outer, const char *text, size_t n, int line, int column) {
  Parser p = {.c = outer->c, .file = outer->file, .line = line, .column = column};
  p.text = tirc_strndup(outer->c, text, n);
  p.length = n;
  p.one_expression = true;
  p.depth = outer->depth + outer->brackets.n + 1;
  run(&p, p.text);
  return p.expression;
}

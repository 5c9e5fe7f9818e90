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

/* --- outlines --------------------------------------------------------------------------------- */

/* A function at the left edge: its text, and where its body begins, behind the colon. */
typedef struct Outlined {
  size_t from, body, end;
  int line;
} Outlined;

static size_t line_end(const Parser *p, size_t at) {
  const char *end = memchr(p->text + at, '\n', p->length - at);
  return end ? (size_t)(end - p->text) + 1 : p->length;
}

/* Whether the line goes on with what stands above it. */
static bool is_inside(const Parser *p, size_t at) {
  return at < p->length && strchr(" \t\n#", p->text[at]);
}

static bool is_def(const Parser *p, size_t at) {
  return p->length - at > 4 && memcmp(p->text + at, "def ", 4) == 0;
}

/* One whose header ends a line, with a body below it; false: it is read as it stands. */
static bool outline(const Parser *p, size_t at, Outlined *out) {
  *out = (Outlined){.from = at};
  size_t end = line_end(p, at);
  while (p->text[end - 1] == '\n' && p->text[end - 2] != ':' && is_inside(p, end))
    end = line_end(p, end);
  if (p->text[end - 1] != '\n' || p->text[end - 2] != ':' || !is_inside(p, end)) return false;
  out->body = end - 1;
  while (is_inside(p, end)) end = line_end(p, end);
  out->end = end;
  return true;
}

typedef VEC(Outlined) Outlines;

/* The text without those bodies, and as many lines. */
static Text without_bodies(const Parser *p, Outlines *all) {
  Text t = {.c = p->c};
  Outlined o;
  bool decorated = false;
  int line = 1;
  tirc_text_add(&t, "");
  for (size_t at = 0, end; at < p->length; at = end) {
    end = line_end(p, at);
    const bool is_outlined = !decorated && is_def(p, at) && outline(p, at, &o);
    decorated = p->text[at] == '@' || (decorated && is_inside(p, at));
    if (is_outlined) {
      o.line = line;
      end = o.end;
      vec_push(p->c, *all, o);
      tirc_text_addn(&t, p->text + at, o.body - at);
      tirc_text_add(&t, " pass");
    } else {
      tirc_text_addn(&t, p->text + at, end - at);
    }
    for (const char *s = p->text + at; s < p->text + end; s++) {
      if (*s != '\n') continue;
      line++;
      if (is_outlined && s >= p->text + o.body) tirc_text_addn(&t, "\n", 1);
    }
  }
  return t;
}

SynList tirc_parse_outline(Tirc *c, const Source *source) {
  Parser p = {.c = c,
              .file = source->name,
              .text = source->text,
              .length = source->length,
              .line = 1,
              .column = 1};
  Outlines all = {0};
  const Text t = without_bodies(&p, &all);
  p.text = t.at;
  p.length = t.n;
  run(&p, p.text);
  int n = 0;
  for (int i = 0; i < p.file_body.n && n < all.n; i++) {
    Syn *s = p.file_body.at[i];
    if (s->kind != SYN_DEF || s->loc.line != all.at[n].line) continue;
    s->op = source->text + all.at[n].from;
    s->i = (int64_t)(all.at[n].end - all.at[n].from);
    n++;
  }
  return n == all.n ? p.file_body : tirc_parse_syntax(c, source);
}

const Syn *tirc_syn_whole(Tirc *c, const Syn *def) {
  if (def->kind != SYN_DEF || !def->op) return def;
  Parser p = {.c = c,
              .file = def->loc.file,
              .text = def->op,
              .length = (size_t)def->i,
              .line = def->loc.line,
              .column = 1};
  run(&p, p.text);
  return p.file_body.at[0];
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

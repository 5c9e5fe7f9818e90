/* Which dialect a function is written in. The first word that only one of them has says it; a word
 * of the other one further down is an error, because one function has one dialect. A function
 * without such a word has the dialect of the module that its file imports. */
#include "reader.h"

typedef struct Telling {
  Reader *r;
  const Syn *at; /* the word that told, or NULL */
  const char *word;
  Dialect dialect;
} Telling;

static void tell(Telling *t, const Syn *at, const char *word, const char *elsewhere, Dialect of) {
  if (!t->at) {
    t->at = at;
    t->word = word;
    t->dialect = of;
    return;
  }
  if (of == t->dialect) return;
  READ_FAIL(t->r, at, CODE_DIALECT, tirc_format(t->r->c, "write %s", elsewhere),
            "%s belongs to %s, but this function is written for %s: line %d has %s", word,
            tirc_dialect_release(of), tirc_dialect_release(t->dialect), t->at->loc.line, t->word);
}

static void tell_function(Telling *t, const Syn *s) {
  const char *path = s->kind == SYN_ATTRIBUTE ? tirc_names_path(t->r, s) : NULL, *elsewhere;
  Dialect of;
  if (!path || strncmp(path, "T.", 2) != 0) return;
  if (!tirc_word_tells(WORD_FUNCTION, path + 2, &of, &elsewhere)) return;
  tell(t, s, path, tirc_format(t->r->c, "T.%s", elsewhere), of);
}

/* v: T.let[T.int32] = ... is what the other dialect writes v: T.int32 = ... */
static void tell_let(Telling *t, const Syn *s) {
  const Syn *annotation = s->b;
  const bool applied = annotation->kind == SYN_SUBSCRIPT;
  const char *path = tirc_names_path(t->r, applied ? annotation->a : annotation);
  if (!path || strcmp(path, "T.let") != 0) return;
  tell(t, annotation, applied ? "T.let[...]" : "T.let", "the bare type, as in v: T.int32 = ...",
       DIALECT_TIRX);
}

/* The keys of T.func_attr({"tir.noalias": ...}). */
static void tell_keys(Telling *t, const Syn *s) {
  const char *path = tirc_names_path(t->r, s->a);
  if (!path || strcmp(path, "T.func_attr") != 0 || s->kids.n != 1) return;
  const Syn *dict = s->kids.at[0]->kind == SYN_KEYWORD ? s->kids.at[0]->a : s->kids.at[0];
  for (int i = 0; dict->kind == SYN_DICT && i < dict->kids.n; i += 2) {
    const Syn *key = dict->kids.at[i];
    Dialect of;
    if (key->kind != SYN_STRING || !tirc_key_tells(key->s, &of)) continue;
    const Dialect other = of == DIALECT_TIR ? DIALECT_TIRX : DIALECT_TIR;
    tell(t, key, tirc_format(t->r->c, "\"%s\"", key->s),
         tirc_format(t->r->c, "\"%s\"", tirc_key_in(t->r->c, other, key->s)), of);
  }
}

static void look(Telling *t, const Syn *s);

static void look_at_all(Telling *t, const SynList *list) {
  for (int i = 0; i < list->n; i++) look(t, list->at[i]);
}

static void look(Telling *t, const Syn *s) {
  if (!s) return;
  if (s->kind == SYN_ANNASSIGN) tell_let(t, s);
  if (s->kind == SYN_CALL) tell_keys(t, s);
  tell_function(t, s);
  look(t, s->a);
  look(t, s->b);
  look(t, s->c);
  look_at_all(t, &s->kids);
  look_at_all(t, &s->body);
  look_at_all(t, &s->orelse);
}

Dialect tirc_reader_dialect(Reader *r, const Syn *def, const Syn *s_tir) {
  Telling t = {.r = r, .dialect = r->imported};
  if (s_tir) tell(&t, s_tir, "s_tir=True", "no s_tir", DIALECT_TIRX);
  look_at_all(&t, &def->kids);
  look_at_all(&t, &def->body);
  return t.dialect;
}

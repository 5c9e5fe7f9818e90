/* Calls of operators as they are typed: x=n,784:float32 axis=-1 */
#include "operators_internal.h"

#include "ir/ascii.h"

#define FORM "x=4x5:float32 is a tensor, axis=-1 an attribute"

typedef struct Words {
  Operators *ops;
  StrMap vars; /* name -> the variable of an extent */
  VEC(Value) args, values;
  VEC(const char *) keywords;
} Words;

static _Noreturn void bad_word(Words *w, const char *word, const char *why) {
  tirc_fail(w->ops->c, (Loc){0}, CODE_ARGUMENT, FORM, "'%s': %s", word, why);
}

/* "4", "n" */
static Expr read_extent(Words *w, const char *word, const char *text) {
  Tirc *c = w->ops->c;
  const size_t digits = strspn(text, "0123456789");
  if (*text && !text[digits]) {
    if (digits > 18) bad_word(w, word, "the extent is too large");
    int64_t extent = 0;
    for (const char *p = text; *p; p++) extent = 10 * extent + (*p - '0');
    return tirc_int(c, DT_INT64, extent);
  }
  for (const char *p = text; *p; p++)
    if (!tirc_is_word(*p) || (p == text && tirc_is_digit(*p)))
      bad_word(w, word, "an extent is a number or a name");
  if (!*text) bad_word(w, word, "an extent is missing");
  Expr *var = (Expr *)tirc_strmap_at(c, &w->vars, text);
  if (!*var) *var = tirc_var(c, text, DT_INT64);
  return *var;
}

/* SHAPE:TYPE */
static Value read_tensor(Words *w, const char *word, const char *name, const char *text) {
  enum { MOST = 32 };
  Tirc *c = w->ops->c;
  const char *colon = strchr(text, ':');
  Expr shape[MOST];
  TensorType t = {.shape = shape};
  if (!colon || !tirc_dtype_parse(colon + 1, &t.dtype) || t.dtype.lanes != 1 ||
      t.dtype.code == TYPE_HANDLE || t.dtype.code == TYPE_VOID)
    bad_word(w, word, "a tensor is SHAPE:TYPE");
  const char *separator = memchr(text, ',', (size_t)(colon - text)) ? "," : "x";
  while (text < colon) {
    size_t n = strcspn(text, separator);
    if (text + n > colon) n = (size_t)(colon - text);
    if (t.ndim == MOST) bad_word(w, word, "too many dimensions");
    shape[t.ndim++] = read_extent(w, word, tirc_strndup(c, text, n));
    text += n;
    if (text < colon) text++; /* a last comma is none too many: n,:float32 */
  }
  return tirc_operator_tensor(w->ops, name, t);
}

static void read_tensors(Words *w, const char *word, const char *name, const char *text) {
  Tirc *c = w->ops->c;
  Value list = tirc_value_list(c, VAL_TUPLE, 0, NULL);
  const bool several = strchr(text, '+');
  for (const char *end; *text; text = *end ? end + 1 : end) {
    end = text + strcspn(text, "+");
    const char *each = several ? tirc_format(c, "%s_%d", name, list.u.list->n) : name;
    tirc_value_append(c, list,
                      read_tensor(w, word, each, tirc_strndup(c, text, (size_t)(end - text))));
  }
  vec_push(c, w->args, several ? list : list.u.list->at[0]);
}

/* Whether it is Python, and not a word that stands for itself: float16, NCHW. */
static bool is_python(const char *text) {
  static const char *const words[] = {"True", "False", "None"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(text, words[i])) return true;
  return *text && strchr("0123456789-+.([{\"'", *text);
}

typedef struct Evaluation {
  Source source;
  Value value;
} Evaluation;

static void evaluate(Script *sc, void *self) {
  Evaluation *e = self;
  e->value = tirc_script_value(sc, &e->source);
}

static void read_attribute(Words *w, const char *word, const char *name, const char *text) {
  Tirc *c = w->ops->c;
  Evaluation e = {.source = {word, text, strlen(text)}, .value = tirc_value_str(text)};
  for (int i = 0; i < w->vars.n; i++)
    tirc_script_set(w->ops->sc, w->ops->sc->globals, w->vars.at[i].key,
                    tirc_value_expr(w->vars.at[i].value));
  if (is_python(text)) tirc_script_within_limits(w->ops->sc, (Loc){word, 1, 1}, evaluate, &e);
  vec_push(c, w->keywords, name);
  vec_push(c, w->values, e.value);
}

OperatorCall tirc_operator_call_of_words(Operators *ops, const char *name, int n,
                                         const char *const *words) {
  Words w = {.ops = ops};
  for (int i = 0; i < n; i++) {
    const char *equals = strchr(words[i], '=');
    if (!equals || equals == words[i]) bad_word(&w, words[i], "it has no name");
    const char *key = tirc_strndup(ops->c, words[i], (size_t)(equals - words[i]));
    const char *text = equals + 1;
    const bool is_text = strchr("\"'([{", *text) && *text;
    if (strchr(text, ':') && !is_text)
      read_tensors(&w, words[i], key, text);
    else
      read_attribute(&w, words[i], key, text);
  }
  return (OperatorCall){.name = name,
                        .n_args = w.args.n,
                        .args = w.args.at,
                        .n_keywords = w.keywords.n,
                        .keywords = w.keywords.at,
                        .values = w.values.at};
}

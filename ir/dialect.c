/* The words of the two dialects. See dialect.h. */
#include "dialect.h"

typedef enum Whose { EACH, OLD, NEW, NEITHER } Whose;

static const struct {
  WordPlace place;
  const char *in[N_DIALECTS];
  Whose whose;
} words[] = {
#define WORD(place, tir, tirx, whose) {WORD_##place, {tir, tirx}, whose},
#include "dialect.def"
#undef WORD
};
enum { N_WORDS = sizeof words / sizeof *words };

static const struct {
  const char *name, *release;
} dialects[N_DIALECTS] = {
    [DIALECT_TIR] = {"tir", "0.20's dialect"},
    [DIALECT_TIRX] = {"tirx", "the dialect of releases since 0.24"},
};

const char *tirc_dialect_release(Dialect d) { return dialects[d].release; }

bool tirc_dialect_parse(const char *name, Dialect *out) {
  for (int i = 0; i < N_DIALECTS; i++)
    if (strcmp(dialects[i].name, name) == 0) return *out = (Dialect)i, true;
  return false;
}

/* The row of a word that the dialect spells so; -1: none. */
static int find(WordPlace place, const char *word, Dialect d) {
  for (int i = 0; i < N_WORDS; i++)
    if (words[i].place == place && strcmp(words[i].in[d], word) == 0) return i;
  return -1;
}

const char *tirc_word_in(Dialect d, WordPlace place, const char *word) {
  const int i = find(place, word, DIALECT_TIR);
  return i < 0 ? word : words[i].in[d];
}

const char *tirc_word_known(WordPlace place, const char *word) {
  const int i = find(place, word, DIALECT_TIRX);
  return i < 0 ? word : words[i].in[DIALECT_TIR];
}

bool tirc_word_tells(WordPlace place, const char *word, Dialect *of, const char **elsewhere) {
  static const bool tells[][N_DIALECTS] = {
      [EACH] = {true, true}, [OLD] = {true, false}, [NEW] = {false, true}, [NEITHER] = {false}};
  for (int d = 0; d < N_DIALECTS; d++) {
    const int i = find(place, word, (Dialect)d);
    if (i < 0 || !tells[words[i].whose][d]) continue;
    *of = (Dialect)d;
    *elsewhere = words[i].in[d == DIALECT_TIR ? DIALECT_TIRX : DIALECT_TIR];
    return true;
  }
  return false;
}

static int prefix_of(const char *key, Dialect d) {
  for (int i = 0; i < N_WORDS; i++)
    if (words[i].place == WORD_PREFIX && !strncmp(words[i].in[d], key, strlen(words[i].in[d])))
      return i;
  return -1;
}

bool tirc_key_tells(const char *key, Dialect *of) {
  for (int d = 0; d < N_DIALECTS; d++)
    if (prefix_of(key, (Dialect)d) >= 0) return *of = (Dialect)d, true;
  return false;
}

const char *tirc_key_in(Tirc *c, Dialect d, const char *key) {
  Dialect from;
  if (!tirc_key_tells(key, &from) || from == d) return key;
  const int i = prefix_of(key, from);
  return tirc_format(c, "%s%s", words[i].in[d], key + strlen(words[i].in[from]));
}

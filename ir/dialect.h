/* Dialects: the reference's release 0.20 spells programs, schedules and traces in one way, the
 * releases since 0.24 in another. The IR is the same. dialect.def has the words. */
#ifndef TIRC_IR_DIALECT_H
#define TIRC_IR_DIALECT_H

#include "context.h"

typedef enum Dialect { DIALECT_TIR, DIALECT_TIRX, N_DIALECTS } Dialect;

typedef enum WordPlace {
  WORD_FUNCTION,
  WORD_METHOD,
  WORD_INSTRUCTION,
  WORD_MODULE,
  WORD_KEYWORD,
  WORD_PREFIX
} WordPlace;

/* name: "tir", "tirx", as options and arguments call them. */
bool tirc_dialect_parse(const char *name, Dialect *out);
const char *tirc_dialect_release(Dialect d); /* "0.20's dialect" ..., for messages */

/* A word of DIALECT_TIR as the dialect spells it; itself when both spell it so. */
const char *tirc_word_in(Dialect d, WordPlace place, const char *word);
/* A word of either as DIALECT_TIR spells it; itself where there is no such row. For words that mean
 * one thing only. */
const char *tirc_word_known(WordPlace place, const char *word);
/* Whether a word is one of a single dialect; that, and what the other one calls it. */
bool tirc_word_tells(WordPlace place, const char *word, Dialect *of, const char **elsewhere);
/* A key with another prefix, "tir.noalias" and "tirx.noalias"; itself when it has none of them. */
const char *tirc_key_in(Tirc *c, Dialect d, const char *key);
bool tirc_key_tells(const char *key, Dialect *of);

#endif

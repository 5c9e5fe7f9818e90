/* The facts of a schedule, each by its name and as a text: what `tirc db explain` counts. */
#ifndef TIRC_TOOLS_FACT_WORDS_H
#define TIRC_TOOLS_FACT_WORDS_H

#include "nest_facts.h"
#include "tools/kit/table.h"

typedef struct FactWord {
  const char *name;
  bool compact; /* among the first columns */
  void (*put)(const Facts *f, char *out, size_t n);
} FactWord;
enum { N_FACT_WORDS = 10 };
extern const FactWord fact_words[N_FACT_WORDS];

/* A row for each fact in which two schedules differ: its name, the one, the other. How many. */
int add_fact_changes(Table *t, const Facts *before, const Facts *after);

#endif

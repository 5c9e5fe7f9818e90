/* What the files of carried.h share: one question, and what was found out for it. */
#ifndef TIRC_MEANING_CARRIED_PARTS_H
#define TIRC_MEANING_CARRIED_PARTS_H

#include "carried.h"

/* A touch as relations. */
typedef struct Known {
  const Touch *touch;
  bool is_known; /* what follows: relations are dear, and few touches are asked for */
  bool is_spared;
  ZMap at;    /* from the loops around to elements */
  ZMap whole; /* from the iteration to elements */
  bool exact;
  Made made;  /* of a store: what the stored number is made of */
  Touch thin; /* in the dimensions that tell iterations apart, without what these do not need */
  bool is_thin;
  ZMap of_thin; /* from the iteration to elements; NULL: it would be the same */
} Known;

/* Whether iterations are apart that touch elements so and so. */
typedef struct Thin {
  ZMap first, second;
  bool apart;
} Thin;

typedef enum Alike { ALIKE_UNKNOWN, ALIKE_ASKED, ALIKE_YES, ALIKE_NO } Alike;

typedef struct Stored {
  Buffer buffer;
  bool shared;   /* by the iterations; otherwise each has a buffer of its own */
  Alike alike;   /* whether they leave the same in an element */
  Expr constant; /* all that is ever in it; NULL: more */
} Stored;

typedef struct Question {
  const Iterations *of;
  Sched *s;
  Relations r;
  Sets *z;
  int width; /* of a time */
  VEC(Known) known;
  VEC(Stored) stored;
  VEC(Thin) thin;
} Question;

/* carried.c */
/* NULL: nothing asks for that buffer. */
Stored *tirc_carried_stored_of(Question *q, Buffer b);
/* When a touch happens: numbers in the order of time. */
const Expr *tirc_carried_time_of(Question *q, const Touch *t);
/* From the loops around a touch to n values. */
ZMap tirc_carried_values_at(Question *q, const Touch *t, int n, const Expr *values, bool *exact);
/* What is known of the loops around a touch, from the iteration and so many more. */
ZMap tirc_carried_by_iteration(Question *q, const Touch *t, ZMap of_loops, int n, bool *exact);
/* Touch i, where it is a store to (a read of) the buffer; NULL otherwise. */
Known *tirc_carried_touch_of(Question *q, int i, Buffer b, bool write);
/* From the iteration to elements that a read may find as another iteration left them. */
ZMap tirc_carried_exposed(Question *q, const Known *read);

/* carried_alike.c */
/* The element that is stored to. */
bool tirc_carried_is_own(const Touch *of, const struct ExprNode *load);
/* Whether all iterations that store to an element leave the same there. */
bool tirc_carried_is_alike(Question *q, Stored *b);
/* What a store stores is made of. */
Made tirc_carried_made_of(Question *q, const Touch *t);
/* Whether each iteration stores all of the buffer that it reads, before. */
bool tirc_carried_reads_own_stores(Question *q, Buffer b);

#endif

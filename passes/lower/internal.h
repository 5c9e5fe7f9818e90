/* What the lowering passes share. */
#ifndef TIRC_LOWER_INTERNAL_H
#define TIRC_LOWER_INTERNAL_H

#include "ir/arith/arith.h"
#include "ir/tree/annotations.h"
#include "ir/tree/find.h"
#include "lower.h"

#define PASS(function, where, name, help) Stmt tirc_lower_##function(Tirc *c, const Func *f);
#define MODULE_PASS(function, where, name, help)                                                   \
  const Module *tirc_lower_##function(Tirc *c, const Module *m);
#define ALONE(function, name, help) Stmt tirc_lower_##function(Tirc *c, const Func *f);
#define ALONE_MODULE(function, name, help) MODULE_PASS(function, ALL, name, help)
#define KNOWN_AS(name, ours)
#define OPTION(pass, name, help)
#include "alone.def"
#include "passes.def"
#undef OPTION
#undef KNOWN_AS
#undef ALONE_MODULE
#undef ALONE
#undef PASS
#undef MODULE_PASS

/* Whether this pass was asked for with an option of alone.def. */
bool tirc_pass_option(const Func *f, const char *option);
/* The number that it was given, 1 where none was; `usual` where it was not asked for. */
int64_t tirc_pass_number_option(const Func *f, const char *option, int64_t usual);

/* annotations.c: throws "lower" when one of a loop is not as it must be; gives the body as it is.
 */
Stmt tirc_check_annotations(Tirc *c, const Func *f);
/* One value of "software_prefetch"; false: it is none. */
bool tirc_prefetch_distance(Expr wish, int64_t *distance, int64_t *outward);
/* The numbers of "software_pipeline_stage" or "software_pipeline_order", and how many they are; -1:
 * it is no list of at most MOST_PIPELINE_PARTS numbers from 0 to `most`. */
enum { MOST_PIPELINE_PARTS = 32, MOST_PIPELINE_STAGES = 8 };
int tirc_pipeline_numbers(Expr wish, int64_t most, int64_t *out);

/* Like tirc_substitute_stmt, and also in the shapes, strides and offsets of the buffers that s
 * allocates or declares. */
Stmt tirc_lower_substitute(Tirc *c, Stmt s, const PtrMap *map);
Stmt tirc_lower_substitute1(Tirc *c, Stmt s, Expr var, Expr value);
/* The conjuncts of a condition. */
void tirc_lower_conjuncts(Tirc *c, Expr cond, Exprs *out);
/* A condition as k * var + rest >= 0, k not 0; false: it is no such order of integers. */
bool tirc_lower_order(Analyzer *a, Tirc *c, Expr cond, Expr var, int64_t *k, Expr *rest);
/* Whether an expression may be computed where it was not before: it loads and calls nothing,
 * divides by constants alone, and no part of it leaves its type. */
bool tirc_can_run_early(Analyzer *a, Expr e);
/* opaque.c: s with opaque blocks alone: iterators replaced by what they are bound to. */
Stmt tirc_opaque_blocks(Tirc *c, Stmt s);
/* A statement of which a rewrite may have emptied the parts: the empty statement where it does
 * nothing any more, else s. */
Stmt tirc_lower_emptied(Stmt s);
/* remove_no_op.c: whether a store puts what an element holds back into it; `a`, or NULL, says what
 * is known of the indices. */
bool tirc_lower_stores_itself(Analyzer *a, Stmt s);
/* Of all elements; -1: that is no constant, or too many. */
int64_t tirc_lower_bytes(Buffer b);
/* Whether all threads of a block wait for each other there. */
bool tirc_is_barrier(Stmt s);

/* wrap_start.c: what is known where an expression stands. */
typedef struct WrapStart {
  Tirc *c;
  PtrMap loops; /* variables of loops around it */
  PtrMap lets;  /* and those that stand for something with such variables */
} WrapStart;
void tirc_wrap_let(WrapStart *w, Expr var, Expr value);
/* e, or the same with an operand that does not start at a known 0; `was` is e as it stood before
 * its children were rewritten. */
Expr tirc_with_start(const WrapStart *w, Expr was, Expr e);

/* written_out.c: e, or the same in other operators. */
Expr tirc_written_out(Tirc *c, Expr e);
/* powers.c: likewise, of a T.pow. */
Expr tirc_power_by_constant(Tirc *c, Expr e);

/* A loop's body without the conditions on lanes that hold where `holds` does (open_tail.c). */
typedef struct OpenTail {
  Expr holds;
  Stmt whole;
} OpenTail;
/* False: there are none deep in its body that depend on the iteration. */
bool tirc_open_tail(Analyzer *a, Tirc *c, const For *loop, OpenTail *out);
/* open_rows.c: a loop's body with a form for each number of rows that a tile in it may have left;
 * as it is where there are none, or the forms are more statements, written out, than `budget`, of
 * which they take theirs. The loop's variable is `low` or more and less than `high`, which may be
 * NULL. */
Stmt tirc_open_rows(Analyzer *a, Tirc *c, const For *loop, Expr low, Expr high, int64_t *budget);

/* How many statements there are in s, itself among them. */
int64_t tirc_lower_size_of(Stmt s);

/* common.c: what a pass by itself cannot take, since another one has to run before it: an error at
 * the first such statement. */
void tirc_lower_need(Tirc *c, const Func *f, bool (*bad)(const void *self, Stmt s),
                     const char *pass, const char *what, const char *before);

#endif

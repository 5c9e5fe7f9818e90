/* Walking and rewriting trees. A rewrite that changes nothing returns the very same pointer. */
#ifndef TIRC_IR_VISIT_H
#define TIRC_IR_VISIT_H

#include "ir.h"

/* What a loop or block is, however it is rewritten: its variable, its id as a pointer. */
static inline const void *tirc_identity(Stmt s) {
  return s->kind == STMT_FOR ? (const void *)s->u.loop.var : (const void *)(uintptr_t)s->u.block.id;
}

/* Which loops and blocks a walk enters, by identity; it passes by all others. An entry says whether
 * all that is in it is of interest, or again only what has an entry. */
typedef struct SeqPath {
  Stmt seq; /* a long sequence of loops and blocks */
  VEC(const Stmt *)
  parts; /* its parts with an entry: the others are passed by, wherever they stand */
} SeqPath;
typedef struct Paths {
  PtrMap at;     /* identity -> tirc_path_on or tirc_path_all */
  uint64_t bits; /* a bit for each key, so that most others are passed by without a look at `at` */
  VEC(SeqPath) seqs;
} Paths;
extern const char tirc_path_on, tirc_path_all;
void tirc_path_set(Tirc *c, Paths *paths, const void *key, const char *path);
/* All entries for what stands in this sequence come with a call of this one. */
void tirc_path_set_in(Tirc *c, Paths *paths, Stmt seq, int i);
/* Whether a walk passes by part p of a sequence. */
bool tirc_path_misses(const Paths *only, Stmt seq, const SeqPart *p);
/* NULL: not to be entered. What is no loop or block always is. */
const char *tirc_path_of(const Paths *only, Stmt s);

/* Pre-order walk. A callback that returns false keeps the walk out of the children. Either may be
 * NULL. Expressions seen: all operands, indices, bindings, predicates, loop bounds, conditions,
 * buffer regions of blocks if `regions` is set; never the shapes of buffers. Defining occurrences
 * (loop variables, iterator variables, let variables) are not visited. */
typedef struct Visitor Visitor;
struct Visitor {
  bool (*expr)(Visitor *v, Expr e);
  bool (*stmt)(Visitor *v, Stmt s);
  bool regions;
  void *self;
  const Paths *only; /* NULL: everything */
};
void tirc_visit_expr(Visitor *v, Expr e);
void tirc_visit_stmt(Visitor *v, Stmt s);
void tirc_visit_module(Visitor *v, const Module *m); /* the bodies of its functions */
/* Of statements alone: `self` is the visitor's. */
void tirc_visit_stmts(Stmt s, bool (*see)(Visitor *v, Stmt s), void *self);
void tirc_visit_region(Visitor *v, const Region *r);
/* What says of a statement, not of those in it, where and whether it runs: bounds, a condition,
 * what is let, a block's domains, bindings and predicate. Regions if `regions` is set. */
void tirc_visit_head(Visitor *v, Stmt s);
/* The `expr` of a visitor that looks at statements only. */
bool tirc_skip_expr(Visitor *v, Expr e);
/* Where s was written; what a schedule made, where the first statement in it was that has a place.
 */
Loc tirc_place_of(Stmt s);

/* Rewriting, driven by the callbacks: each gets a node before its children were rewritten and
 * returns its replacement; it calls tirc_mutate_*_children to have the children rewritten first.
 * NULL callbacks mean just that. `buffer` maps every use of a buffer (loads, stores, regions,
 * allocations). Regions of blocks are rewritten too. */
typedef struct Mutator Mutator;
struct Mutator {
  Tirc *c;
  Expr (*expr)(Mutator *m, Expr e);
  Stmt (*stmt)(Mutator *m, Stmt s);
  Buffer (*buffer)(Mutator *m, Buffer b);
  void *self;
  const Paths *only; /* NULL: everything. The rest stays as it is */
};
Expr tirc_mutate_expr(Mutator *m, Expr e);
Expr tirc_mutate_expr_children(Mutator *m, Expr e);
Stmt tirc_mutate_stmt(Mutator *m, Stmt s);
Stmt tirc_mutate_stmt_children(Mutator *m, Stmt s);
/* The `expr` of a mutator that rewrites statements only. */
Expr tirc_keep_expr(Mutator *m, Expr e);
Region tirc_mutate_region(Mutator *m, Region r);
/* Mutates the shapes of the buffers that a block or an allocation itself defines, where they use
 * one of these variables; such a buffer becomes another one, with the memory of the old one. */
Stmt tirc_mutate_shapes(Mutator *m, Stmt s, const PtrMap *vars);

/* Replaces variables: `map` goes from a variable (Expr) to its replacement (Expr). */
Expr tirc_substitute(Tirc *c, Expr e, const PtrMap *map);
/* The same where values may be of other integer types than their variables: operations are built
 * anew, so that they are of the values' type. */
Expr tirc_substitute_typed(Tirc *c, Expr e, const PtrMap *map);
/* From the iterators of a block to what they are bound to. */
void tirc_bindings_of(Tirc *c, Stmt block, PtrMap *out);
/* Maps each of n indices that is a variable to the index at its place in `at`; of a variable that
 * stands at several places the first one counts. */
void tirc_vars_at(Tirc *c, int n, const Expr *indices, const Expr *at, PtrMap *out);
Stmt tirc_substitute_stmt(Tirc *c, Stmt s, const PtrMap *map);
Expr tirc_substitute1(Tirc *c, Expr e, Expr var, Expr value);
Stmt tirc_substitute1_stmt(Tirc *c, Stmt s, Expr var, Expr value);
/* Replaces buffers (from Buffer to Buffer) in loads, stores, regions, allocations, matches. Handle
 * variables `data` follow. */
Stmt tirc_substitute_buffers(Tirc *c, Stmt s, const PtrMap *map);
Stmt tirc_substitute_buffers_in(Tirc *c, Stmt s, const PtrMap *map, const Paths *only);

bool tirc_uses_var(Expr e, Expr var);
/* Whether any key of `vars` stands in e. */
bool tirc_uses_any(Expr e, const PtrMap *vars);
bool tirc_stmt_uses_var(Stmt s, Expr var);

/* A deep copy whose loops, block iterators and block ids are all new: for a nest that is to stand
 * twice in one function. */
Stmt tirc_clone_fresh(Tirc *c, Stmt s);

/* Same tree, pointer-equal variables and buffers; no simplification. See equal.h for the real one.
 */
bool tirc_expr_same(Expr a, Expr b);
#endif

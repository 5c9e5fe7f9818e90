/* The room of index maps: other layouts of buffers, other iterators of blocks, other types.
 *
 * Decided here: whether a map is one to one on a shape or leaves padding (index_inverse.c), what
 * the padding holds and who writes it (padding.c), and whether a buffer is accessed so that every
 * index can be rewritten. */
#ifndef TIRC_SCHEDULE_LAYOUT_H
#define TIRC_SCHEDULE_LAYOUT_H

#include "passes/schedule/shape/shape.h"

/* --- rewriting accesses ----------------------------------------------------------------------- */

/* Rewriting the indices of buffer accesses all over a statement, with the loops, block iterators
 * and conditions around each access known (TVM's IRMutatorWithAnalyzer). */

typedef struct AccessRewriter AccessRewriter;
struct AccessRewriter {
  Tirc *c;
  Analyzer *a;
  /* A load's or store's buffer and indices, which are rewritten already: changes them and says so,
   * or leaves them. */
  bool (*access)(AccessRewriter *w, Buffer *buffer, int *n, const Expr **indices);
  /* A block whose parts are rewritten; or NULL. */
  Stmt (*block)(AccessRewriter *w, Stmt block);
  /* What to walk through instead of a statement (itself: that one), before it is walked through;
   * and what becomes of the result. Or NULL. */
  Stmt (*before)(AccessRewriter *w, Stmt s);
  Stmt (*after)(AccessRewriter *w, Stmt was, Stmt now);
  void *self;
  const Paths *only; /* what is to be rewritten; NULL: everything */

  Mutator m;
  VEC(Expr) vars;
  VEC(Range) doms;
  VEC(Expr) conds;
};

/* Fill in c, a and the callbacks first. */
Stmt tirc_rewrite_accesses(AccessRewriter *w, Stmt s);
/* TVM's IterMapSimplifyWithContext: indices in their shortest form for the place that the walk has
 * come to. An iterator of extent 1 stays a variable. */
const Expr *tirc_simplify_access(AccessRewriter *w, int n, const Expr *indices);

/* TVM's BlockBufferAccessSimplifier: the accesses and regions of a block in their shortest form. */
Stmt tirc_simplify_accesses(Tirc *c, Analyzer *a, Stmt block);

/* --- index maps ------------------------------------------------------------------------------- */

/* Index maps: functions from the indices of a buffer (or the iterators of a block) to new ones, as
 * a script gives them. What TVM's IndexMap is: applied, inverted, and asked for the shape that
 * comes out.
 *
 *   lambda i, j: (i // 16, j, i % 16)      on a shape of [100, 64]: [7, 64, 16]
 *   inverse: (axis0 * 16 + axis2, axis1), with padding where axis0 == 6 and 4 <= axis2 */

typedef struct LayoutChange LayoutChange;
typedef struct IndexMap {
  int n_inputs, n_outputs;
  const Expr *inputs;    /* variables */
  const Expr *outputs;   /* over them */
  int n_separators;      /* where the function gave tir.IndexMap.AXIS_SEPARATOR ... */
  const int *separators; /* ... before which output */
  /* What becomes of indices, where all elements stay where they are in memory; or NULL. */
  const Expr *(*in_place)(const LayoutChange *l, Analyzer *a, const Expr *indices);
} IndexMap;

/* The map that a VAL_FUNCTION is. It is called with variables of the given types; one that takes
 * any number of arguments (*args) gets n of them, one with its own number of parameters that many,
 * be it n or not (then the types of the first are repeated). Raises index-map-result. */
IndexMap tirc_index_map(Sched *s, Value function, int n, const DType *types);
/* The same for one that gives values: a plain whole number becomes a `number`, not an index. */
IndexMap tirc_value_map(Sched *s, Value function, int n, const DType *types, DType number);
/* Raises index-map-inputs unless it has n inputs. */
void tirc_require_inputs(Sched *s, const IndexMap *map, int n, const char *of);
/* "(i0, i1) -> (i0 // 16, i1, i0 % 16)" */
const char *tirc_index_map_text(Tirc *c, const IndexMap *map);
/* The outputs (n_outputs, simplified) for these inputs. */
const Expr *tirc_map_indices(Tirc *c, Analyzer *a, const IndexMap *map, const Expr *indices);
/* The shape that a box from 0 is mapped to. Raises index-map-range when an index does not start at
 * 0 there, or when it is not known where it ends. */
const Expr *tirc_map_shape(Sched *s, Analyzer *a, const IndexMap *map, const Expr *shape);

typedef struct InverseMap {
  const Expr *vars;    /* n_outputs variables axis0, axis1, ... */
  const Expr *indices; /* n_inputs: the inputs in terms of them */
  Expr padding;        /* where no input is mapped to; constant false when there is no such place */
  bool loses_input;    /* why there is no inverse: an input does not follow from the outputs */
} InverseMap;
/* The inverse over a box from 0. With `bijective` nothing may be padded or left out; otherwise the
 * map must be injective. NULL, or why it is not. `block` says which function's shapes are meant. */
const char *tirc_invert_map(Sched *s, const SRef *block, const IndexMap *map, const Expr *shape,
                            bool bijective, InverseMap *out);
/* The same where digits of some indices are turned by the others (turned.c). */
bool tirc_invert_turned(Sched *s, const SRef *block, const IndexMap *map, const Expr *shape,
                        InverseMap *out);
/* Whether a map that is too hard to invert is injective all the same: tried out on every index
 * where there are not too many. 1: it is; 0: it is not, or leaves the new shape; -1: unknown. */
int tirc_try_injective(Tirc *c, const IndexMap *map, const Expr *shape, const Expr *new_shape);

/* TVM's AddShapeVarBounds: an analyzer that knows that the shapes of the parameters are not
 * negative. */
Analyzer *tirc_analyzer_of_shapes(Sched *s, const SRef *block);

/* Which of its buffers a PARAM_BUFFER argument names: ("read", 0), ("write", 0), a name or the
 * buffer. Raises buffer-selector or buffer-not-found. */
typedef struct BufferChoice {
  Buffer buffer;
  bool is_write;
  int index; /* among the block's reads or writes */
} BufferChoice;
BufferChoice tirc_choose_buffer(Sched *s, SRef *block, Value selector);

/* --- padding ---------------------------------------------------------------------------------- */

/* What transform_layout shares with its planning of padding. */

/* A change of the layout of one buffer. */
struct LayoutChange {
  Sched *s;
  Tirc *c;
  SRef *block, *scope; /* the named block; the block in which all accesses are */
  Buffer from, to;     /* to: the same memory, in the new shape */
  IndexMap map;
  InverseMap inverse; /* of padded maps */
  IndexMap pad;       /* one output: the value for the padding, from the new indices */
};

/* How the padding comes to hold its value. Either loops are replaced that write the whole buffer
 * anyway:
 *
 *   for i in range(100): B[i] = f(i)
 *     ==>
 *   for axis0, axis1 in T.grid(7, 16):
 *       B[axis0, axis1] = T.if_then_else(axis0 == 6 and 4 <= axis1, pad, f(axis0 * 16 + axis1))
 *
 * or a block that fills the padding follows the last write. */
typedef struct PaddingPlan {
  int n;
  const Stmt *replaced, *with; /* n loops */
  Stmt after, fill;            /* or `fill`, to stand after this statement; NULL: none */
} PaddingPlan;
/* Raises pad-of-input when nothing in the scope writes the buffer. */
PaddingPlan tirc_plan_padding(const LayoutChange *l);

/* --- a change of layout (transform.c) --------------------------------------------------------- */

/* The block that allocates the buffer, or the function's root for a parameter. Raises
 * buffer-is-view. */
SRef *tirc_scope_of_buffer(Sched *s, SRef *block, Buffer b);
/* Raises buffer-not-plain unless it is used by loads and stores only, or with `views` by
 * T.match_buffer, too. */
void tirc_require_plain_use(Sched *s, SRef *scope, Buffer b, bool views);
/* Whether what says that a block runs, or by what it is bound, which is evaluated around it, reads
 * the buffer (expand.c). */
bool tirc_is_asked_around(const SRef *block, Buffer b);
/* Whether the writer stores to all that the other block may use of the buffer in one run of the
 * loops around both. */
bool tirc_is_filled_for(Sched *s, SRef *writer, SRef *other, Buffer b);
/* l->from in the new shape. */
Buffer tirc_laid_out(LayoutChange *l, const Expr *shape);
/* Every access as l->map has it; a parameter's callers pass it in the new layout from now on. */
void tirc_install_layout(const LayoutChange *l, const PaddingPlan *plan);

#endif

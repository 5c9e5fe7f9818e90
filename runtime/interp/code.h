/* What the files of the interpreter share. A function is first compiled into a tree of `Node`s
 * (expressions) and `Step`s (statements), each with a pointer to the C function that runs it; every
 * variable has become the address of a cell, every buffer the address of a view. Then the tree
 * runs.
 *
 * Integers are computed as int64 and floats as double, and after each operation brought back into
 * their dtype. A vector is evaluated one lane at a time: `Run.lane` says which, and a store
 * evaluates all lanes before it writes the first. */
#ifndef TIRC_RUNTIME_INTERP_CODE_H
#define TIRC_RUNTIME_INTERP_CODE_H

#include "bound.h"
#include "interp.h"

/* What a run with bounds knows of the elements of a memory beside their values: row n[e] == 0 says
 * that element e is exact. */
typedef struct Shade {
  bool on; /* not all are exact */
  int64_t count, capacity;
  Cell *lo, *hi;
  double *mag, *n;
  uint8_t *flags; /* SHADE_OPEN, SHADE_HUNG */
} Shade;
enum { SHADE_OPEN = 1, SHADE_HUNG = 2 };

typedef struct View View;
/* Storage. What a buffer's data variable points to. */
typedef struct Memory {
  char *data;
  int64_t bytes, capacity;
  uint8_t *written; /* one byte a unit: has it been written? NULL for arguments, which always are */
  int unit;
  View *owner; /* the buffer that it was made for */
  int number;  /* for an observer, from 1; 0: not seen yet */
  View *views; /* buffers on this memory without a declaration of their own, opened with it */
  Shade shade;
} Memory;

typedef struct Node Node;
typedef struct Step Step;
typedef struct SumNest SumNest;

/* A buffer: how indices lead into a memory. */
struct View {
  Buffer buffer;
  DType dtype; /* of its elements in memory */
  Memory *memory;
  int ndim, elem;
  int64_t offset, count; /* first element; elements that the memory holds */
  int64_t *shape, *stride;
  const Node **shape_code, **stride_code; /* stride_code NULL: compact */
  const Node *offset_code;                /* NULL: 0 */
  View *next;
};

typedef struct Run {
  Tirc *t;
  int lane;
  bool poisoned; /* a tolerant load met memory that was never written, in this buffer: */
  const char *poisoned_buffer;
  int64_t steps, max_steps;
  int64_t pause;                  /* after so many steps it looks whether it may go on */
  const InterpOptions *wishes;    /* go_on, or NULL */
  const InterpOptions *launches;  /* launch, or NULL */
  const Step *at;                 /* what runs, for messages */
  const InterpObserver *observer; /* or NULL */
  int arrays;                     /* that it has seen */
  uint64_t arbitrary;             /* what was never written is drawn from this; 0: it is poison */
  /* With bounds. In a branch that may be taken or not, what is stored joins what was there; in one
   * that the values do not take, they stay. */
  int unsure, untaken;
  int attempts; /* that are going on: an error in them ends them and needs no words */
} Run;

struct Node {
  Cell *cell; /* scalar variables and constants: where the value is; otherwise NULL */
  union {
    int64_t (*i)(Run *, const Node *);
    double (*f)(Run *, const Node *);
  } eval;
  const Node *a, *b, *c;
  DType dtype;
  bool tolerant; /* a load whose value is only copied: it may be uninitialised */
  /* With bounds, where it is not exact whatever runs (node_bound.c): */
  void (*bound)(Run *, const Node *, Reach *);
  struct Shadow *shadow; /* the same operation, on given operands */
  Reach *bounds;         /* of a variable, or the one that a let defines; a lane each */
  FunctionRow function;
  bool in_any_order; /* a product that takes one of many factors */
  Expr expr;
  union {
    Cell constant;
    struct {
      View *view;
      const Node **index;
    } load;
    const Node **args; /* more than three of them */
    const struct Dot *dot;
    Cell *lanes; /* vector variable, or the variable of a let */
    struct {     /* call_extern */
      double (*f1)(double);
      double (*f2)(double, double);
    } math; /* and `function` says what is known of it */
  } u;
};

typedef struct MatchCode {
  View *view, *source;
  int skipped; /* leading dimensions of the source that the view does not have */
  const Node **min, **extent;
  Cell **bind_shape, **bind_stride, *bind_offset; /* variables that the match defines, or NULL */
} MatchCode;

typedef struct Doubt { /* what a statement may write */
  int n;
  View **views;
} Doubt;

struct Step {
  void (*run)(Run *, const Step *);
  const Step *parent;
  Stmt stmt;
  const Doubt *doubt;                       /* with bounds, where what it does may hang on them */
  void (*run_plainly)(Run *, const Step *); /* and what then runs it by the values alone */
  Reach *bounds; /* of a let's variable, or of a store's lanes; or NULL */
  union {
    struct {
      Cell *cell;
      DType dtype;
      const Node *min, *extent;
      const Step *body;
      const SumNest *sum; /* what it computes with all below it, or NULL */
    } loop;
    struct {
      int n_iters, n_allocs, n_matches;
      Cell **cells;
      const Node **values, **min, **extent;
      const Node *predicate; /* of a block with an init, the part for it. NULL when constant true */
      const Node *rest;      /* decides about the body, after the init; NULL when constant true */
      View **allocs;
      MatchCode *matches;
      const Step *init, *body; /* init NULL when there is none */
    } block;
    struct {
      int n;
      const Step **at;
    } seq;
    struct {
      View *view;
      const Node **index;
      const Node *value;
      Cell *lanes;      /* room for a vector's values */
      bool *poison;     /* and for whether they are uninitialised */
      const Node *mask; /* the lanes that are stored; NULL: all */
    } store;
    struct { /* EVAL of a launch: its arguments are memories or values */
      int n;
      Memory **memories;
      const Node **values;
    } launch;
    struct { /* EVAL, IF, WHILE, LET, ASSERT, ALLOC, DECL, ATTR */
      const Node *value;
      Cell *cell;
      View *view;
      const Step *body, *otherwise;
      const Node *shown; /* of an assertion: the element that a failure is told with, or NULL */
    } other;
  } u;
};

typedef struct Compiler {
  Tirc *t;
  PtrMap vars;     /* variable -> Cell */
  PtrMap memories; /* data variable -> Memory */
  PtrMap views;    /* buffer -> View */
  const Step *parent;
  Loc loc;
  bool in_double; /* float32 is computed and stored as float64 */
  bool launches;  /* T.call_packed does */
  bool bounded;   /* and every value knows how far float32 may be from it (bound.h) */
  PtrMap bounds;  /* variable that may not be exact -> its Bounds */
} Compiler;
static inline DType tirc_dtype_in_run(const Compiler *k, DType t) {
  if (k->in_double && t.code == TYPE_FLOAT && t.bits == 32) t.bits = 64;
  return t;
}

/* Scalars and, with run->lane set, lanes of vectors. */
static inline int64_t get_i(Run *run, const Node *n) {
  return n->cell ? n->cell->i : n->eval.i(run, n);
}
static inline double get_f(Run *run, const Node *n) {
  return n->cell ? n->cell->f : n->eval.f(run, n);
}
static inline Cell get_cell(Run *run, const Node *n) {
  if (n->cell) return *n->cell;
  Cell v;
  if (tirc_dtype_is_float(n->dtype))
    v.f = n->eval.f(run, n);
  else
    v.i = n->eval.i(run, n);
  return v;
}

/* interp.c */
_Noreturn void tirc_run_fail(Run *run, DiagCode code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
const char *tirc_run_text(Run *run, Expr e);
bool tirc_ends_all(DiagCode code);             /* an error that no attempt catches */
Cell *tirc_compile_var(Compiler *k, Expr var); /* a new cell for a variable; lanes of them */
/* observe.c: only with an observer */
void tirc_observe_access(Run *run, const View *v, int64_t at, bool is_write);
void tirc_observe_block(Run *run, const Step *s);
/* What stands directly in `s`, or in no statement, runs next. */
void tirc_observe_place(Run *run, const Step *s);
/* Throws "interrupted" where the caller does not want it to go on. */
void tirc_ask_to_go_on(Run *run);
/* expr.c */
const Node *tirc_compile_expr(Compiler *k, Expr e);
const Node **tirc_compile_exprs(Compiler *k, int n, const Expr *at);
/* node_bound.c: what a node may be; called for each node when it has been compiled. */
void tirc_compile_bound(Compiler *k, Node *n);
/* A let's variable, with bounds if its value needs them. */
Cell *tirc_compile_let_var(Compiler *k, Expr var, const Node *value, Reach **bounds);
void tirc_bind_bounds(Run *run, const Node *value, Cell *cells, Reach *bounds); /* all lanes */
static inline void get_bound(Run *run, const Node *n, Reach *b) {
  if (n->bound)
    n->bound(run, n, b);
  else if (tirc_dtype_is_float(n->dtype))
    tirc_bound_float(b, get_cell(run, n).f);
  else
    tirc_bound_int(b, get_cell(run, n).i);
}
/* Calls body; false if it raised an error that only what would run here explains. */
bool tirc_run_attempt(Run *run, void (*body)(Run *run, const void *self, void *out),
                      const void *self, void *out);
/* shade.c: memory with bounds */
void tirc_bound_element(const View *v, int64_t at, Cell value, Reach *out);
void tirc_compile_bound_store(Compiler *k, Step *s);
void tirc_load_bound(Run *run, const Node *n, Reach *out);
bool tirc_shade_on(Run *run, Memory *m, const View *v); /* so that all elements have a row */
void tirc_doubt_all(Run *run, const Step *s);
const Doubt *tirc_find_doubt(Compiler *k, Stmt s);
/* branch.c: statements whose way hangs on bounds */
void tirc_compile_bound_branch(Compiler *k, Step *s);
/* math.c: false when e is none of the float intrinsics there. */
bool tirc_compile_math(Compiler *k, Node *n);
void tirc_compile_q(Compiler *k, Node *n); /* q_multiply_shift and q_multiply_shift_per_axis */
bool tirc_compile_intrinsic(Compiler *k, Node *n); /* intrinsic.c: LLVM's; false: not one */
void tirc_compile_extern(Compiler *k, Node *n);    /* T.call_extern of libm, or throws */
/* access.c */
View *tirc_compile_view(Compiler *k, Buffer b);            /* of a buffer in scope */
View *tirc_declare_view(Compiler *k, Buffer b, Memory *m); /* m NULL: found at run time */
Memory *tirc_declare_memory(Compiler *k, Buffer b);
void tirc_compile_load(Compiler *k, Node *n);
void tirc_compile_update(Compiler *k, Node *n); /* atomic, whose result is used */
void tirc_compile_match(Compiler *k, const MatchBuffer *m, MatchCode *out);
void tirc_open_view(Run *run, View *v); /* shape, strides, offset */
void tirc_open_late_views(Run *run, Memory *m);
void tirc_open_memory(Run *run, View *v); /* fresh poisoned memory for an allocation */
void tirc_open_match(Run *run, const MatchCode *m);
void tirc_run_store(Run *run, const Step *s);
int tirc_store_lanes(const Step *s);
/* Whether a lane is stored; it is the one at hand then. */
bool tirc_is_lane_on(Run *run, const Step *s, int lane);
/* Checked: the element that the indices lead to, of which there are as many as dimensions. */
int64_t tirc_locate(Run *run, const View *v, const Node *const *index, const int64_t *values);
/* A load that has been located, and a store; poison is seen to. */
Cell tirc_load_at(Run *run, const Node *n, int64_t at);
void tirc_store_at(Run *run, const View *v, int64_t at, Cell value, bool poisoned);
Cell tirc_get_element(const View *v, int64_t at); /* without any check */
void tirc_set_element(const View *v, int64_t at, Cell value);
/* sum.c: NULL, or what the loop with all below it computes; false: it is to run step by
 * step. */
const SumNest *tirc_find_sum(Compiler *k, Stmt loop);
bool tirc_run_sum(Run *run, const SumNest *s);
/* stmt.c */
void tirc_run_block(Run *run, const Step *s); /* whose predicate holds */
/* body(run, s), where the rest of its predicate holds, or may. */
void tirc_run_under_rest(Run *run, const Step *s,
                         void (*body)(Run *run, const void *self, void *out));
void tirc_count_step(Run *run);
const Step *tirc_compile_stmt(Compiler *k, Stmt s);

#endif

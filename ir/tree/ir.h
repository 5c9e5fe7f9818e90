/* The nouns: expressions, buffers, statements (blocks and loops among them), functions, modules.
 * TensorIR's (TVM 0.20), with Block and BlockRealize in one node.
 *
 * All nodes are immutable once built, live in an arena and are shared freely: the same pointer may
 * stand in several trees. A handle type (Expr, Stmt, Buffer) is a pointer to a const node.
 *
 * Identity: a variable is its pointer; a buffer is its pointer; a loop is its loop variable (each
 * For binds a variable of its own); a block is its `id`, which every rewritten copy of the block
 * keeps. That is what handles of a schedule refer to.
 */
#ifndef TIRC_IR_IR_H
#define TIRC_IR_IR_H

#include "ir/context.h"
#include "ir/dialect.h"
#include "ir/dtype.h"
#include "ir/gpu.h"
#include "ir/scopes.h"

typedef enum Op {
#define OP(id, name, arity, class, precedence, c_form) OP_##id,
#include "ops.def"
#undef OP
  OP_COUNT
} Op;

/* What an OP_CALL calls. */
typedef enum Callee {
#define CALL(id, name, gives) CALL_##id,
#include "calls.def"
#undef CALL
  CALL_COUNT
} Callee;
extern const char *const tirc_callees[CALL_COUNT]; /* their names, after "T." */

typedef enum OpClass { OPCLASS_LEAF, OPCLASS_BINARY, OPCLASS_CALL, OPCLASS_OTHER } OpClass;
typedef struct OpInfo {
  const char *name;
  int arity; /* -1: any */
  OpClass class;
  int precedence;
  const char *c_form; /* or NULL */
} OpInfo;
extern const OpInfo tirc_ops[OP_COUNT];
/* "Add": what the reference calls a node of the operator; NULL: it is a call there, or no value. */
extern const char *const tirc_node_names[OP_COUNT];
static inline bool tirc_compares(Op op) { return op >= OP_EQ && op <= OP_GE; }

typedef const struct ExprNode *Expr;
typedef const struct BufferNode *Buffer;
typedef const struct StmtNode *Stmt;

struct ExprNode {
  uint8_t op;     /* Op */
  bool overflows; /* a constant in it does not fit its type: T.Mul(50000, 50000) */
  DType dtype;
  uint16_t depth; /* how deep its text nests; see TIRC_MAX_DEPTH */
  int n;          /* number of args */
  uint32_t size;  /* number of nodes, each counted as often as it is printed */
  union {
    int64_t i;     /* INT; LARGE_UINT, as bits */
    double f;      /* FLOAT */
    const char *s; /* STRING; name of VAR */
    Callee callee; /* CALL */
    Buffer buffer; /* LOAD */
  } u;
  Expr args[];
};

typedef struct Range {
  Expr min, extent;
} Range;

/* An ordered dictionary: annotations of loops and blocks, attributes of functions. */
typedef struct Attr {
  const char *key;
  Expr value; /* INT, FLOAT, STRING, TUPLE, DICT, or any expression */
} Attr;
typedef struct Attrs {
  const Attr *at;
  int n;
} Attrs;

struct BufferNode {
  const char *name;
  Expr data; /* the handle variable behind it; two buffers with one `data` alias */
  DType dtype;
  int ndim;
  const Expr *shape;   /* ndim, may be 0-dimensional */
  const Expr *strides; /* ndim of them, or NULL for compact row-major; in elements */
  bool one_stride;     /* the text has strides=(1,), which says no more than NULL of ndim != 1 */
  Expr elem_offset;    /* in elements, or NULL for 0 */
  const char *scope;   /* "global", "local", "shared", ... never NULL: its text */
  Storage storage;     /* and what it says, which tirc_buffer_copy reads */
  int align;           /* bytes, 64 unless given */
  int offset_factor;   /* 0 or 1 unless given */
  const int *axis_separators;
  int n_axis_separators;
};

typedef enum IterKind { ITER_SPATIAL, ITER_REDUCE, ITER_OPAQUE, ITER_SCAN } IterKind;
typedef enum LoopKind {
  LOOP_SERIAL,
  LOOP_PARALLEL,
  LOOP_VECTORIZED,
  LOOP_UNROLLED,
  LOOP_THREAD_BINDING
} LoopKind;

typedef enum StmtKind {
  STMT_FOR,
  STMT_BLOCK,
  STMT_SEQ,
  STMT_STORE,
  STMT_EVAL,
  STMT_IF,
  STMT_WHILE,
  STMT_LET,
  STMT_ALLOC,  /* a buffer that lives during body: T.allocate / T.decl_buffer without data */
  STMT_DECL,   /* another view on existing data: T.decl_buffer(..., data=...) */
  STMT_ATTR,   /* T.attr(node, key, value) */
  STMT_ASSERT, /* assert cond, "message" */
} StmtKind;

/* What a block binds: var runs over [dom.min, dom.min + dom.extent), its value is given by the
 * block's iter_values at the same position. */
typedef struct IterVar {
  Expr var;
  Range dom;
  IterKind kind;
} IterVar;

/* A box of a buffer: dims has buffer->ndim ranges. */
typedef struct Region {
  Buffer buffer;
  const Range *dims;
} Region;

/* T.match_buffer inside a block: `buffer` is a view of `source`. */
typedef struct MatchBuffer {
  Buffer buffer;
  Region source;
} MatchBuffer;

typedef struct For {
  Expr var;
  Expr min, extent;
  LoopKind kind;
  const char *thread; /* "threadIdx.x" ... for LOOP_THREAD_BINDING, otherwise NULL: its text */
  ThreadAxis axis;    /* and what it says, which tirc_for reads */
  Attrs annotations;
  Stmt body;
} For;

typedef struct Block {
  uint32_t id; /* identity within the context that made it; see the head of this file */
  const char *name;
  int n_iters;
  const IterVar *iters;
  const Expr *iter_values; /* n_iters bindings */
  Expr predicate;          /* bool; constant true when there is none. Never NULL */
  int n_reads, n_writes, n_allocs, n_matches;
  const Region *reads, *writes;
  const Buffer *allocs;
  /* Of these allocations it is known how deep their extents nest: a copy of the block that has the
   * same ones need not look at them all. */
  const Buffer *measured;
  int n_measured, allocs_depth;
  const MatchBuffer *matches;
  Attrs annotations;
  Stmt init; /* or NULL */
  Stmt body;
  bool hides; /* what T.reads leaves out is no dependence: unsafe_hide_buffer_access */
} Block;

/* What an allocation holds from the start and for ever: a tuple of constants, row by row. */
#define ALLOC_DATA "constant data"

struct StmtNode {
  StmtKind kind;
  uint16_t depth; /* at least how deep its text nests */
  Loc loc;        /* where it was written, or line 0 */
  union {
    For loop;
    Block block;
    struct { /* never 1 long, never nested directly in another SEQ; 0 long is the empty statement */
      int n, n_parts;
      const struct SeqPart *parts; /* use tirc_item */
    } seq;
    struct {
      Buffer buffer;
      int n;
      const Expr *indices;
      Expr value;
    } store;
    struct {
      Expr value;
    } eval;
    struct {
      Expr cond;
      Stmt then_case, else_case; /* else_case may be NULL */
    } branch;
    struct {
      Expr cond;
      Stmt body;
    } loop_while;
    struct {
      Expr var, value;
      Stmt body;
    } let;
    struct {
      Buffer buffer;
      Attrs annotations;
      Stmt body;
    } alloc; /* STMT_ALLOC and STMT_DECL. Annotation ALLOC_DATA: T.allocate_const */
    struct {
      Expr node; /* a variable or a STRING */
      const char *key;
      Expr value;
      Stmt body;
    } attr;
    struct {
      Expr cond;
      const char *message;
      Stmt body;
    } check; /* STMT_ASSERT */
  } u;
};

/* A scope may hold thousands of nests, and a primitive changes one of them. So the items of a long
 * sequence stand in parts of up to 2 * SEQ_PART, and a sequence shares with the one that it was
 * made from all parts that are as they were. */
enum { SEQ_PART = 16 };
typedef struct SeqPart {
  int first; /* how many items are before it */
  const Stmt *at;
} SeqPart;

static inline const SeqPart *tirc_part(Stmt seq, int i) {
  const SeqPart *p = seq->u.seq.parts;
  const int n = seq->u.seq.n_parts;
  if (n == 1) return p;
  p += i / SEQ_PART < n ? i / SEQ_PART : n - 1;
  while (p->first > i) p--;
  while (p + 1 < seq->u.seq.parts + n && p[1].first <= i) p++;
  return p;
}

static inline int tirc_part_end(Stmt seq, const SeqPart *p) {
  return p + 1 < seq->u.seq.parts + seq->u.seq.n_parts ? p[1].first : seq->u.seq.n;
}

static inline Stmt tirc_item(Stmt seq, int i) {
  const SeqPart *p = tirc_part(seq, i);
  return p->at[i - p->first];
}

/* Statement number i directly below one that is neither loop nor block; NULL: there are fewer. */
Stmt tirc_below(Stmt s, int i);

/* Where a schedule has put the elements of a parameter: before[vars] is now at [indices]. */
typedef struct Relayout {
  Buffer before;
  const Expr *vars;    /* one a dimension of `before` */
  const Expr *indices; /* one a dimension of the parameter's buffer */
  bool in_place;       /* none has moved: the shape alone is another one */
} Relayout;

typedef struct Func {
  const char *name;
  int n_params;
  const Expr *params;    /* handles and scalars */
  const Buffer *buffers; /* n_params: the buffer matched to a handle parameter, or NULL */
  const Relayout *const *relayouts; /* n_params, each or all NULL; no part of the program's text */
  Attrs attrs;
  Stmt body; /* a STMT_BLOCK without iterators named "root", unless lowered */
  Loc loc;
} Func;

typedef struct Constant {
  const char *name;
  Expr value; /* INT, FLOAT, STRING or TUPLE */
  bool given; /* by a -D alone: nothing in the file assigns it */
} Constant;

/* A module owns nothing but a reference to its context. */
typedef struct Module {
  Tirc *c;
  const char *file; /* where it came from, for messages; may be NULL */
  const char *name; /* the class's name, "Module" unless given */
  bool is_class;    /* written as a class: the printer keeps that form */
  int n_funcs;
  const Func *const *funcs;
  int n_graphs; /* functions over whole tensors, which call the others: graph.h */
  const struct Graph *const *graphs;
  int n_constants; /* names at the top of the file; schedule scripts see them */
  const Constant *constants;
  Attrs attrs;
  Dialect dialect; /* that it is printed in, and what is made of it */
} Module;

/* Walks of trees recur, and what is printed must be valid input. So the constructors throw "limit"
 * for a statement that nests deeper than the parser takes, and for an expression that even a proof
 * about such a statement does not need. */
enum { TIRC_MAX_DEPTH = 390, EXPR_MAX_DEPTH = 4 * TIRC_MAX_DEPTH, EXPR_MAX_SIZE = 1 << 20 };

/* --- building expressions -------------------------------------------------------------------- */

Expr tirc_var(Tirc *c, const char *name, DType t); /* a new variable each time */
Expr tirc_int(Tirc *c, DType t, int64_t v);
Expr tirc_int32(Tirc *c, int64_t v);
/* A constant of uint64. One that int64 does not hold is a LARGE_UINT and no INT: whatever reckons
 * with constants in int64 takes it for a number that it does not know. */
Expr tirc_uint64(Tirc *c, uint64_t v);
Expr tirc_int_of_bits(Tirc *c, DType t, int64_t bits); /* as it lies in memory */
Expr tirc_bool(Tirc *c, bool v);
Expr tirc_float(Tirc *c, DType t, double v);
Expr tirc_string(Tirc *c, const char *s);
/* The least (which -1) or greatest (1) finite value of a type, or infinity (2); NULL: it has none.
 */
Expr tirc_limit(Tirc *c, DType t, int which);
/* What changes nothing as an operand of + * min max & | ^, but the sign of a zero; NULL: of another
 * operation. */
Expr tirc_neutral(Tirc *c, Op op, DType t);
/* Any node, as given, nothing folded. For LOAD, CALL and VAR use the functions beside this one. */
Expr tirc_expr(Tirc *c, Op op, DType t, int n, const Expr *args);
Expr tirc_load(Tirc *c, Buffer b, int n, const Expr *indices);
Expr tirc_call(Tirc *c, DType t, Callee callee, int n, const Expr *args);
Expr tirc_cast(Tirc *c, DType t, Expr e); /* folds constants; e itself when it has the type */
/* One lane is a scalar: the base, the value. */
Expr tirc_ramp(Tirc *c, Expr base, Expr stride, int lanes);
Expr tirc_broadcast(Tirc *c, Expr value, int lanes);
/* A binary operation as Python's operators on TVM expressions build it: operand types are unified
 * (an untyped constant takes the other's type, int32 widens to int64, ...), constants are folded
 * (without overflow; an operation that would overflow stays), x+0, x*1, x*0, x//1, x%1, true and x
 * ... are folded. Comparisons give bool. */
Expr tirc_binary(Tirc *c, Op op, Expr a, Expr b);
static inline Expr tirc_add(Tirc *c, Expr a, Expr b) { return tirc_binary(c, OP_ADD, a, b); }
static inline Expr tirc_sub(Tirc *c, Expr a, Expr b) { return tirc_binary(c, OP_SUB, a, b); }
static inline Expr tirc_mul(Tirc *c, Expr a, Expr b) { return tirc_binary(c, OP_MUL, a, b); }
static inline Expr tirc_floordiv(Tirc *c, Expr a, Expr b) {
  return tirc_binary(c, OP_FLOORDIV, a, b);
}
static inline Expr tirc_floormod(Tirc *c, Expr a, Expr b) {
  return tirc_binary(c, OP_FLOORMOD, a, b);
}
static inline Expr tirc_min(Tirc *c, Expr a, Expr b) { return tirc_binary(c, OP_MIN, a, b); }
static inline Expr tirc_max(Tirc *c, Expr a, Expr b) { return tirc_binary(c, OP_MAX, a, b); }
static inline Expr tirc_and(Tirc *c, Expr a, Expr b) { return tirc_binary(c, OP_AND, a, b); }
static inline Expr tirc_lt(Tirc *c, Expr a, Expr b) { return tirc_binary(c, OP_LT, a, b); }
static inline Expr tirc_eq(Tirc *c, Expr a, Expr b) { return tirc_binary(c, OP_EQ, a, b); }
Expr tirc_not(Tirc *c, Expr e);
/* Folds a node whose arguments are constants; NULL when it cannot (also on overflow, x // 0). */
Expr tirc_fold(Tirc *c, Op op, DType t, int n, const Expr *args);

bool tirc_is_int(Expr e, int64_t v);       /* an INT constant of that value */
bool tirc_const_int(Expr e, int64_t *out); /* an INT constant */
static inline bool tirc_is_integer(Expr e) { return e->op == OP_INT || e->op == OP_LARGE_UINT; }
static inline bool tirc_is_constant(Expr e) { return tirc_is_integer(e) || e->op == OP_FLOAT; }
const char *tirc_digits(Tirc *c, Expr e); /* the number that an integer constant is */
static inline bool tirc_is_true(Expr e) { return tirc_is_int(e, 1) && e->dtype.code == TYPE_BOOL; }
static inline Range tirc_range(Expr min, Expr extent) { return (Range){min, extent}; }

/* --- building statements; the arrays given are copied into the arena ------------------------- */

Stmt tirc_for(Tirc *c, const For *loop);
/* The usual loop: serial, from 0, no annotations. */
Stmt tirc_for_serial(Tirc *c, Expr var, Expr extent, Stmt body);
Stmt tirc_block(Tirc *c, const Block *block);  /* keeps block->id; 0 gives it a new one */
Stmt tirc_seq(Tirc *c, int n, const Stmt *at); /* flattens nested ones; 1 long gives that one */
/* A copy of a sequence, of which tirc_seq_set then replaces items. Nested sequences are left as
 * they are. */
struct StmtNode *tirc_seq_draft(Tirc *c, Stmt seq);
void tirc_seq_set(Tirc *c, struct StmtNode *draft, Stmt seq, int i, Stmt item);
/* A body (one statement stands for itself) with `gone` items from `at` on replaced by n others. */
Stmt tirc_seq_splice(Tirc *c, Stmt body, int at, int gone, int n, const Stmt *items);
Stmt tirc_store(Tirc *c, Buffer b, int n, const Expr *indices, Expr value);
Stmt tirc_eval(Tirc *c, Expr value);
Stmt tirc_if(Tirc *c, Expr cond, Stmt then_case, Stmt else_case);
Stmt tirc_while(Tirc *c, Expr cond, Stmt body);
Stmt tirc_let(Tirc *c, Expr var, Expr value, Stmt body);
Stmt tirc_alloc_stmt(Tirc *c, StmtKind kind, Buffer b, Attrs annotations, Stmt body);
Stmt tirc_attr_stmt(Tirc *c, Expr node, const char *key, Expr value, Stmt body);
Stmt tirc_assert_stmt(Tirc *c, Expr cond, const char *message, Stmt body);
Stmt tirc_with_loc(Tirc *c, Stmt s, Loc loc); /* a copy that says it was written there */
/* A copy of a statement that has been given other parts. */
Stmt tirc_stmt_done(Tirc *c, struct StmtNode *copy);
static inline bool tirc_is_empty(Stmt s) { return s->kind == STMT_SEQ && s->u.seq.n == 0; }

/* A compact global buffer with a data variable of its own. */
Buffer tirc_buffer(Tirc *c, const char *name, DType t, int ndim, const Expr *shape,
                   const char *scope);
/* A copy without strides and an offset. */
static inline struct BufferNode tirc_dense(Buffer b) {
  struct BufferNode out = *b;
  out.strides = NULL;
  out.elem_offset = NULL;
  out.offset_factor = 0;
  return out;
}
Buffer tirc_buffer_copy(Tirc *c, const struct BufferNode *b); /* any fields changed by the caller */

Expr tirc_attrs_get(Attrs a, const char *key);                       /* NULL when absent */
Attrs tirc_attrs_set(Tirc *c, Attrs a, const char *key, Expr value); /* replaces or appends */
Attrs tirc_attrs_remove(Tirc *c, Attrs a, const char *key);

/* A module equal to `m` but for function number i. Lives in context c, which then depends on m->c.
 */
const Module *tirc_module_with_func(Tirc *c, const Module *m, int i, const Func *f);
const Func *tirc_func_with_body(Tirc *c, const Func *f, Stmt body);
/* Code of a GPU, which a host function launches: its attribute "tir.is_global_func" is true, or
 * "calling_conv" is 2. */
bool tirc_is_kernel(const Func *f);
bool tirc_has_kernels(const Module *m);
static inline bool tirc_calls(Expr e, Callee callee) {
  return e->op == OP_CALL && e->u.callee == callee;
}
/* The condition of a statement T.assume(condition); NULL: it is another one. */
static inline Expr tirc_assumed(Stmt s) {
  const bool is = s->kind == STMT_EVAL && tirc_calls(s->u.eval.value, CALL_ASSUME);
  return is && s->u.eval.value->n == 1 ? s->u.eval.value->args[0] : NULL;
}
/* T.call_extern or T.call_pure_extern */
static inline bool tirc_is_extern(Expr e) {
  return tirc_calls(e, CALL_EXTERN) || tirc_calls(e, CALL_PURE_EXTERN);
}
/* A call that says something to a machine and means nothing to a program. */
static inline bool tirc_is_hint(Expr e) {
  return tirc_calls(e, CALL_PREFETCH) || tirc_calls(e, CALL_START_PROFILE_INTRINSIC) ||
         tirc_calls(e, CALL_END_PROFILE_INTRINSIC);
}
/* How it is called in T.NAME(args). */
static inline const char *tirc_called(Expr e) {
  return e->op == OP_CALL ? tirc_callees[e->u.callee] : tirc_ops[e->op].name;
}
/* What launches one: T.call_packed("kernel", its arguments..., its launch parameters...). */
bool tirc_is_launch(Expr e);
/* The number of the kernel of that name; -1: the module has none. */
int tirc_kernel_number(const Module *m, const char *name);
/* What launch parameter number i is, an axis or "tir.use_dyn_shared_memory". */
const char *tirc_launch_param(const Func *kernel, int i);
int tirc_n_launch_params(const Func *kernel);
/* The function called "main", or the only one that is no kernel; NULL when there is no such one. */
const Func *tirc_module_main(const Module *m);

#endif

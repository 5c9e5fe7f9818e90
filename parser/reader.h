/* The inside of the program reader: what its files share. Nothing outside of program*.c includes
 * it.
 *
 * Reading a program is running it as Python would run a TVMScript builder: expressions have values
 * (Value below: constants of the text, IR expressions, buffers ...), statements add to the body
 * that is being built, `with` and `for` open bodies of their own. */
#ifndef TIRC_PARSER_READER_H
#define TIRC_PARSER_READER_H

#include "ir/arith/access.h"
#include "ir/arith/arith.h"
#include "ir/nearest.h"
#include "ir/tree/ir.h"
#include "ir/tree/visit.h"
#include "program.h"

/* What an IR tree may nest; keeps every recursive walk of the compiler bounded. */
enum { READER_MAX_NEST = 1000, READER_MAX_DIMS = 32 };

/* --- values ----------------------------------------------------------------------------------- */

typedef enum PyKind {
  PY_NONE,
  PY_BOOL,
  PY_INT,
  PY_FLOAT,
  PY_STR,
  PY_TUPLE, /* lists too */
  PY_DICT,  /* alternating keys and values */
  PY_EXPR,
  PY_BUFFER,
  PY_REGION,    /* B[a:b] */
  PY_SCOPE,     /* a statement that scopes over what follows, not opened yet */
  PY_NODE,      /* a tensor or tuple of a graph: relax.h */
  PY_NAMESPACE, /* an imported module or what it holds: s is its full name, "T", "T.axis" */
} PyKind;

/* An integer of the text: so wide that 2**64 - 1 can be written. */
typedef __int128 PyInt;
#define PY_INT_MAX ((PyInt)1 << 64)

typedef struct Scoping Scoping;
typedef struct PyValue PyValue;
struct PyValue {
  PyKind kind;
  bool fresh; /* EXPR: a variable just made, to be named by an assignment */
  union {
    bool b;
    PyInt i;
    double f;
    const char *s;
    struct {
      int n;
      PyValue *at;
    } list;
    Expr e;
    Buffer buffer;
    Region region;
    Scoping *scope;
    const struct Node *node;
  } u;
};

/* --- what is being built ---------------------------------------------------------------------- */

/* A statement around all that follows it in its body: kind says which fields count. */
struct Scoping {
  StmtKind kind;
  Loc loc;
  int from; /* index in the body of the first statement inside */
  Expr var, value, cond, node;
  const char *text; /* message or key */
  Buffer buffer;
  Attrs annotations;
  For loop;       /* STMT_FOR: a thread launched */
  PyValue yields; /* what `with ... as x` and `x = ...` bind */
};

typedef struct Body {
  struct Body *outer;
  VEC(Stmt) stmts;
  VEC(Scoping *) scopings;
} Body;

typedef struct BlockFrame {
  struct BlockFrame *outer;
  Body *body; /* the block's own: T.reads and its like stand in it directly */
  Loc loc;
  const char *name;
  VEC(IterVar) iters;
  VEC(Expr) bindings;
  VEC(Region) reads, writes;
  VEC(Buffer) allocs;
  VEC(MatchBuffer) matches;
  bool has_reads, has_writes, has_attrs;
  Expr predicate;
  Attrs attrs;
  Stmt init;
} BlockFrame;

/* A block at the function's top level that turns out to be the root, whose regions are not
 * inferred, or not: known at the function's end. */
typedef struct Uninferred {
  int at; /* index in the function's body */
  bool has_reads, has_writes;
} Uninferred;

typedef struct FuncFrame {
  Body *body;
  const char *name;
  VEC(Expr) params;
  VEC(Buffer) buffers;
  VEC(Buffer) root_allocs;
  VEC(Uninferred) uninferred;
  DType returns;   /* what `-> T.int32` says; void: nothing */
  Buffer returned; /* of the value that it returns, or NULL */
  bool ends_early; /* what stands behind a return is the other case of its `if` */
  Attrs attrs;
  bool has_attrs, has_blocks;
  Dialect dialect;
  int names;    /* where its own names begin in Names.bound */
  int depth;    /* of calls that are read in the place of a function's body */
  int *n_calls; /* that are read in it, and in what they call */
} FuncFrame;

typedef struct Symbol Symbol;
typedef struct Names {
  StrMap known;        /* name -> Symbol */
  VEC(Symbol *) bound; /* in order of binding: what leaving a scope undoes */
  VEC(int) scopes;     /* where each open scope begins in `bound` */
} Names;

typedef struct Reader {
  Tirc *c;
  const char *file;
  const Surroundings *around; /* of a function in another text; or NULL */
  int n_defines;
  const Define *defines;
  bool *defines_used;
  VEC(Constant) constants;
  SynList functions; /* and what else stands in the class */
  Names names;
  PtrMap loop_ranges;      /* loop variable -> Range *, of the loops around */
  PtrMap data;             /* data variable -> its first Buffer, of all buffers declared */
  PtrMap threads;          /* variable of T.env_thread -> its tag */
  StrMap launched;         /* such a tag -> the variable of the launch that is open, or NULL */
  const Syn *target;       /* the assignment's target whose value is being read, or NULL */
  const Syn *last_operand; /* right side of the comparison read last, and its value */
  PyValue last_value;
  Body *body;
  BlockFrame *block; /* innermost, or NULL */
  FuncFrame *func;
  Dialect imported; /* of functions without a word that tells theirs */
  int nest;
} Reader;

/* Fails with the place of the node. */
#define READ_FAIL(r, syn, code, hint, ...) tirc_fail((r)->c, (syn)->loc, code, hint, __VA_ARGS__)

/* --- program.c -------------------------------------------------------------------------------- */

/* Fails when a -D gives a constant this name, and `what` (a parameter, ...) has it. */
void tirc_refuse_define(Reader *r, const Syn *at, const char *name, const char *what);

/* --- program_names.c -------------------------------------------------------------------------- */

void tirc_names_open(Reader *r);
void tirc_names_close(Reader *r);
/* Binds in the innermost scope; a name that this scope has already is an error unless `again`. */
void tirc_names_bind(Reader *r, const Syn *at, const char *name, PyValue v, bool again);
const PyValue *tirc_names_find(Reader *r, const char *name); /* NULL: unknown */
/* The names bound from index `from` on are unknown until they are shown again. */
typedef struct HiddenNames {
  int n;
  Symbol **symbols;
  struct Binding **tops;
} HiddenNames;
HiddenNames tirc_names_hide(Reader *r, int from);
void tirc_names_show(Reader *r, HiddenNames hidden);
/* "did you mean 'x'?", or NULL when nothing is near. */
const char *tirc_names_suggest(Reader *r, const char *name);
/* The same among T's functions, or (`same`) only where one is called so: grid, remap. */
const char *tirc_function_suggest(Reader *r, const char *name, bool same);
void tirc_names_import(Reader *r, const Syn *import);
/* "T.axis.spatial" for an expression that names something of a module; otherwise NULL. */
const char *tirc_names_path(Reader *r, const Syn *s);

/* --- program_call.c: T.* functions ------------------------------------------------------------ */

enum { CALL_MAX_ARGS = 12 };
typedef struct Function Function;
typedef struct Call {
  const Function *function;
  const Syn *node;
  const char *name;               /* "T.alloc_buffer" */
  const Syn *args[CALL_MAX_ARGS]; /* as the signature lists them; NULL: not given */
  int n_rest;                     /* arguments of a "*" at the signature's end */
  Syn *const *rest;
} Call;

/* Where a function may be called. */
enum {
  IN_VALUE = 1,     /* in an expression */
  IN_STATEMENT = 2, /* on a line of its own: does something, gives PY_NONE */
  IN_SCOPE = 4,     /* gives PY_SCOPE: on a line of its own, assigned, or after `with` */
  IN_WITH = 8,      /* after `with` only; read by program_block.c */
  IN_FOR = 16       /* after `in` of a loop only; read by program_loop.c */
};
struct Function {
  const char *name;      /* after "T." */
  const char *signature; /* "shape dtype? data?": ? may be left out; * takes the rest, the names
                          after it are for keywords */
  int where;
  PyValue (*read)(Reader *r, const Call *call);
  int detail; /* for functions that share `read` */
};
extern const Function tirc_axis_functions[], tirc_block_functions[], tirc_buffer_functions[],
    tirc_scope_functions[], tirc_loop_functions[], tirc_value_functions[],
    tirc_opaque_functions[]; /* end: name NULL */

/* Sorts the arguments into `call` by the signature; fails on missing, unknown and surplus ones. */
void tirc_bind_call(Reader *r, const Syn *node, const char *name, const char *signature,
                    Call *call);
/* A call of a T.* function, wherever `where` allows it. */
PyValue tirc_read_call(Reader *r, const Syn *node, int where);
const Function *tirc_called_function(Reader *r, const Syn *node, const char **path); /* or NULL */
const Function *tirc_reader_function(int i); /* of all that there are; NULL behind the last */

/* --- program_value.c: constants --------------------------------------------------------------- */

#define PY_VALUE_NONE ((PyValue){.kind = PY_NONE})
static inline PyValue tirc_py_expr(Expr e) { return (PyValue){.kind = PY_EXPR, .u.e = e}; }
static inline PyValue tirc_py_int(PyInt i) { return (PyValue){.kind = PY_INT, .u.i = i}; }
static inline PyValue tirc_py_bool(bool b) { return (PyValue){.kind = PY_BOOL, .u.b = b}; }
bool tirc_py_is_number(PyValue v); /* bool, int or float of the text */
/* Python's operators on numbers of the text. */
PyValue tirc_py_binary(Reader *r, const Syn *at, const char *op, PyValue a, PyValue b);
PyValue tirc_py_unary(Reader *r, const Syn *at, PyValue a);
PyValue tirc_py_compare(Reader *r, const Syn *at, const char *op, PyValue a, PyValue b);
bool tirc_py_truth(PyValue v);
const char *tirc_py_digits(Reader *r, PyInt i);
const char *tirc_py_describe(Reader *r, PyValue v); /* "a buffer", "the string \"x\"" */
/* As IR: numbers become constants; buffers their data pointer, regions vector loads. */
Expr tirc_py_to_expr(Reader *r, const Syn *at, PyValue v);
/* A number as a constant of the type, as TVM lets a literal follow the other operand. */
Expr tirc_py_to_expr_like(Reader *r, const Syn *at, PyValue v, DType t);
/* A constant for an annotation or a module constant: dictionaries and lists too. */
Expr tirc_py_to_attr(Reader *r, const Syn *at, PyValue v);

/* --- program_expr.c --------------------------------------------------------------------------- */

PyValue tirc_read_value(Reader *r, const Syn *s);
Expr tirc_read_expr(Reader *r, const Syn *s);
Expr tirc_read_number(Reader *r, const Syn *s, const char *what); /* no handle, no string */
Expr tirc_read_int(Reader *r, const Syn *s, const char *what);    /* an integer expression */
Expr tirc_read_condition(Reader *r, const Syn *s);
int64_t tirc_read_const_int(Reader *r, const Syn *s, const char *what, int64_t min, int64_t max);
const char *tirc_read_string(Reader *r, const Syn *s, const char *what);
DType tirc_read_dtype(Reader *r, const Syn *s);
Attrs tirc_read_attrs(Reader *r, const Syn *s);
Expr tirc_reader_binary(Reader *r, const Syn *at, const char *op, Expr a, Expr b);
/* Both get the type that an operator would give them. */
void tirc_match_types(Reader *r, const Syn *at, Expr *a, Expr *b);
void tirc_read_both(Reader *r, const Syn *x, const Syn *y, Expr *a, Expr *b);

/* --- program_buffer.c, program_access.c ------------------------------------------------------- */

/* The name that an assignment gives to value number i of n; NULL when there is none. */
const char *tirc_target_name(const Reader *r, int i, int n);
PyValue tirc_read_subscript(Reader *r, const Syn *s);
/* Indices of an access: slices become vectors. Returns how many. */
int tirc_read_indices(Reader *r, const Syn *subscript, Buffer b, Expr out[READER_MAX_DIMS]);
Region tirc_read_region(Reader *r, const Syn *s);
/* stop - start: exactly n where stop is start + n as the printer writes it, otherwise simplified.
 */
Expr tirc_reader_difference(Reader *r, Expr start, Expr stop);
PyValue tirc_buffer_attribute(Reader *r, const Syn *s, Buffer b);
PyValue tirc_buffer_method(Reader *r, const Syn *call, Buffer b, const char *name);
/* T.Buffer(...) of a parameter's annotation. */
Buffer tirc_read_buffer_type(Reader *r, const Syn *annotation, const char *name);
Buffer tirc_expect_buffer(Reader *r, const Syn *s);

/* --- program_stmt.c --------------------------------------------------------------------------- */

/* Reads the statements into a body of their own. */
Stmt tirc_read_body(Reader *r, SynList list);
void tirc_read_statement(Reader *r, const Syn *s);
void tirc_emit(Reader *r, const Syn *at, Stmt s);
/* Begin and end a body by hand; end returns its statement. */
void tirc_begin_body(Reader *r, Body *body);
Stmt tirc_end_body(Reader *r, Body *body);
void tirc_enter(Reader *r, const Syn *at); /* counts nesting */
void tirc_open_let(Reader *r, const Syn *at, Expr var, Expr value);
Stmt tirc_wrap(Reader *r, const Scoping *scope, Stmt body);
Stmt tirc_make_store(Reader *r, const Syn *at, Buffer b, int n, const Expr *indices,
                     const Syn *from, PyValue value);

/* --- program_loop.c, program_block.c, program_func.c ------------------------------------------ */

void tirc_read_for(Reader *r, const Syn *s);
void tirc_read_with(Reader *r, const Syn *s);
Stmt tirc_finish_block(Reader *r, BlockFrame *frame, Stmt body);
/* Regions that the text leaves out, inferred. */
Stmt tirc_reader_infer(Reader *r, Stmt block, bool has_reads, bool has_writes);
const Func *tirc_read_func(Reader *r, const Syn *def);
/* A call of a function of the module, on a line of its own: the function's body stands in its
 * place. False: it is none. */
bool tirc_read_inlined(Reader *r, const Syn *call);

/* --- program_return.c ------------------------------------------------------------------------- */

/* Of `-> T.int32`; void where nothing is said (NULL), or None. */
DType tirc_read_returned_type(Reader *r, const Syn *s);
/* A function with its returns at the ends of its ways; itself where it has none. */
const Syn *tirc_with_last_returns(Reader *r, const Syn *def);
/* A return, as a store; false: the statement is none. */
bool tirc_read_return(Reader *r, const Syn *s);

/* --- program_dialect.c ------------------------------------------------------------------------ */

/* Of a function; throws "dialect" where words of both stand in it. s_tir: that its decorator says
 * s_tir=True, or NULL. */
Dialect tirc_reader_dialect(Reader *r, const Syn *def, const Syn *s_tir);

#endif

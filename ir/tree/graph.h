/* Graphs: functions over whole tensors in the form of Relax, each a list of bindings in
 * administrative normal form. They call the module's prim_funcs (R.call_tir), each other, symbols
 * of other programs, and operators by name. What an operator means stands in a script
 * (passes/module/operators); nothing here knows one.
 *
 *   @R.function
 *   def main(x: R.Tensor(("n", 784), dtype="float32"), w: ...) -> R.Tensor(("n", 10), ...):
 *       n = T.int64()
 *       R.func_attr({"num_input": 1})      the parameters after so many are weights
 *       cls = Module
 *       with R.dataflow():                 a block: bindings without effects
 *           lv = R.call_tir(cls.f, (x, w), out_sinfo=R.Tensor((n, 10), dtype="float32"))
 *           gv: R.Tensor((n, 10), dtype="float32") = R.nn.relu(lv)
 *           R.output(gv)                   what bindings and results behind the block may use
 *       if small:                      one of the two is called, the other one is not
 *           y = cls.g(gv)
 *       else:
 *           y = gv
 *       return y
 *
 * Nodes are immutable and live in an arena as all of the IR does (ir.h). A variable is its pointer;
 * a symbolic extent is a VAR of int64, and belongs to one graph. */
#ifndef TIRC_IR_GRAPH_H
#define TIRC_IR_GRAPH_H

#include "ir.h"

typedef const struct StructInfo *Info;
typedef const struct Node *Node;

typedef enum InfoKind {
  INFO_OBJECT, /* R.Object: nothing is known */
  INFO_TENSOR, /* R.Tensor(shape, dtype) */
  INFO_TUPLE,  /* R.Tuple(fields) */
  INFO_SHAPE,  /* R.Shape(shape): a shape as a value */
  INFO_PRIM    /* R.Prim(dtype): a scalar of the program that calls */
} InfoKind;

/* What is known of a value: "struct info". */
struct StructInfo {
  InfoKind kind;
  DType dtype;       /* TENSOR, PRIM; void: not known */
  int ndim;          /* TENSOR, SHAPE; -1: not known */
  const Expr *shape; /* TENSOR, SHAPE: ndim extents of int64; NULL: at most the rank is known */
  Expr value;        /* PRIM: or NULL */
  int n;             /* TUPLE */
  const Info *fields;
};

typedef enum NodeKind {
  NODE_VAR,      /* name */
  NODE_CONST,    /* data: the elements of info, row by row */
  NODE_VALUE,    /* value: a number, string, None, or tuple of them; an attribute of an operator */
  NODE_SHAPE,    /* R.shape([n, 4]): value is a TUPLE of int64 */
  NODE_TUPLE,    /* args */
  NODE_ITEM,     /* args[0][index] */
  NODE_CALL,     /* R.NAME(args): an operator. keys[i] is the word before '=', or NULL */
  NODE_CALL_TIR, /* R.call_tir(cls.NAME, args, out_sinfo=info, tir_vars=value) */
  NODE_CALL_DPS, /* R.call_dps_packed("NAME", args, out_sinfo=info): a symbol of another program */
  NODE_CALL_GRAPH, /* cls.NAME(args) */
  NODE_IF, /* args[1] if args[0], a bool, else args[2]: each a CALL_GRAPH, or a value that is there
            */
  NODE_MATCH_CAST /* R.match_cast(args[0], info): checked when it runs, may define symbols */
} NodeKind;

struct Node {
  NodeKind kind;
  int n, index;
  Info info; /* of the result; NULL: not inferred yet. CALL_TIR, CALL_DPS: what the text says */
  const char *name;
  const Node *args;
  const char *const *keys; /* CALL: n of them, or NULL: all by position */
  Expr value;              /* or NULL */
  const void *data;
  Loc loc;
};

typedef struct Binding {
  Node var, value;
  Loc loc;
} Binding;

typedef struct GraphBlock {
  bool is_dataflow;
  int n;
  const Binding *at;
  int n_outputs; /* of a dataflow block: variables that live on behind it */
  const Node *outputs;
} GraphBlock;

typedef struct Graph {
  const char *name;
  int n_params;
  const Node *params; /* NODE_VAR, each with info */
  int n_blocks;
  const GraphBlock *blocks;
  Node result; /* a variable, a constant, or a tuple of them */
  Info info;   /* of the result as the text has it, or NULL */
  Attrs attrs;
  Loc loc;
} Graph;

/* --- building: arrays are copied -------------------------------------------------------------- */

Info tirc_info_tensor(Tirc *c, DType t, int ndim, const Expr *shape); /* shape: or NULL */
Info tirc_info_tuple(Tirc *c, int n, const Info *fields);
Info tirc_info_copy(Tirc *c, const struct StructInfo *info);
Node tirc_graph_node(Tirc *c, const struct Node *node); /* a copy in the arena, arrays too */
Node tirc_node_var(Tirc *c, const char *name, Info info, Loc loc);
Node tirc_node_tuple(Tirc *c, int n, const Node *args);
/* A constant whose bytes are copied. */
Node tirc_node_const(Tirc *c, Info info, const void *data, Loc loc);

const Graph *tirc_module_graph(const Module *m, const char *name); /* NULL: there is none */
const Func *tirc_module_func(const Module *m, const char *name);   /* likewise */
/* The graph called "main", or the only one; NULL where there is none such. */
const Graph *tirc_module_main_graph(const Module *m);

/* What R.func_attr({"tir_var_upper_bound": {"n": 512}}) and tir_var_lower_bound say of a symbolic
 * extent: from 0 to INT64_MAX where they say nothing. */
typedef struct ExtentBounds {
  int64_t lower, upper;
  bool is_said; /* one of them is said: a scalar, too, is not negative then */
} ExtentBounds;
ExtentBounds tirc_extent_bounds(Attrs attrs, const char *name);

/* A function of its own, private, of bindings and what they give: its parameters are what they use
 * of the graph around them, and `call` is its call there. It keeps that graph's symbols; those that
 * its attributes mention are told, too. */
const Graph *tirc_graph_part(Tirc *c, const char *name, Attrs attrs, int n, const Binding *bindings,
                             Node result, Node *call);

/* What "index_ranges" says of parameter number `param` of a function, and "input_ranges" of one of
 * a graph: its elements are from *first to before *end, an INT or the name of an extent as a
 * STRING. False: nothing. */
bool tirc_index_range(Attrs attrs, int param, int64_t *first, Expr *end);
bool tirc_graph_range(Attrs attrs, const char *name, int64_t *first, Expr *end);
/* An extent as such an end; NULL: it is a formula. */
Expr tirc_range_end(Tirc *c, Expr extent);
/* With that of one more. */
Attrs tirc_with_index_range(Tirc *c, Attrs attrs, int param, int64_t first, Expr end);
Attrs tirc_with_graph_range(Tirc *c, Attrs attrs, const char *name, int64_t first, Expr end);

/* What the file that a graph was read from calls an input, a result or an extent: what "file_names"
 * says, and else `name` itself. */
const char *tirc_name_in_file(Attrs attrs, const char *name);
Attrs tirc_with_name_in_file(Tirc *c, Attrs attrs, const char *name, const char *in_file);
/* Likewise of result number i of a graph; NULL: nothing says it. */
const char *tirc_result_in_file(Attrs attrs, int i);
Attrs tirc_with_results_in_file(Tirc *c, Attrs attrs, int n, const char *const *names);

/* Which result counts the rows of result number i along *axis, by "result_counts", k-th of those
 * that count some of it; -1: all others mean
 * something. */
int tirc_result_count(Attrs attrs, int i, int k, int *axis);
Attrs tirc_with_result_count(Tirc *c, Attrs attrs, int i, int count, int axis);

/* Elements and bytes where all extents are constant; -1: they are not, or there are too many. */
int64_t tirc_info_count(Info info);
int64_t tirc_info_bytes(Info info);
/* The results of a call that writes them: the fields of a tuple, or the info itself. */
int tirc_info_results(const Info *info, const Info **out);

/* --- walking ---------------------------------------------------------------------------------- */

/* Replaces nodes below (and at) one, bottom up: `node` gets each after its args were, and gives its
 * replacement; `info` (or NULL) does so with what is known of it. Nodes that stay as they are keep
 * their pointer. */
typedef struct NodeMutator NodeMutator;
struct NodeMutator {
  Tirc *c;
  Node (*node)(NodeMutator *m, Node n);
  Info (*info)(NodeMutator *m, Info i);
  void *self;
};
Node tirc_mutate_node(NodeMutator *m, Node n);
/* Extents replaced as tirc_substitute does. */
Info tirc_substitute_info(Tirc *c, Info info, const PtrMap *map);
/* The variables of extents in order of first appearance, each once, appended to `out`. */
typedef VEC(Expr) Symbols;
void tirc_info_symbols(Tirc *c, Info info, PtrMap *seen, Symbols *out);
/* Likewise of a node and all below it. */
void tirc_node_symbols(Tirc *c, Node n, PtrMap *seen, Symbols *out);

/* --- text ------------------------------------------------------------------------------------- */

const char *tirc_print_info(Tirc *c, Info info); /* R.Tensor((n, 784), dtype="float32") */
/* "float32[n, 784]", for messages */
const char *tirc_info_words(Tirc *c, Info info);
const char *tirc_print_node(Tirc *c, Node n);
/* The same text for graphs that differ in names only. */
const char *tirc_graph_key(Tirc *c, const Graph *g);

/* Uses before definitions, names that the module lacks, wrong numbers of arguments, calls in a
 * circle; throws "ill-formed". Part of tirc_verify. */
void tirc_verify_graphs(Tirc *c, const Module *m);

#endif

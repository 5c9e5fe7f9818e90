/* Passes over whole modules: what graphs are (ir/tree/graph.h) and how they become a plan of calls.
 *
 * A pass takes a module and gives one; nodes and functions that it leaves alone are shared. The
 * order of the passes is a table, phases.def; each pass is one file. All work is in one context,
 * and errors are thrown with the place in the program.
 *
 *   R.matmul, R.add ...      a graph of operators
 *     -> R.call_tir(...)     LegalizeOps and fusion: a graph of calls of prim_funcs
 *     -> scheduled funcs     --auto's rules, records, a script
 *     -> Plan                program.c: tensors and calls in their order */
#ifndef TIRC_MODULE_MODULE_H
#define TIRC_MODULE_MODULE_H

#include "ir/arith/arith.h"
#include "ir/tree/graph.h"

typedef struct Passes Passes;

/* --- what is known of nodes (infer.c) --------------------------------------------------------- */

/* Each variable and call gets what is known of it; what the text says is compared. A variable whose
 * knowledge grows is replaced by another one, so graphs are given back, not changed. Throws "shape"
 * or "type" with the operator, the operand, and both shapes. */
const Module *tirc_infer(Passes *p, const Module *m);

/* Numbers among the parameters of graphs become tensors of no axes, which is the first thing that
 * tirc_infer does. (scalar_params.c) */
const Module *tirc_numbers_as_tensors(Tirc *c, const Module *m);

/* One value whose operands are known. */
Node tirc_infer_value(Passes *p, const Module *m, const Graph *g, Node value);

/* The same where all floats have 64 bits: what it computes but for rounding. Graphs call functions
 * only, as after phase "loops". Throws "unsupported" for what reads bits as floats, and for code of
 * others. (in_float64.c) */
const Module *tirc_in_float64(Tirc *c, const Module *m);

/* --- shapes against shapes (match.c) ---------------------------------------------------------- */

/* Extents that a callee knows as variables of its own, in the caller's. */
typedef struct Match {
  Tirc *c;
  PtrMap symbols;  /* the callee's variable -> the caller's expression of its type */
  const char *why; /* in words, when a match fails */
} Match;
/* Whether a value of `actual` can be taken where `formal` stands: plain variables of formal that
 * have no value yet get one, everything else has to be proved equal. */
bool tirc_match_info(Match *m, Info formal, Info actual);
/* What a call gives to the parameters of what it calls: plain variables of all of them come ahead
 * of the first match, so that n * 3 may stand in one before n in another. A formal of NULL takes
 * anything. -1, or the number of the first that does not fit. */
int tirc_match_params(Match *m, int n, const Info *formals, const Info *actuals);
/* What is known of values, and of the parameters of a prim_func: NULL of a scalar. */
const Info *tirc_node_infos(Tirc *c, int n, const Node *nodes);
const Info *tirc_buffer_infos(Tirc *c, int n, const Buffer *buffers);
/* Symbols of a callee's value that have no value yet, as R.match_cast gives them, get variables of
 * their own: another call's are others. */
void tirc_match_fresh(Match *m, Info formal);
/* Both at once where they say of one value: the union of what they know. NULL, and m->why: they
 * contradict each other, or it cannot be proved that they do not. */
Info tirc_meet_info(Match *m, Info said, Info found);

/* A symbol in what is known of the parameters and bindings that no parameter has as an extent by
 * itself, so that nothing tells it; NULL: there is none. shapes_tell: a parameter that is an
 * R.Shape of them tells them, too. */
Expr tirc_untold_symbol(Tirc *c, int n, const Node *params, int n_bindings, const Binding *bindings,
                        bool shapes_tell);

/* --- rewriting graphs (rewrite.c) ------------------------------------------------------------- */

/* Walks the bindings in their order and writes another graph. `value` gets each binding's value
 * with its variables replaced already; it may emit bindings before it, and gives the value that the
 * variable is bound to: NULL for none, when `alias` then stands for the variable. */
typedef struct GraphRewriter GraphRewriter;
struct GraphRewriter {
  Tirc *c;
  Node (*value)(GraphRewriter *r, const Binding *b, Node value, Node *alias);
  void *self;
  /* its own */
  PtrMap to; /* old variable -> what stands for it */
  VEC(Binding) bindings;
  int n_made;
};
const Graph *tirc_rewrite_graph(GraphRewriter *r, const Graph *g);
/* A binding before the present one. */
Node tirc_emit_binding(GraphRewriter *r, const char *name, Node value, Loc loc);
/* It leaves its block, or is the graph's result. */
bool tirc_is_output(const Graph *g, Node var);
/* A node with the variables that it uses replaced. */
Node tirc_renamed(GraphRewriter *r, Node n);

/* A module with this graph in place of number i, with these functions instead. */
const Module *tirc_module_with_graph(Tirc *c, const Module *m, int i, const Graph *g);
const Module *tirc_module_with_funcs(Tirc *c, const Module *m, int n, const Func *const *funcs);
/* A name that no function of the module has: name, name1, name2, ... */
const char *tirc_free_name(Tirc *c, const Module *m, const char *name);

#endif

/* Operators of a graph, R.NAME(...), as calls of the scripts that make them (operators.h). */
#ifndef TIRC_MODULE_OPERATOR_CALL_H
#define TIRC_MODULE_OPERATOR_CALL_H

#include "module.h"
#include "operators.h"

/* p->ops is there from then on. */
void tirc_open_operators(Passes *p);
/* The prim_func of a call with these operands, and what it gives, in the variables of the graph.
 * Calls of one graph that differ in names only have one program. Throws what the operator's script
 * says of them, at the call; "name" where there is no such operator. */
const OperatorProgram *tirc_operator_call(Passes *p, const Graph *g, Node call);
/* From now on it is known that `var` is what the program gives of these tensors, or field i of a
 * tuple that is. */
void tirc_note_program(Passes *p, Node var, const OperatorProgram *made, const Node *tensors);
void tirc_note_field(Passes *p, Node var, Node tuple, int i);
/* What it gives. */
Info tirc_operator_result(Passes *p, const Graph *g, Node call);
/* The tensors among the operands, in the order of the prim_func's parameters: out has room for
 * tirc_operator_tensors(call, NULL). */
int tirc_operator_tensors(Node call, Node *out);

/* All attributes of a call by their names, with the usual values of those that it leaves out: a
 * dict of scripts. */
Value tirc_operator_attributes(Passes *p, Node call);

#endif

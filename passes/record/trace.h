/* Traces: what a schedule did, as a list of instructions that can be printed, stored and done
 * again.
 *
 * An instruction is a primitive with the arguments that it got and the results that it gave.
 * Blocks, loops and sampled numbers among them carry a number (Value.rv), under which later
 * instructions refer to them: the random variables of tvm.tir.schedule.Trace. The numbers are
 * unique within a schedule and its copies; texts name them anew in the order in which they are
 * defined: b0, l1, v2.
 *
 * As a script: `def apply_trace(sch: tir.Schedule) -> None: ...`. As data, the layout of TVM's
 * tuning records, [instructions, decisions]:
 *
 *   ["Split", ["l2", "v5", "v6"], [1, 0], ["l7", "l8"]]     kind, inputs, attributes, outputs
 *   [4, [16, 64]]                                           decision of instruction 4
 *
 * Inputs are what may depend on a random variable: handles, factors, annotation values. Inputs that
 * are strings stand in quotes of their own: "\"SSRSRS\"".
 */
#ifndef TIRC_RECORD_TRACE_H
#define TIRC_RECORD_TRACE_H

#include "passes/words/words.h"
#include "value.h"

typedef struct Instruction {
  const Primitive *p;
  const Value *args;         /* one a parameter; a decision is the argument of that name */
  Value result;              /* None, a random variable, or a list of these */
  const char *rule, *reason; /* Sched.rule, Sched.reason at the call */
} Instruction;

/* What was done to a trace: an instruction came (all NULL), `popped` went, or latest[key] was `was`
 * before. */
typedef struct TraceChange {
  const Instruction *popped;
  const void *key;
  void *was;
} TraceChange;

typedef struct Trace Trace;
struct Trace {
  const Instruction **at;
  int n, cap;
  VEC(TraceChange) changes; /* all of them, so that those behind a mark can be undone */
  uint32_t next_rv;         /* of a trace that was read; a schedule's counts in Sched.next_rv */
  PtrMap latest;            /* loop variable or block id -> number of its last random variable */
  PtrMap known; /* numbers that an instruction of it defines; others are looked up again */
};

int tirc_decision_index(const Primitive *p); /* of its parameter; -1: it has none */
const Value *tirc_instruction_decision(const Instruction *inst); /* NULL when there is none */
/* Appends input number i of the instruction's arguments, star arguments one by one. */
void tirc_instruction_inputs(Tirc *c, const Instruction *inst, Value list);
void tirc_instruction_attrs(Tirc *c, const Instruction *inst, Value list);
int tirc_instruction_outputs(const Instruction *inst, const Value **out);

/* --- traces as values ------------------------------------------------------------------------- */

Trace *tirc_trace_new(Tirc *c);
void tirc_trace_append(Tirc *c, Trace *t, const Instruction *inst); /* a copy */
/* From now on `rv` is the last number of what `key` stands for. */
void tirc_trace_name(Tirc *c, Trace *t, const void *key, uint32_t rv);
/* What it is now, to go back to. Programs have thousands of instructions, and rules try a lot: a
 * copy each time would be most of what a schedule needs. */
int tirc_trace_mark(const Trace *t);
void tirc_trace_undo(Tirc *c, Trace *t, int mark);
/* A trace of the same instructions that can go its own way. */
Trace *tirc_trace_copy(Tirc *c, const Trace *t);
/* Without pure instructions whose results nothing uses; remove_postproc: up to enter_postproc. */
Trace *tirc_trace_simplified(Tirc *c, const Trace *t, bool remove_postproc);
/* The same, but nothing that was decided is left out: a script may have computed with it. */
Trace *tirc_trace_with_decisions(Tirc *c, const Trace *t);
/* The arguments of an instruction with this decision, where it takes one. */
const Value *tirc_arguments_with(Tirc *c, const Instruction *inst, Value decision);
Trace *tirc_trace_with_decision(Tirc *c, const Trace *t, int index, Value decision);
/* Where an instruction, or the same one with another decision, stands in the trace; -1: nowhere. */
int tirc_trace_find(const Trace *t, const Instruction *inst);
/* The very instruction, with this decision where it takes one (None: to be drawn). */
void tirc_trace_push(Tirc *c, Trace *t, const Instruction *inst, Value decision);
/* Takes the last instruction away; NULL: there is none. What it gave and later calls use is looked
 * up by name in their traces. */
const Instruction *tirc_trace_pop(Tirc *c, Trace *t);
/* How many instructions stand before enter_postproc (all, unless remove_postproc). */
int tirc_trace_length(const Trace *t, bool remove_postproc);

/* The names of random variables in a text, given in the order of their definition; and the
 * dialect of the text. */
typedef struct RVNames {
  PtrMap of; /* number -> name */
  int n;
  Dialect dialect;
} RVNames;
const char *tirc_rv_name(const RVNames *names, Value v); /* NULL: none */

/* The script. */
const char *tirc_trace_python(Tirc *c, const Trace *t, bool remove_postproc, Dialect d);
/* One instruction as a line of it; defines its results. */
const char *tirc_instruction_python(Tirc *c, const Instruction *inst, RVNames *names);

/* [instructions, decisions] as lists, and back. Throws "trace" naming the instruction. */
Value tirc_trace_as_value(Tirc *c, const Trace *t, bool remove_postproc, Dialect d);
Trace *tirc_trace_of_value(Tirc *c, Value v, Loc loc, const char *what);

/* index_map_json.c: an index map as TVM saves it, as the text of a lambda; NULL: it is none.
 * values: it gives values, as a padding does, whose types count; not indices. named (or NULL) says
 * what stands for a variable that is not the map's own: a random variable, by its name there. */
typedef struct NamedVars {
  const char *(*text)(void *self, const char *name); /* NULL: there is none of the name */
  void *self;
} NamedVars;
const char *tirc_saved_lambda(Tirc *c, Value graph, bool values, const NamedVars *named);
/* And back, from what a function gives for n variables; random variables keep their names. NULL:
 * there is no form for that. */
const char *tirc_lambda_saved(Tirc *c, int n, const Expr *vars, int n_rvs, const Expr *rvs,
                              Value results);
/* A function in a trace as a string for JSON: saved, or as a lambda. */
const char *tirc_recorded_function(Tirc *c, Value function, const RVNames *names);
/* Text with the names of the random variables that it holds by number; their place is "_" when
 * names (or NULL) has none. */
const char *tirc_text_with_rvs(Tirc *c, const char *text, const RVNames *names);

/* --- JSON ------------------------------------------------------------------------------------- */

const char *tirc_value_to_json(Tirc *c, Value v);
Value tirc_value_of_json(Tirc *c, const char *text); /* None when it is no JSON */
/* The one value of a file; throws "json", with the line. */
Value tirc_value_of_json_file(Tirc *c, const char *file, const char *text, size_t n);
/* A trace in a text: a bare [instructions, decisions], or tuning records one after another,
 * [workload, [[instructions, decisions], seconds, target, arguments]]. record 0 takes the record
 * with the least mean time; otherwise it counts from 1. Throws "json" and "trace". */
typedef struct TraceRecord {
  const Trace *trace;
  Loc loc;          /* where it begins */
  const char *what; /* "record 3", "the trace" */
} TraceRecord;
TraceRecord tirc_trace_read(Tirc *c, const char *file, const char *text, size_t n, int64_t record);

#endif

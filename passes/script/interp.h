/* The inside of the script interpreter: what its files share.
 *
 * A tree walk over the syntax tree. Values are those of passes/record/value.h. Errors of the script
 * are Python's exceptions: they fill c->diag and unwind to the script's innermost `try` or to the
 * caller of the interpreter. Three things are bounded: steps (tirc_script_tick), nesting and
 * memory; running into a bound is no exception that a script could catch.
 */
#ifndef TIRC_SCRIPT_INTERP_H
#define TIRC_SCRIPT_INTERP_H

#include "script.h"

enum {
  SCRIPT_MAX_CALLS = 200,    /* function calls inside of one another */
  SCRIPT_MAX_NESTING = 3500, /* expressions and statements being evaluated at a time */
};

#define SCRIPT_OFFERS                                                                              \
  "scripts are a subset of Python: they have tvm.tir with the schedule and its primitives, "       \
  "tvm.te, math, "                                                                                 \
  "and other scripts"

/* The names of one scope: a function call's, a comprehension's, or the script's own. A function's
 * local names are there from the start, unbound; `alias` is set for nonlocal and global names. */
typedef struct Env Env;
typedef struct EnvEntry {
  const char *name;
  bool bound;
  bool given; /* by a -D, and not used yet: see tirc_script_is_given */
  Env *alias;
  struct EnvEntry *next;
  Value value;
} EnvEntry;
struct Env {
  Env *outer;    /* NULL for the script's own scope; of one in Script.spare: the next one */
  StrMap names;  /* name -> EnvEntry */
  bool captured; /* a function that was made here, or further in, looks names up here */
};

/* Where code runs. */
typedef struct Frame {
  Script *sc;
  Env *env;
  Value result; /* of `return` */
  bool assigns; /* by `name = value` */
} Frame;

typedef enum Flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN } Flow;

/* A builtin, a method (type set) or a member of a namespace (type is the namespace). max -1: any
 * number. keywords: those accepted, separated by spaces, "*" for any, or NULL. */
typedef struct NativeRow {
  const char *type, *name;
  Value (*run)(Script *sc, Value self, const Args *a);
  int min, max;
  const char *keywords;
} NativeRow;

/* An attribute that is computed from the object. */
typedef struct AttributeRow {
  const char *type, *name;
  Value (*get)(Script *sc, Value self);
} AttributeRow;

typedef struct ExceptionClass {
  const char *name, *parent; /* parent NULL: the root, Exception */
  DiagCode code;             /* of the diagnostics that are of this class */
  const char *second;        /* another parent, or NULL */
} ExceptionClass;
typedef struct Exception { /* u.object of an exception; v.type is its class's name */
  const ExceptionClass *class;
  Diag diag;
} Exception;

typedef struct Ahead { /* te_ahead.c */
  const struct Tensor *of, *by;
  Expr first, end; /* the elements of `by` are from the one to before the other */
} Ahead;

typedef struct TensorScope { /* te.h */
  PtrMap tensors;            /* buffer -> Tensor */
  PtrMap axes;               /* variable -> IterVar of te.reduce_axis */
  bool wide;                 /* extents are int64 */
  const char *indices;       /* what is done about indices: te_ahead.c; NULL: nothing */
  VEC(Ahead) ahead;          /* what stands for operands */
} TensorScope;

typedef struct Absent { /* a name that was imported, of something that is not offered */
  const char *name, *path;
} Absent;

struct Script {
  Tirc *c;
  Sched *sched;
  VEC(Sched *) copies; /* that the script made */
  int64_t steps, max_steps;
  size_t max_bytes; /* of memory that a run may take */
  int calls, nesting;
  Loc loc; /* of what is being evaluated */
  Env *globals;
  struct ScriptModule *modules; /* imported so far, newest first: import.c */
  /* What another script imported, whose memory outlives this one: it is not read again. */
  const struct ScriptModule *known;
  const char *rules;                     /* the user's own library of rules, or NULL */
  const struct Calibration *calibration; /* once it was looked for: import.c */
  bool is_file;    /* run from its start to its end: -D overrides what its names begin with */
  bool is_library; /* what is imported is for any program: the program's names are not there */
  VEC(Absent) absent;
  PtrMap infos;            /* SYN_DEF or SYN_LAMBDA -> what function.c knows of it */
  StrMap builtins;         /* name -> its value: function.c */
  Env *spare;              /* scopes that ended, for calls to come: function.c */
  EnvEntry *spare_entries; /* likewise, linked by `next` */
  StrMap members;          /* name -> what objects.c knows of attributes of that name */
  TensorScope te;
  struct Needs *needs;              /* require.h; or NULL */
  const struct GraphWriter *writer; /* relax.h; NULL: no graph is written, R is not there */
  const Exception *handling;        /* for a bare `raise` */
  void (*out)(void *self, const char *text);
  ScriptObserver observer;
  void *self;
};

/* script.c */
void tirc_script_tick(Script *sc, int64_t steps); /* counts; throws when too many */

/* Runs body(sc, self) within the limits of the script; `loc` until it evaluates something. */
void tirc_script_within_limits(Script *sc, Loc loc, void (*body)(Script *sc, void *self),
                               void *self);
/* A break, continue or return that nothing took: an error. */
void tirc_script_outside(Script *sc, Flow flow);

void tirc_script_predefine(Script *sc); /* what a script finds in sc->globals */

/* import.c */
void tirc_script_import(Frame *f, const Syn *s);
/* The names of a script at a path, which is run when it is first asked for. A path that
 * tirc_rule_library_path gave is an embedded library. */
Env *tirc_script_module(Script *sc, const char *path);
/* The syntax of libraries that a script imported, for others to come (Script.known): `known` and,
 * in c's memory, those that are not in it. */
struct ScriptModule *tirc_script_keep_libraries(Tirc *c, struct ScriptModule *known,
                                                const Script *sc);
/* Where a script in a file looks for what it imports by this name, the first place first. */
void tirc_script_places(Tirc *c, const char *script, const char *name, const char *places[2]);
/* Which table the rules will take. What is wrong with this machine's is told now, and not while
 * something is tried whose warnings may be dropped. */
void tirc_script_look_for_table(Script *sc);

/* read_json("knobs.json"): the value in a file beside the script, or in a folder there. */
Value tirc_script_read_json(Script *sc, Value self, const Args *a);

/* exec.c */
Flow tirc_script_exec(Frame *f, const SynList *body);
void tirc_script_assign(Frame *f, const Syn *target, Value v);

/* eval.c */
Value tirc_script_eval(Frame *f, const Syn *e);
void tirc_script_enter(Script *sc, const Syn *e); /* one step, one level deeper */
static inline void tirc_script_leave(Script *sc) { sc->nesting--; }

/* function.c */
Env *tirc_script_env(Script *sc, Env *outer);
/* The scope has ended. Its memory is used again unless a function that was made in it may live on.
 */
void tirc_script_end_env(Script *sc, Env *env);
void tirc_script_set(Script *sc, Env *env, const char *name, Value v);
/* A name that -D gives and the program does not have. Until the script uses it, an assignment to it
 * begins it, and -D overrides that as it does a program's constants; to set it in another way is an
 * error. */
void tirc_script_give(Script *sc, Env *env, const char *name, Value v);
bool tirc_script_is_given(const Env *env, const char *name);
/* True: it was, and keeps the value of -D, once. */
bool tirc_script_begin_given(Env *env, const char *name);
void tirc_script_unset(Script *sc, Env *env, const char *name);
/* `attribute`: the one that is asked of it, for a message when there is no such name; or NULL. */
Value tirc_script_lookup(Script *sc, Env *env, const char *name, const char *attribute);
Value tirc_script_function(Frame *f, const Syn *def_or_lambda);
Loc tirc_script_function_loc(const Callable *fn);        /* of its def */
const Syn *tirc_script_function_def(const Callable *fn); /* NULL: it is not a script's own */
/* The default of parameter i of a script's own function; NULL: it has none. */
const Value *tirc_script_default(const Callable *fn, int i);
/* The names of the parameters by place; *rest: the name of the one that takes the rest, or NULL. */
int tirc_script_parameters(Script *sc, const Callable *fn, const char ***names, const char **rest);
/* A function of a script: it copies its arguments, so that they need not live longer than the call.
 */
bool tirc_script_copies_arguments(Value callee);
Value tirc_script_call(Script *sc, Value callee, const Args *a);
Value tirc_script_call1(Script *sc, Value callee, Value arg);

/* Argument i of a native function, by place or by name; NULL when it is left out. */
const Value *tirc_script_argument(const Args *a, int i, const char *name);
Value tirc_script_method(Script *sc, const NativeRow *row, Value self); /* bound, not yet called */

/* operators.c */
bool tirc_script_truth(Script *sc, Value v);
bool tirc_script_equal(Script *sc, Value a, Value b);
bool tirc_script_less(Script *sc, Value a, Value b);
Value tirc_script_compare(Script *sc, const char *op, Value a, Value b);
Value tirc_script_unary(Script *sc, const char *op, Value a);
bool tirc_script_number(Value v, double *out); /* bool, int or float */
bool tirc_script_int(Value v, int64_t *out);   /* bool, int, or a constant integer expression */
/* arith.c */
Value tirc_script_binary(Script *sc, const char *op, Value a, Value b);
Expr tirc_script_expr(Script *sc, Value v); /* a number as a constant; throws TypeError otherwise */
/* Two operands; a plain float gets the other one's float type. */
void tirc_script_pair(Script *sc, Value a, Value b, Expr *x, Expr *y);
Value tirc_script_astype(Script *sc, Value self, const Args *a); /* namespaces.c */
Value tirc_script_of_expr(Expr e); /* int and bool constants become plain values */

/* iterate.c */
typedef struct Iter {
  Value over;
  int64_t i;
} Iter;
typedef struct RangeObject {
  int64_t start, stop, step;
} RangeObject;
typedef struct LazyIter LazyIter; /* u.object of an "iterator": zip, enumerate, map, filter */
struct LazyIter {
  bool (*next)(Script *sc, LazyIter *self, Value *out);
  int n;
  Iter *parts;
  Value fn;
  int64_t i;
};
Iter tirc_script_iter(Script *sc, Value v); /* TypeError when it is not iterable */
bool tirc_script_next(Script *sc, Iter *it, Value *out);
Value tirc_script_collect(Script *sc, Value iterable, ValueKind kind); /* a new list or tuple */
int64_t tirc_script_length(Script *sc, Value v);
Value tirc_script_item(Script *sc, Value v, Value index);
void tirc_script_set_item(Script *sc, Value v, Value index, Value item);
void tirc_script_delete_item(Script *sc, Value v, Value index);
/* Bounds NULL when left out. */
Value tirc_script_slice(Script *sc, Value v, const Value *lo, const Value *hi, const Value *step);
int tirc_script_dict_find(Script *sc, Value dict, Value key); /* position of the value, or -1 */
void tirc_script_dict_set(Script *sc, Value dict, Value key, Value v);
bool tirc_script_contains(Script *sc, Value container, Value item);
void tirc_script_reverse(Script *sc, ValueList *list); /* in place */
void tirc_script_sort(Script *sc, ValueList *list, Value key, bool reverse);

/* attempt.c: calls function(a); when it returns False or raises what a script may catch, program,
 * handles and trace of the schedule are as before. False: it raised, and c->diag says what. */
bool tirc_script_attempt(Script *sc, Value function, const Args *a, Value *answer);
const char *tirc_script_raised(Tirc *c); /* that, in one line */
Value tirc_script_run_attempt(Script *sc, Value self, const Args *a);

/* builtins.c */
extern const NativeRow tirc_script_builtins[];
extern const int tirc_script_n_builtins;
Value tirc_script_native(const NativeRow *row); /* the function as a value */

/* strings.c, containers.c, namespaces.c: rows that end with name NULL */
extern const NativeRow tirc_script_str_methods[], tirc_script_container_methods[],
    tirc_script_object_methods[], tirc_script_schedule_methods[], tirc_script_namespace_rows[];
/* format.c */
const char *tirc_script_str(Script *sc, Value v);  /* as str() */
const char *tirc_script_repr(Script *sc, Value v); /* as repr() */
const char *tirc_script_format(Script *sc, Value v, const char *spec);
/* strings.c */
int64_t tirc_script_str_length(const char *s);
Value tirc_script_str_item(Script *sc, const char *s, int64_t from, int64_t count);

/* schedule.c: Trace.apply_json_to_schedule, which needs no trace; InstructionKind.get(name) */
Value tirc_script_apply_json(Script *sc, Value self, const Args *a);
Value tirc_script_instruction_kind(Script *sc, Value self, const Args *a);
extern const NativeRow tirc_script_constructors[]; /* of types; ends with name NULL */

/* sref.c */
Value tirc_script_get_sref(Script *sc, Sched *s, Value block_or_loop);
Value tirc_script_stmt_of_sref(Value sref); /* None when it is gone */
bool tirc_script_equal_srefs(Value a, Value b);
extern const NativeRow tirc_script_sref_methods[];
extern const AttributeRow tirc_script_sref_attributes[]; /* ends with name NULL */

/* objects.c: of all types; NULL behind the last */
const NativeRow *tirc_script_method_row(int i);
const AttributeRow *tirc_script_attribute_row(int i);
Value tirc_script_object(const char *type, const void *object);
Value tirc_script_attribute(Script *sc, Value v, const char *name);
const char *tirc_script_type_name(Value v); /* finer than tirc_value_type_name: IntImm, Var ... */
const char *tirc_script_a_type(Script *sc,
                               Value v);        /* in a message: "an int", "a LoopRV", "None" */
bool tirc_script_is(Value v, const char *type); /* an OBJECT of that type */
Value tirc_script_of_stmt(Stmt s);
/* handles.c */
extern const AttributeRow tirc_script_attributes[]; /* ends with name NULL */
/* schedule.c */
extern const AttributeRow tirc_script_schedule_attributes[]; /* ends with name NULL */
/* target.c */
extern const AttributeRow tirc_script_target_attributes[];     /* ends with name NULL */
const char *tirc_script_target_text(Script *sc, Value target); /* as str() */
/* schedule.c */
bool tirc_script_set_attribute(Script *sc, Value of, const char *name, Value v); /* false: cannot */
typedef struct BoundPrimitive { /* u.object of a "primitive": sch.split, not yet called */
  const Primitive *p;
  Sched *s;
} BoundPrimitive;
Value tirc_script_resolve(Script *sc, Value handle); /* a loop or block handle as its statement */
Value tirc_script_resolve_in(Script *sc, Sched *s, Value handle); /* throws unless it is of s */
/* namespaces.c */
Value tirc_script_namespace(const char *name);
bool tirc_script_namespace_member(Script *sc, const char *space, const char *name, Value *out);

/* math.c: T.exp ...; false: there is no such function */
bool tirc_script_math_member(Script *sc, const char *name, Value *out);
extern const NativeRow tirc_script_math_rows[];

/* te.c */
extern const AttributeRow tirc_script_te_attributes[];

/* relax.c: R, its members, a call of one; an item or all fields of a value of graphs, false: it has
 * none */
Value tirc_script_relax_root(void);
Value tirc_script_relax_member(Script *sc, const char *of, const char *name);
Value tirc_script_relax_call(Script *sc, const char *name, const Args *a);
bool tirc_script_relax_item(Script *sc, Value v, Value index, Value *out);
bool tirc_script_relax_fields(Script *sc, Value v, Value *out);
extern const NativeRow tirc_script_relax_methods[];       /* ends with name NULL */
extern const AttributeRow tirc_script_relax_attributes[]; /* ends with name NULL */

/* intrin.c: a value as what programs and graphs have in their text; *symbolic: with variables */
Expr tirc_script_literal(Script *sc, Value v, bool *symbolic);
/* One list deeper in a value; tirc_script_leave goes back. */
void tirc_script_deeper(Script *sc);
Value tirc_script_prim_func(Frame *f, const Syn *def); /* a function of the program language */
extern const NativeRow tirc_script_intrin_rows[];

/* exception.c */
const ExceptionClass *tirc_script_exception_class(const char *name); /* NULL: no such one */
const ExceptionClass *tirc_script_exception_row(int i);              /* NULL behind the last */
bool tirc_script_is_subclass(const ExceptionClass *class, const char *name);
Value tirc_script_exception(Script *sc, const Diag *diag);
Value tirc_script_new_exception(Script *sc, const ExceptionClass *class, const Args *a);
_Noreturn void tirc_script_raise(Script *sc, Value v);
/* Raises exception `class` at sc->loc. hint may be NULL. */
_Noreturn void tirc_script_error(Script *sc, const char *class, const char *hint,
                                 const char *format, ...) __attribute__((format(printf, 4, 5)));
_Noreturn void tirc_script_limit(Script *sc, const char *hint, const char *message);
bool tirc_script_catchable(const Diag *diag); /* not a limit */

/* --- intrin.c -------------------------------------------------------------------------------- */
/* For Sched.offer_intrin: looks through the embedded libraries of tensor intrinsics. */
void tirc_script_offer_intrin(Sched *s, const char *name);

#endif

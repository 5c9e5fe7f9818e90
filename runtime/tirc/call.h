/* Schedules call by call, with values that go in and out. */
#ifndef TIRC_TIRC_CALL_H
#define TIRC_TIRC_CALL_H

#include "schedule.h"

TIRC_C_BEGIN

typedef struct tirc_schedule tirc_schedule;

/* The arguments and results of a schedule's calls: Python's plain values, and handles. Make values
 * with the functions below or fill them in by hand:
 *
 *     tirc_value factors[] = {tirc_none(), tirc_integer(32)};
 *     tirc_value args[] = {loop, tirc_list_of(2, factors)};
 *
 * What a value points to (text, items) is read only during the call. A value that a schedule
 * returns lives as long as the schedule; copying the struct copies the handle. Handles are valid in
 * the schedule they come from and in its copies. A dead handle (of a loop that was split, for
 * example) is refused with the code "stale-handle". Sampled numbers are integers that remember
 * where they come from: if you pass them on unchanged, the trace has them as random variables. */
typedef enum tirc_kind {
  TIRC_KIND_NONE,
  TIRC_KIND_BOOL,
  TIRC_KIND_INT,
  TIRC_KIND_FLOAT,
  TIRC_KIND_STR,
  TIRC_KIND_LIST,
  TIRC_KIND_TUPLE,
  TIRC_KIND_DICT,     /* n items: key, value, key, value ... */
  TIRC_KIND_BLOCK,    /* handle of a block */
  TIRC_KIND_LOOP,     /* handle of a loop */
  TIRC_KIND_EXPR,     /* an integer or other expression: a symbolic extent, an index */
  TIRC_KIND_BUFFER,   /* a buffer */
  TIRC_KIND_OBJECT,   /* another thing with attributes: "For", "Block", "IterVar", "Trace", ... */
  TIRC_KIND_FUNCTION, /* in only: a function of yours, for index maps and the like */
  TIRC_KIND_SCRIPT    /* in only: text that is evaluated as an expression of the schedule script */
} tirc_kind;

typedef struct tirc_value tirc_value;

/* A function of yours that a primitive calls, with expressions as arguments; for example an index
 * map. It returns a value, or a list or tuple of values. To compute with expressions, it calls
 * tirc_schedule_operator on the schedule that it gets. A status other than TIRC_OK makes the
 * primitive fail with the code "callback". n_params: how many arguments it takes, -1 for any
 * number. */
typedef struct tirc_function {
  tirc_status (*call)(void *self, tirc_schedule *s, int n, const tirc_value *args,
                      tirc_value *result);
  void *self;
  int n_params;
  const char *name; /* for messages; may be NULL */
} tirc_function;

struct tirc_value {
  tirc_kind kind;
  uint32_t number;   /* of the random variable; 0 for values of your own */
  const void *owner; /* the schedule that it belongs to; NULL for values of your own */
  union {
    bool b;
    int64_t i;
    double f;
    const char *s;                 /* STR, SCRIPT */
    const tirc_value *items;       /* LIST, TUPLE, DICT: n of them */
    const tirc_function *function; /* FUNCTION; must stay until the call is over */
    const void *handle;            /* BLOCK, LOOP, EXPR, BUFFER, OBJECT: the same thing, the same
                                    * pointer, within one schedule */
  } u;
  int64_t n;
  const char *type; /* for returned values: the type's name in Python, "BlockRV", "IterVar", ... */
};

static inline tirc_value tirc_none(void) {
  tirc_value v = {TIRC_KIND_NONE, 0, NULL, {0}, 0, NULL};
  return v;
}
static inline tirc_value tirc_boolean(bool b) {
  tirc_value v = tirc_none();
  v.kind = TIRC_KIND_BOOL;
  v.u.b = b;
  return v;
}
static inline tirc_value tirc_integer(int64_t i) {
  tirc_value v = tirc_none();
  v.kind = TIRC_KIND_INT;
  v.u.i = i;
  return v;
}
static inline tirc_value tirc_number(double f) {
  tirc_value v = tirc_none();
  v.kind = TIRC_KIND_FLOAT;
  v.u.f = f;
  return v;
}
static inline tirc_value tirc_text(const char *s) {
  tirc_value v = tirc_none();
  v.kind = TIRC_KIND_STR;
  v.u.s = s;
  return v;
}
static inline tirc_value tirc_list_of(int64_t n, const tirc_value *items) {
  tirc_value v = tirc_none();
  v.kind = TIRC_KIND_LIST;
  v.n = n;
  v.u.items = items;
  return v;
}
/* "lambda i, j: (j, i)", "M // 2", "[None, 32]": any expression of a schedule script, with the
 * names that the schedule's scope holds. */
static inline tirc_value tirc_script(const char *expression) {
  tirc_value v = tirc_text(expression);
  v.kind = TIRC_KIND_SCRIPT;
  return v;
}
static inline tirc_value tirc_callback(const tirc_function *f) {
  tirc_value v = tirc_none();
  v.kind = TIRC_KIND_FUNCTION;
  v.u.function = f;
  return v;
}

/* A schedule that you drive call by call. It does not change the module.
 *
 *     tirc_value block, loops, name = tirc_text("C");
 *     tirc_schedule_call(s, "get_block", 1, &name, 0, NULL, NULL, &block, &error);
 *     tirc_schedule_call(s, "get_loops", 1, &block, 0, NULL, NULL, &loops, &error);
 *     tirc_schedule_call(s, "parallel", 1, &loops.u.items[0], 0, NULL, NULL, NULL, &error);
 *
 * options may be NULL; its field `strict` applies only to scripts. */
TIRC_API tirc_status tirc_schedule_new(const tirc_module *m, const tirc_schedule_options *options,
                                       tirc_schedule **out, tirc_error **error);
/* A copy that develops independently from here. Handles are valid in both. */
TIRC_API tirc_status tirc_schedule_copy(tirc_schedule *s, tirc_schedule **out, tirc_error **error);
TIRC_API void tirc_schedule_free(tirc_schedule *s);

/* Where in your source the following calls stand, for errors and traces; file NULL: no place. */
TIRC_API void tirc_schedule_place(tirc_schedule *s, const char *file, int line, int column);

/* Calls a primitive (tirc_primitive_table lists them) or another method of the schedule (get,
 * get_sref, show, seed, fork_seed, work_on, remove_rv) by name. Arguments are given by position and
 * by keyword, as in Python; defaults are filled in. A block may be given by its handle or its name.
 * result may be NULL. TIRC_NO: a ScheduleError; TIRC_BAD: wrong arguments (code "argument"), or a
 * dead handle. A call that fails changes nothing. */
TIRC_API tirc_status tirc_schedule_call(tirc_schedule *s, const char *name, int n,
                                        const tirc_value *args, int n_keywords,
                                        const char *const *keywords, const tirc_value *values,
                                        tirc_value *result, tirc_error **error);
/* The same for a method of any value that the schedule returned: "simplified" of a trace, ... The
 * method "__call__" calls the value itself. */
TIRC_API tirc_status tirc_schedule_method(tirc_schedule *s, const tirc_value *self,
                                          const char *name, int n, const tirc_value *args,
                                          int n_keywords, const char *const *keywords,
                                          const tirc_value *values, tirc_value *result,
                                          tirc_error **error);

/* An attribute, by the name that a script would use; if `of` is NULL, an attribute of the schedule
 * itself.
 *
 *   schedule      mod, trace, func_working_on
 *   loop          name, loop_var, min, extent, kind, thread_binding, annotations, body
 *   block         name, iter_vars, iter_values, predicate, reads, writes, alloc_buffers,
 *                 annotations, init, body
 *   iterator      name, var, dom (with min and extent), kind, iter_type
 *   region        buffer, region (a list of ranges with min and extent)
 *   buffer        name, shape, dtype, strides, scope (a method)
 *   expression    dtype, a, b, args, name, value, indices, buffer: those that it has
 *   trace         insts, decisions; instruction: kind, inputs, attrs, outputs
 *
 * An unknown attribute is an error, whose hint lists the known ones. */
TIRC_API tirc_status tirc_schedule_attribute(tirc_schedule *s, const tirc_value *of,
                                             const char *name, tirc_value *out, tirc_error **error);
/* a op b, with Python's meaning: + - * / // % ** << >> & | ^ on numbers and expressions, and also <
 * <= > >= == !=; [] is a[b]. The result is an expression if an operand is one. */
TIRC_API tirc_status tirc_schedule_operator(tirc_schedule *s, const char *op, const tirc_value *a,
                                            const tirc_value *b, tirc_value *out,
                                            tirc_error **error);
/* As Python's str(): blocks, loops and programs print as the language. */
TIRC_API tirc_status tirc_schedule_text(tirc_schedule *s, const tirc_value *v, char **text,
                                        tirc_error **error);

/* Runs script text in the schedule's own scope. The scope has `sch`, the module's constants, and
 * the names that earlier texts and tirc_schedule_set defined. Messages use `name` as the file name.
 */
TIRC_API tirc_status tirc_schedule_run(tirc_schedule *s, const char *text, size_t length,
                                       const char *name, tirc_error **error);
TIRC_API tirc_status tirc_schedule_set(tirc_schedule *s, const char *name, const tirc_value *v,
                                       tirc_error **error);
/* As tirc_schedule_run, but calls of reorder, parallel, vectorize, bind, merge and
 * decompose_reduction are carried out even if they change what the program computes: to show how
 * the results would change. A loop that would run in parallel runs from its last iteration to its
 * first, which is one of the orders that threads may have. Call it on a copy; afterwards, that copy
 * is only good for tirc_schedule_module. */
TIRC_API tirc_status tirc_schedule_run_unchecked(tirc_schedule *s, const char *text, size_t length,
                                                 const char *name, tirc_error **error);

/* The program in its present state, as a module with its trace. */
TIRC_API tirc_status tirc_schedule_module(tirc_schedule *s, tirc_module **out, tirc_error **error);

/* The loops and blocks of a function in the order of its text, a parent before its children. */
typedef struct tirc_tree_node {
  int parent;       /* index in the array; -1: a function's root block */
  int depth;        /* 0: a root block */
  bool is_block;    /* otherwise a loop */
  const char *name; /* of the block, or of the loop's variable */
  const char *kind; /* "serial", "parallel", "vectorized", "unroll", "thread_binding"; "block" */
  int64_t extent;   /* of a loop: -1 where symbolic; of a block: its instances, -1 likewise */
  const char *extent_text; /* as an expression; NULL for blocks */
  tirc_value handle;
} tirc_tree_node;
/* func NULL: the function that the schedule works on. The nodes live as long as the schedule. */
TIRC_API tirc_status tirc_schedule_tree(tirc_schedule *s, const char *func, int *n,
                                        const tirc_tree_node **nodes, tirc_error **error);

TIRC_C_END
#endif

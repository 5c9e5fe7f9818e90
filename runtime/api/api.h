/* Inside of the public header: how an entry catches errors, and what its types hold. */
#ifndef TIRC_RUNTIME_API_H
#define TIRC_RUNTIME_API_H

#include "ir/tree/ir.h"
#include "parser/syntax.h"
#include "runtime/interp/interp.h"
#include "runtime/kernel/runtime_abi.h"
#include "runtime/tirc.h"

/* The texts that diagnostics may point into. */
typedef struct Sources {
  int n;
  Source at[2]; /* the program and the script that was run on it */
} Sources;

struct tirc_module {
  Tirc *c; /* holds this very struct, too */
  const Module *m;
  Sources sources;
  bool lowered;
  const Module *unscheduled;          /* a model's functions as they were before, or NULL */
  const struct Trace *trace;          /* of the schedule that made it, or NULL */
  const struct OnnxModule *imported;  /* where it came from, or NULL */
  const struct TensorIntrin *intrins; /* which that knew, or NULL */
  tirc_param **params;                /* one array a function */
  tirc_symbol **symbols;              /* likewise */
  int *n_symbols;
};
struct tirc_array {
  Tensor *t;
  char dtype[16];
  DLManagedTensor *managed; /* the owner of the memory; NULL: the array itself */
  bool is_index;            /* random elements are drawn from first to last */
  int64_t first, last;
};

/* Runs body(c, self), catching what it raises: then the error goes to *error, if error is not NULL.
 * `sources` (or NULL) is read after the failure, so the body may add to it. */
tirc_status tirc_api_guard(Tirc *c, void (*body)(Tirc *c, void *self), void *self,
                           const Sources *sources, tirc_error **error);
/* The same in a context of its own, which is gone afterwards. */
tirc_status tirc_api_scratch(void (*body)(Tirc *c, void *self), void *self, const Sources *sources,
                             tirc_error **error);
/* Runs body(apart, self) in a context of its own, which is gone afterwards; what it raises goes on
 * in c. For work of which little is kept: the body copies it. */
void tirc_api_apart(Tirc *c, void (*body)(Tirc *apart, void *self), void *self);
tirc_status tirc_api_no_memory(tirc_error **error);
/* At the door of each entry that gives a status: none of the arguments may be NULL. LIST: a count
 * and where so many are; COUNT: a number. Neither may be negative, and a list of none may be NULL.
 */
#define NEED(...)                                                                                  \
  do {                                                                                             \
    const void *const needed_[] = {__VA_ARGS__};                                                   \
    tirc_status answer_ = tirc_api_need(__func__, #__VA_ARGS__,                                    \
                                        (int)(sizeof needed_ / sizeof *needed_), needed_, error);  \
    if (answer_ != TIRC_OK) return answer_;                                                        \
  } while (0)
#define COUNT(n) ((int64_t)(n) >= 0 ? "" : NULL)
#define LIST(n, at) ((int64_t)(n) >= 0 && ((at) || (n) == 0) ? "" : NULL)
tirc_status tirc_api_need(const char *entry, const char *names, int n, const void *const *given,
                          tirc_error **error);
const char *tirc_api_name(Tirc *c, const char *s);     /* s itself; throws when it is NULL */
char *tirc_api_copy(Tirc *c, const char *s, size_t n); /* on the heap; throws when memory is out */
/* "main", the only one, or the one of that name; throws "name". */
const Func *tirc_api_func(Tirc *c, const Module *m, const char *name, int *index);
/* Throws "argument" for a kernel, which only what launches it runs. */
void tirc_api_require_host(Tirc *c, const Func *f);
/* What a function takes, in c. */
tirc_param *tirc_api_params(Tirc *c, const Module *m, const Func *f);
/* Its symbols, in c, none of them known. */
tirc_symbol *tirc_api_symbols(Tirc *c, const Func *f, int *n);
/* A module object in context c, which it takes over. */
tirc_module *tirc_api_module(Tirc *c, const Module *m, const Sources *sources);
/* Work whose result is a new module: on failure its context is released. */
tirc_status tirc_api_make_module(void (*body)(Tirc *c, void *self), void *self, Sources *sources,
                                 tirc_module **made, tirc_module **out, tirc_error **error);
/* An array object around a tensor, which it takes over. */
tirc_array *tirc_api_array(Tirc *c, Tensor *t);
/* An error as a value, in a context of its own. */
tirc_error *tirc_api_error(const Diag *d, const Sources *sources);
/* A source that stays: in the arena of c. */
Source tirc_api_keep_source(Tirc *c, Source s);
/* A schedule of m, with what the options set and the tensor intrinsics that m's schedule knew. */
struct Sched *tirc_api_schedule(Tirc *c, const tirc_module *m,
                                const tirc_schedule_options *options);
/* tirc_module_auto with what is known of the program for some of its sizes; records: or NULL. */
struct SchedRecords;
tirc_status tirc_api_auto(const tirc_module *m, const tirc_auto_options *auto_options,
                          const tirc_schedule_options *options, const struct SchedRecords *records,
                          tirc_module **out, tirc_error **error);
/* Several, each once: what is said in the same words of the same place is one with a count. */
struct HeardWarnings;
struct Warning;
struct HeardWarnings *tirc_api_heard(Tirc *c);
void tirc_api_hear(void *heard, struct Warning w);
void tirc_api_tell_heard(const struct HeardWarnings *h, const tirc_schedule_options *options);
/* A listener of tirc_lower, of loops that are vectorized in vain; self: HeardWarnings. */
void tirc_api_look_at_lanes(void *self, const char *pass, const Module *m);
/* A schedule's warnings go where the options say, which live as long as it. */
void tirc_api_tell_warnings(struct Sched *s, const tirc_schedule_options *options);
/* The arguments of a call of f; throws "argument" for tensors that no function can take. */
const Argument *tirc_api_arguments(Tirc *c, const Func *f, int n, const tirc_argument *args);
/* The same of a function whose kernels run there: tensors may be there, too. */
const Argument *tirc_api_arguments_at(Tirc *c, const Func *f, int n, const tirc_argument *args,
                                      DLDevice at);
/* The same as arrays, which live in c: their tensors are compact. */
const tirc_argument *tirc_api_arrays(Tirc *c, const Func *f, int n, const tirc_argument *args);
/* Operations on integers that were loaded, and the bits of the narrowest; 0: there are none. */
typedef struct IntegerWork {
  double operations;
  int bits;
} IntegerWork;
/* The function with numbers for the extents and the scalars that these arguments give. */
const Func *tirc_api_with_sizes(Tirc *c, const Func *f, int n, const tirc_argument *args);
void tirc_count_cost(Tirc *c, const Func *f, tirc_cost *out, IntegerWork *integers); /* or NULL */

/* The runtime of an executor's threads. */
const tirc_runtime *tirc_api_runtime(const tirc_executor *x);

#endif

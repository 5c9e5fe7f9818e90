/* Schedules by script, by rules and by trace; what a program is warned of. */
#ifndef TIRC_TIRC_SCHEDULE_H
#define TIRC_TIRC_SCHEDULE_H

#include "module.h"

TIRC_C_BEGIN

typedef struct tirc_schedule_options {
  const char *target; /* what the script sees as sch.target; NULL: "haswell" */
  int64_t max_steps;  /* 0: 10 million, of rules more where a function has very many blocks */
  bool strict;        /* warnings are errors: what is warned of fails, and changes nothing */
  bool verify;        /* check the schedule's own state after each primitive; slow */
  void *self;         /* handed to the functions below, each of which may be NULL */
  void (*print)(void *self, const char *text); /* what the script prints */
  /* After each primitive: the call as text, where it stands, and NULL or why it failed. */
  void (*trace)(void *self, const char *call, const char *file, int line, const char *failure);
  /* What is legal and hardly meant, and its code: "spatial-dependence", "race",
   * "out-of-bounds", "no-reduction", "local-in-memory", "call-a-lane", "serial-lanes", "lost-mark",
   * "host-computes", "no-pipeline", "equal-candidates", "no-rule", "calibration", or "warning" for
   * what has none of its own. file may be NULL: then there is no place. */
  void (*warn)(void *self, const char *file, int line, int column, const char *message,
               const char *code);
} tirc_schedule_options;

/* Runs a schedule script (a file; "-" is standard input) on a module; the scheduled one is a new
 * module. options may be NULL. TIRC_NO: a ScheduleError. What the script registered (tensor
 * intrinsics) is known to schedules and traces of the new module, too. */
TIRC_API tirc_status tirc_module_schedule(const tirc_module *m, const char *path,
                                          const tirc_schedule_options *options, tirc_module **out,
                                          tirc_error **error);
TIRC_API tirc_status tirc_module_schedule_text(const tirc_module *m, const char *text,
                                               size_t length, const char *name,
                                               const tirc_schedule_options *options,
                                               tirc_module **out, tirc_error **error);

/* Schedules each function of a module by rules, which are scripts; the scheduled one is a new
 * module, and its trace the calls that were made. auto_options may be NULL, and so may each of its
 * fields. A function that no rule takes stays as it is, and options->warn is told ("no-rule").
 * TIRC_BAD: a library of rules is wrong, or a rule takes too many steps. */
typedef struct tirc_auto_options {
  const char *rules; /* a library, a file, to be tried before the one of the target */
  void *self;
  /* After each rule that was tried on a function: whether it took it, and why, or NULL. rule NULL:
   * none did. */
  void (*tried)(void *self, const char *func, const char *rule, bool took, const char *reason);
} tirc_auto_options;
TIRC_API tirc_status tirc_module_auto(const tirc_module *m, const tirc_auto_options *auto_options,
                                      const tirc_schedule_options *options, tirc_module **out,
                                      tirc_error **error);
/* Library number i of those that are built in: its name ("cpu") and its text, a script. False
 * behind the last. */
TIRC_API bool tirc_rules_table(int i, const char **name, const char **text);

/* Rules and spaces take numbers that were measured: for the target native those of this machine, if
 * `tirc calibrate` wrote them to $TIRC_CALIBRATION (a file, or "off"), else to a file in tirc's
 * folder of the user's data; for any other target those of a built-in table. Where the file
 * is no good, options->warn is told ("calibration"), and the built-in table is taken. */
typedef struct tirc_calibration {
  char file[4096];    /* where it is, or would be; "": it is off */
  char head[256];     /* the first line that it has where it is of this machine */
  char date[64];      /* when it was made; "": there is none that is taken */
  char problem[4608]; /* why one that is there is not taken; or "" */
  bool begun;         /* answers of this machine wait in FILE.begun: calibrating was interrupted */
  char table[64];     /* the built-in table of this machine, a name of tirc_rules_table */
} tirc_calibration;
TIRC_API tirc_status tirc_calibration_look(tirc_calibration *out, tirc_error **error);

/* Warns (or, with options->strict, fails: TIRC_NO) of a block's annotation schedule_rule that names
 * no function of a library; a search passes over it. rules: as below. */
TIRC_API tirc_status tirc_module_check_rules(const tirc_module *m, const char *rules,
                                             const tirc_schedule_options *options,
                                             tirc_error **error);
/* The schedules that a search tries: as scripts with sampling calls, one for each way to
 * schedule a function. rules: a library whose rules come before the built-in ones, or NULL. */
TIRC_API tirc_status tirc_module_space(const tirc_module *m, const char *rules,
                                       const tirc_schedule_options *options, char **text,
                                       tirc_error **error);

/* Tells options->warn what is legal in a program and hardly meant: a block that declares an
 * iterator spatial whose instances depend on each other; a loop that is parallel, vectorized or
 * bound to a thread whose iterations do. TIRC_NO: there is such a thing, and
 * options->strict. Schedules tell the same when they start. */
TIRC_API tirc_status tirc_module_check(const tirc_module *m, const tirc_schedule_options *options,
                                       tirc_error **error);

/* The same of the code that a module becomes for options->target: a buffer of scope local that is
 * not in registers, and why. */
TIRC_API tirc_status tirc_module_check_code(const tirc_module *m,
                                            const tirc_schedule_options *options,
                                            tirc_error **error);

/* Does again what a trace says: a file with a bare [instructions, decisions], or with tuning
 * records of TVM, [workload, [[instructions, decisions], seconds, target, arguments]] one a line.
 * record counts from 1; 0 takes the one with the least mean time. TIRC_NO: a ScheduleError. */
TIRC_API tirc_status tirc_module_replay(const tirc_module *m, const char *path, int64_t record,
                                        const tirc_schedule_options *options, tirc_module **out,
                                        tirc_error **error);
/* The same from memory; `name` stands for the file in messages. */
TIRC_API tirc_status tirc_module_replay_text(const tirc_module *m, const char *text, size_t length,
                                             const char *name, int64_t record,
                                             const tirc_schedule_options *options,
                                             tirc_module **out, tirc_error **error);
/* The trace of the schedule that made this module: what tirc_module_replay does to the module that
 * it was made from. Empty for a module that no schedule made. */
typedef enum tirc_trace_format {
  TIRC_TRACE_JSON,  /* [instructions, decisions], as TVM stores it */
  TIRC_TRACE_SCRIPT /* def apply_trace(sch): ..., as TVM prints it; comments tell rules' reasons */
} tirc_trace_format;
TIRC_API tirc_status tirc_module_trace(const tirc_module *m, tirc_trace_format format, char **text,
                                       tirc_error **error);

/* The parameters of a scheduled module may have another layout than before: transform_layout
 * changes what callers pass. This makes a module of one function (from, to) that copies an array of
 * parameter number `param` from the layout that it had before the schedule to the one that it has
 * now, or with `back` from now to before; where the new layout has padding, `to` stays as it is.
 * Behind the two arrays it takes the scalars and symbols, by name, that stand in their shapes but
 * are no extent themselves.
 * *out is NULL when the layout is the same. To be asked of a module that is not lowered yet. */
TIRC_API tirc_status tirc_module_relayout(const tirc_module *m, const char *func, int param,
                                          bool back, tirc_module **out, tirc_error **error);

TIRC_C_END
#endif

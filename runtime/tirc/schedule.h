/* Schedules by script, by rules and by trace; warnings about programs. */
#ifndef TIRC_TIRC_SCHEDULE_H
#define TIRC_TIRC_SCHEDULE_H

#include "module.h"

TIRC_C_BEGIN

typedef struct tirc_schedule_options {
  const char *target; /* what the script sees as sch.target; NULL: "haswell" */
  int64_t max_steps;  /* 0: 10 million; for rules more if a function has many blocks */
  bool strict;        /* warnings are errors: a call with a warning fails and changes nothing */
  bool verify;        /* check the schedule's own state after each primitive; slow */
  void *self;         /* handed to the functions below, each of which may be NULL */
  void (*print)(void *self, const char *text); /* what the script prints */
  /* After each primitive: the call as text, where it stands, and NULL or why it failed. */
  void (*trace)(void *self, const char *call, const char *file, int line, const char *failure);
  /* Code that is legal but probably not intended, with its code: "spatial-dependence", "race",
   * "out-of-bounds", "no-reduction", "local-in-memory", "call-a-lane", "serial-lanes", "lost-mark",
   * "host-computes", "no-pipeline", "equal-candidates", "no-rule", "calibration", or "warning" for
   * those without a code of their own. If file is NULL, there is no place. */
  void (*warn)(void *self, const char *file, int line, int column, const char *message,
               const char *code);
} tirc_schedule_options;

/* Runs a schedule script (a file; "-" is standard input) on a module; the result is a new module.
 * options may be NULL. TIRC_NO: a ScheduleError. What the script registered (tensor intrinsics) is
 * also known to schedules and traces of the new module. */
TIRC_API tirc_status tirc_module_schedule(const tirc_module *m, const char *path,
                                          const tirc_schedule_options *options, tirc_module **out,
                                          tirc_error **error);
/* Hands out the files that a script may read when it runs, each once: itself, the scripts that it
 * may import, and JSON that it reads by a name which stands there as a literal. `path` is a script,
 * or a folder, such as one of operators, whose scripts are meant. *all (or NULL): false where JSON
 * is read by a name that only the run tells. A file that is not there is not handed out. */
TIRC_API tirc_status tirc_script_files(const char *path, void (*file)(void *self, const char *path),
                                       void *self, bool *all, tirc_error **error);
TIRC_API tirc_status tirc_module_schedule_text(const tirc_module *m, const char *text,
                                               size_t length, const char *name,
                                               const tirc_schedule_options *options,
                                               tirc_module **out, tirc_error **error);

/* Schedules each function of a module by rules, which are scripts. The result is a new module,
 * whose trace contains the calls that were made. auto_options may be NULL, and so may each of its
 * fields. A function that no rule takes stays as it is, and options->warn is called ("no-rule").
 * TIRC_BAD: a library of rules is wrong, or a rule takes too many steps. */
typedef struct tirc_auto_options {
  const char *rules; /* the file of a library to be tried before the target's own */
  void *self;
  /* After each rule that was tried on a function: whether it took the function, and why, or NULL.
   * rule NULL: no rule took it. */
  void (*tried)(void *self, const char *func, const char *rule, bool took, const char *reason);
} tirc_auto_options;
TIRC_API tirc_status tirc_module_auto(const tirc_module *m, const tirc_auto_options *auto_options,
                                      const tirc_schedule_options *options, tirc_module **out,
                                      tirc_error **error);
/* The same for a module that is to run, whose trace is not asked for: that is empty. What rules
 * made of the same program with the same options before is taken from the code cache (tirc/code.h),
 * and what options->warn and options->print were told then, they are told again. With a function
 * that watches rules (tried, trace), nothing is taken from there. */
TIRC_API tirc_status tirc_module_auto_kept(const tirc_module *m,
                                           const tirc_auto_options *auto_options,
                                           const tirc_schedule_options *options, tirc_module **out,
                                           tirc_error **error);
/* Built-in library number i: its name ("cpu") and its text, a script. False after the last one. */
TIRC_API bool tirc_rules_table(int i, const char **name, const char **text);

/* Rules and spaces use measured numbers. For the target native they are those of this machine, if
 * `tirc calibrate` wrote them to $TIRC_CALIBRATION (a file, or "off"), or else to a file in tirc's
 * folder of the user's data. For any other target they are those of a built-in table. If the file
 * is not usable, options->warn is called ("calibration"), and the built-in table is used. */
typedef struct tirc_calibration {
  char file[4096];    /* where it is, or would be; "": it is off */
  char head[256];     /* its first line, if it is for this machine */
  char date[64];      /* when it was made; "": none is used */
  char problem[4608]; /* why an existing one is not used; or "" */
  bool begun;         /* answers of this machine wait in FILE.begun: calibrating was interrupted */
  char table[64];     /* the built-in table of this machine, a name of tirc_rules_table */
} tirc_calibration;
TIRC_API tirc_status tirc_calibration_look(tirc_calibration *out, tirc_error **error);

/* Warns (or, with options->strict, fails with TIRC_NO) if a block's annotation schedule_rule names
 * no function of a library; a search ignores such an annotation. rules: as below. */
TIRC_API tirc_status tirc_module_check_rules(const tirc_module *m, const char *rules,
                                             const tirc_schedule_options *options,
                                             tirc_error **error);
/* The schedules that a search tries, as scripts with sampling calls: one for each way to schedule a
 * function. rules: a library whose rules come before the built-in ones, or NULL. */
TIRC_API tirc_status tirc_module_space(const tirc_module *m, const char *rules,
                                       const tirc_schedule_options *options, char **text,
                                       tirc_error **error);

/* Reports to options->warn what is legal in a program but probably not intended: a block that
 * declares an iterator spatial although its instances depend on each other; a loop that is
 * parallel, vectorized or bound to a thread although its iterations depend on each other. TIRC_NO:
 * there is such a thing, and options->strict is set. Schedules report the same when they start. */
TIRC_API tirc_status tirc_module_check(const tirc_module *m, const tirc_schedule_options *options,
                                       tirc_error **error);

/* The same for the code that a module becomes for options->target: a buffer of scope local that is
 * not in registers, and why. */
TIRC_API tirc_status tirc_module_check_code(const tirc_module *m,
                                            const tirc_schedule_options *options,
                                            tirc_error **error);

/* Replays a trace from a file. The file contains either one [instructions, decisions], or tuning
 * records of TVM, [workload, [[instructions, decisions], seconds, target, arguments]], one on each
 * line. record counts from 1; 0 takes the record with the least mean time. TIRC_NO: a
 * ScheduleError. */
TIRC_API tirc_status tirc_module_replay(const tirc_module *m, const char *path, int64_t record,
                                        const tirc_schedule_options *options, tirc_module **out,
                                        tirc_error **error);
/* The same from memory; messages use `name` as the file name. */
TIRC_API tirc_status tirc_module_replay_text(const tirc_module *m, const char *text, size_t length,
                                             const char *name, int64_t record,
                                             const tirc_schedule_options *options,
                                             tirc_module **out, tirc_error **error);
/* The trace of the schedule that made this module: tirc_module_replay applies it to the module from
 * which this one was made. Empty for a module that no schedule made. */
typedef enum tirc_trace_format {
  TIRC_TRACE_JSON,  /* [instructions, decisions], as TVM stores it */
  TIRC_TRACE_SCRIPT /* def apply_trace(sch): ..., as TVM prints it; comments give the rules' reasons
                     */
} tirc_trace_format;
TIRC_API tirc_status tirc_module_trace(const tirc_module *m, tirc_trace_format format, char **text,
                                       tirc_error **error);

/* The parameters of a scheduled module may have a different layout: transform_layout changes what
 * callers pass. This makes a module with one function (from, to). It copies an array of parameter
 * number `param` from the layout before the schedule to the present one, or with `back` in the
 * other direction; where the new layout has padding, `to` is unchanged. After the two arrays, the
 * function takes, by name, the scalars and symbols that stand in their shapes but are not extents
 * themselves. *out is NULL if the layout is the same. For a module that is not lowered yet. */
TIRC_API tirc_status tirc_module_relayout(const tirc_module *m, const char *func, int param,
                                          bool back, tirc_module **out, tirc_error **error);

TIRC_C_END
#endif

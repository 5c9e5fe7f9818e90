/* What the subcommands share: the options, the diagnostics, reading programs and schedules. */
#ifndef TIRC_TOOLS_KIT_H
#define TIRC_TOOLS_KIT_H

#include "new_file.h"

#include "ir/context.h"
#include "ir/nearest.h"
#include "runtime/tirc.h"

#include <stdio.h>

typedef struct List { /* of an option that may be given several times */
  int n;
  const char **at;
} List;

/* What runs a program: --device. */
typedef enum Device { DEVICE_CPU, DEVICE_EMULATE, DEVICE_OPENCL, DEVICE_CUDA } Device;

/* Where options.def puts what was typed: each command has a struct of its own options, which begins
 * with the arguments (what is no option), or with one of these groups. How programs are read; */
typedef struct Loading {
  List args, define, bind, sizes;
  const char *output, *target, *operators, *test_data;
  const char *entry;                    /* --entry, or NULL: main */
  const char *quantize, *quantize_only; /* --quantize and --only, or NULL */
  const char *activations;              /* or NULL */
  bool strict, zero_point;
  int64_t script_steps, group;
} Loading;

/* how they are scheduled, and what is made of a model; */
typedef struct Making {
  Loading from;
  bool automatic, tuned, explain_auto, trace, plain, quiet; /* quiet: nothing is warned of */
  bool lines, fast_math; /* what is asked of the code: debug information; a GPU's instructions */
  bool needs_trace;      /* of the schedule, not the result alone */
  int threads;           /* to run on, or of the schedule that was tuned */
  int64_t record;
  const char *rules, *database, *trace_json, *debug_mask, *print_after, *dump_dir;
  const char *indices, *weights;
  List skip, pass, load, only;
} Making;

/* and how they are run. */
typedef struct Running {
  Making make;
  List in, out, range;
  const char *device_name;
  Device device; /* of that name */
  int64_t seed, max_steps;
  double timeout;
  struct Watch *watch; /* of a command that runs kernels on a device, or NULL: watch.c */
} Running;

typedef struct Command {
  const char *name, *group, *synopsis, *summary, *details;
  const char *examples[2][2]; /* a command line, and what it does */
  int min_args, max_args;     /* max -1: any number */
} Command;
extern const Command commands[];
extern const int n_commands;

enum { DONE = 0, NO = 1, BAD = 2 };

#define COMMAND(name, type, ...)                                                                   \
  typedef struct type type;                                                                        \
  int cmd_##name(type *o);
#include "commands.def"
#undef COMMAND

typedef struct OptionRow { /* what people are told of an option */
  const char *name;
  char letter;                   /* or 0 */
  bool repeats, optional, usual; /* usual: --help shows it */
  const char *argument;          /* NULL: takes none; words between bars are the choices */
  const char *commands, *help;
} OptionRow;

/* nearest.c */
/* Capitals do not count, and hyphens, underscores and spaces are the same: complete-block,
 * "Complete block", cache_read. */
bool same_name(const char *a, const char *b);

/* heap.c: once, before much is allocated. */
void use_large_pages(void);

/* memory.c: from here on, memory that runs out in LLVM ends the command with a message. */
void end_when_memory_is_out(void);
int say_that_memory_is_out(void); /* BAD; it takes none for that, and drops parts of files */
/* What is taken of this goes when the command ends, which it does with a message where there is no
 * more. */
extern Tirc *memory;
/* The place of one more behind n of them. */
#define one_more(at, n) ((at) = more_room((at), (n), sizeof *(at)), &(at)[(n)++])
void *more_room(void *at, int n, size_t size);
/* A text that is written as a file is; it is of that memory, too. */
FILE *begin_text(char **text, size_t *n);
char *end_text(FILE *f, char **text);
/* From the heap into that memory, and a copy; NULL stays. */
char *keep_text(char *text);
char *copied(const char *text);
/* To the system, what is free of it: before something large is allocated. */
void give_back_memory(void);

/* options.c */
enum { MOST_THREADS = 1024 };       /* a count that a machine may be asked for */
const OptionRow *option_row(int i); /* NULL behind the last that is shown */
bool takes_option(const Command *c, const OptionRow *o);
const Command *find_command(const char *name);
void offer_command_names(Nearest *best);
/* False after it has reported what is wrong. */
void add_to_list(List *l, const char *s);
/* Into the struct o of the command's options: what row i of options.def says goes to places[i]. */
bool parse_options(const Command *c, const size_t *places, int argc, char **argv, void *o);
/* Whether --error-format=json is among the words: known before anything can be wrong. */
bool wants_json(int argc, char **argv);
void print_command_help(const Command *c, bool all, FILE *to);
void print_usage(FILE *to);

/* define.c: DONE, or BAD after saying which -D no file of the command line has a use for; and what
 * one of these options (or NULL) gives twice */
int require_defines_used(const List *args, const List *define);
int require_once(const char *option, const List *list);
/* abbreviate.c: a program with underlined lines, shortened when it is long */
char *abbreviate(const char *text);

/* How the command talks, from its words on. */
typedef struct Speech {
  List words; /* all that was typed */
  const char *error_format, *dialect;
  bool help, help_all, full, no_code_cache, no_calibration, perf_map;
  bool targets;            /* --target=help */
  bool json;               /* --error-format=json */
  bool colour, colour_out; /* of standard error, of standard output */
  bool progress;           /* a terminal reads standard error */
} Speech;
extern Speech speech;

/* report.c */
void show_error(const tirc_error *e);
/* n bytes of a text that someone wrote: what is no text, or would steer a terminal, is shown as the
 * replacement character. */
void put_clean(FILE *to, const char *text, size_t n);
/* Likewise what something is called, wherever that comes from; it stays in its line. */
void put_name(FILE *to, const char *name);
char *shown_name(const char *name);
const char *plural(int64_t n); /* "s", or "" of one */
/* "[0.95, 1.02]", so wide and with so many digits behind the point (width 0: so many in all);
 * "[-, -]" where too few turns say nothing. */
enum { INTERVAL_TEXT = 64 };
const char *interval_text(char out[INTERVAL_TEXT], int width, int digits, double low, double high);
/* "1.23 ± 0.03": as many digits as the interval's larger half has, one, or two that begin with 1;
 * of too few turns two digits of the value alone. */
const char *rounded_text(char out[INTERVAL_TEXT], double value, double low, double high);
/* Whether it is a ScheduleError of a primitive, which has a page with an example. */
bool has_page(const char *code);
/* What --error-format=json prints of an error, as an object. */
struct json_object *error_json(const tirc_error *e);
/* Prints the error, frees it and gives the exit status. */
int report(tirc_error *e);
/* An error of the command itself: exit status 2. */
int complain(const char *hint, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The `warn` of tirc_schedule_options. */
void warn_about(void *self, const char *file, int line, int column, const char *message,
                const char *code);
const char *paint(const char *colour); /* "" when there are no colours */
#define BOLD "\033[1m"
#define RED "\033[1;31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define DIM "\033[2m"
#define RESET "\033[0m"

/* targets.c */
void print_targets(void);
bool check_target(const char *name); /* false after an unknown one was reported */
/* devices.c, watch.c: runs a command on what --device says, which is BAD when it is none: here, or
 * where a driver runs the kernels in a child, which is ended when one that it watches takes too
 * long; then that is said. Gives the command's status. `self` is the command's, and o in it. */
bool is_on_device(Device d);
bool find_device(Running *o);
int run_on_device(Running *o, int (*command)(void *self), void *self);
/* There: whether the kernels of a launch are watched from now on; each then ends before the next
 * one. */
void watch_launch(const Running *o, tirc_launch *launch, bool on);

/* making.c */
void print_aside(void *self, const char *text); /* what a script prints, to standard error */
tirc_schedule_options schedule_options(const Making *o);
/* DONE, or BAD after saying what does not go together: a schedule and --auto, --rules alone. */
int check_auto(const Making *o);
bool is_automatic(const Making *o); /* --auto, or --tuned, which falls back to it */
tirc_auto_options auto_options(const Making *o);
/* load.c: DONE, or the exit status after the error was reported */
int load_program(const Loading *o, const char *path, tirc_module **out);
/* From memory; `name` stands for the file in messages. */
int load_program_text(const Loading *o, const char *name, const char *text, size_t n,
                      tirc_module **out);
/* A whole file; "-" is standard input. */
int read_text(const char *path, char **text, size_t *n);
/* Warns of what is legal in it and hardly meant; an error with --strict. */
int check_program(const Making *o, const tirc_module *m);
/* With the given -D instead of the options'. */
int load_program_with(const Loading *o, const char *path, int n, const tirc_define *defines,
                      tirc_module **out);
/* Program args[0] as it is, once the options are known to go together. */
int load_checked(const Making *o, tirc_module **out);
/* That program scheduled as the options say; `unscheduled` (or NULL) gets m where there is a
 * schedule. Otherwise m goes, or is *out. */
int schedule_loaded(const Making *o, tirc_module *m, tirc_module **unscheduled, tirc_module **out);
/* Program args[0], scheduled by args[1] or --auto if there is one: then `unscheduled` (or NULL)
 * gets the first. */
int load_scheduled(const Making *o, tirc_module **unscheduled, tirc_module **out);
/* "a/b/rule_based.sch" -> "rule_based" */
char *path_stem(const char *path);
char *shown_stem(const char *path); /* the same as UTF-8, for tables and JSON */
/* playground.c: the playground's page: a file that is given, or the one that was built; *page NULL:
 * there is none, or "none" was given. DONE, or BAD after what went wrong was reported. */
int read_playground(const char *given, char **page);
/* output.c: DONE, or BAD after what went wrong was reported */
int write_output(const char *path, const char *bytes, size_t n);
/* Ends what begin_file or begin_output began at a path, keeping it only where the command's status
 * is DONE; gives the status, or BAD, which it explains. */
int end_output(const char *path, NewFile *to, int status);
/* Whether a file can be written, before long work and not after; NULL is no file. */
int check_output(const char *path);
/* A folder, and a file in it that was not there. */
int make_folder(const char *folder);
int write_into_folder(const char *folder, const char *name, const char *text);

/* run_files.c: arrays from and to .npy and .npz files; DONE, or the exit status after the error was
 * reported */
bool is_archive(const char *path);
/* What stands behind "NAME=" where it is for a parameter of this name, in the program or (not NULL)
 * in the file; NULL: it is for another. */
const char *value_of_name(const char *text, const char *name, const char *in_file);
const char *value_of_param(const char *text, const tirc_param *p);
int read_array_file(const tirc_param *p, const char *file, tirc_array **out);
/* Gives the parameters without an array those of the archives among --in. */
int read_archives(const Running *o, int n, const tirc_param *params, tirc_argument *args);
int write_array_files(const Running *o, int n, const tirc_param *params, const tirc_argument *args);

/* run_files.c: the values of a scalar parameter and of an extent, as text; DONE, or BAD after what
 * is wrong with them was reported */
int read_scalar(const tirc_param *p, const char *value, tirc_argument *out);
int read_extent(const char *value, tirc_symbol *out);

/* interrupt.c: from here on the first Ctrl-C is only noted, and the second one ends. */
void catch_interrupts(void);
bool was_interrupted(void);
bool may_go_on(void *self); /* it was not: for what asks now and then */
/* ranges.c: --range. Random elements for a parameter, number i of its function, drawn from where it
 * says; DONE or BAD. */
int fill_random(const Running *o, const tirc_param *p, int i, tirc_array *a);
/* The same for a model's weight: of two dimensions and more it is so small that sums keep the size
 * of their terms. */
int fill_weight(const Running *o, const tirc_param *p, int i, tirc_array *a);
/* DONE, or BAD after saying which --range is none, or is for no array of these, which are
 * of so many programs. */
int check_range_names(const Running *o, int n, const tirc_param *params, int programs);
/* All of them. */
int read_ranges(const Running *o, tirc_input_range **out);
/* reference.c: what a program, or one of its functions, should compute of args; func NULL: the only
 * one; max_steps 0: as many as it takes. NO, without a message, when it was interrupted. */
int make_reference(const tirc_module *m, const char *func, int n, const tirc_argument *args,
                   int64_t max_steps, tirc_reference **out);
/* DONE when they could be compared; *out says whether they are right. */
int compare_results(const tirc_reference *r, int n, const tirc_argument *got, tirc_check *out);
/* load.c: warns of what the code of this kind is otherwise than the module asks for. */
int check_code(const Making *o, const tirc_module *m, tirc_emit_kind kind);
/* Copies of the arrays (scalars as they are); false after an error was reported. */
bool copy_arguments(int n, const tirc_argument *from, tirc_argument *to);
/* relayout.c: parameters that a schedule gave another layout. Whether parameter i has one; */
bool is_relaid(const tirc_module *scheduled, int i);
/* array `from` copied into the layout after the schedule, or with `back` before it, with sizes that
 * their shapes may not tell; DONE or BAD */
int relayout_array(const tirc_module *scheduled, int i, bool back, tirc_array *from, tirc_array *to,
                   int n_sizes, const tirc_symbol *sizes);
/* and copies of the arrays of a scheduled module as the program `plain` takes them. */
int copy_back(const tirc_module *plain, const tirc_module *scheduled, int n,
              const tirc_argument *from, tirc_argument *to);
void free_arguments(int n, tirc_argument *args);
/* Arrays of random elements and numbers for all parameters of a module's only function, to be freed
 * even if it fails. given: NAME=VALUE for scalars and symbolic extents, which are small otherwise.
 */
bool small_arguments(const tirc_module *m, const List *given, int *n, tirc_argument **out,
                     tirc_error **e);
/* The value that is given for a name. */
int64_t instance_value(const List *given, const char *name, int64_t otherwise);

/* wrap.c: text in lines of the terminal's width; where none reads it, of less than 100 columns. The
 * cursor is in `column`, and the lines after the first begin at `indent`. */
int text_width(FILE *to);  /* columns of a line */
bool is_wrapped(FILE *to); /* a terminal reads it */
void put_wrapped(FILE *to, int column, int indent, const char *text);
void print_wrapped(int column, const char *text);
/* "  name    text" with the text at `column`; print_row: on standard output, at 33. */
void put_row(FILE *to, int column, const char *name, const char *text);
void print_row(const char *name, const char *text);
/* Paragraphs, in a little Markdown, that are wrapped on a terminal only: */
void put_text(FILE *to, int indent, bool colour, const char *text);

#endif

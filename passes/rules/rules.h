/* Schedules that nobody writes: rules are tried on each function of a program until one takes it.
 *
 * A library of rules is a script that ends with `rules = [f, g, ...]`, in the order in which they
 * are tried. It is run once, without the program's own names; what it may import are scripts beside
 * it and the embedded libraries. A rule is called with the schedule and a function's name. It
 * schedules the function and returns True, or returns False; because("...") says why it does
 * either, and is kept with the calls that follow. What a rule did that returns False or raises is
 * undone: program, handles and trace are as before.
 *
 * Before rules look at a function, `forms = [f, g, ...]` bring it into the form that they know:
 * each of them is called in the same way, and what it did stays unless it returns False or raises.
 * Raising is a warning. The embedded libraries have such a list, in whose place comes that of a
 * library of one's own. So they may have `hints = [f, g, ...]`, of the schedule and a block that no
 * rule took: the first that returns words says what its author can do, in the warning. And
 * `slow = [f, g, ...]`, of the schedule and a block that a rule took: one that returns words says
 * what the block still lacks, and that is a warning, too. `ends = [f, g, ...]` are
 * called as the forms are, of a function that a rule took. Each of these lists of a library of
 * one's own stands in the place of the embedded one.
 */
#ifndef TIRC_RULES_RULES_H
#define TIRC_RULES_RULES_H

#include "passes/script/script.h"

typedef struct Rule {
  const char *name;
  Value function;
} Rule;
typedef struct Rules {
  Rule *at;
  int n, cap;
} Rules;

/* Appends the functions of two arguments of the list that the library at `path` calls `list`, but
 * for those whose names are among `out` already. needed: it is an error that there is no such list;
 * otherwise false. To be called within the limits of the script. */
bool tirc_rules_read(Script *sc, const char *path, const char *list, bool needed, Rules *out);
/* The functions of a list, "forms" or "ends", of the library at `own` (NULL: none), or else those
 * of the embedded one. */
void tirc_forms_read(Script *sc, const char *own, const char *embedded, const char *list,
                     Rules *out);
/* Brings a function of the script's schedule into these forms. To be called within its limits.
 * True: its parameters have other shapes now, and tirc_leave_forms is to follow the rules. */
bool tirc_bring_into_forms(Script *sc, const Rules *forms, const char *func);
/* Gives them back the shapes that callers know. */
void tirc_leave_forms(Script *sc, const char *func);

/* Rules look at each block some times: where the caller sets no limits of steps and memory, theirs
 * grow with the number of blocks. To be called before they are. */
void tirc_rules_give_limits(Script *sc, const ScriptLimits *limits);

/* Hears of each rule that was tried on a function. reason: in words, or NULL. rule NULL: none of
 * them took it. */
typedef struct RuleListener {
  void (*tried)(void *self, const char *func, const char *rule, bool took, const char *reason);
  void *self;
} RuleListener;

/* Tries the rules of the library at `path` (NULL: none), and then those of the embedded library
 * of the target's kind that have no name of these. Afterwards the schedule's trace is without the
 * calls that only looked. A function that no rule takes is left as it is, with a warning. Throws
 * what is wrong with a library, and limits that a rule runs into. listener may be NULL. */
void tirc_auto_schedule(Sched *s, const char *path, const ScriptLimits *limits,
                        void (*out)(void *self, const char *text), ScriptObserver observer,
                        void *self, const RuleListener *listener);

#endif

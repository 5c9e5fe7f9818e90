/* The phases in their order, each with its passes. */
#include "pipeline.h"

#include "ir/nearest.h"
#include "ir/tree/copy.h"
#include "ir/tree/verify.h"
#include "passes.h"
#include "passes/script/library.h"

#include <stdlib.h>

enum {
#define PHASE(name, help) PHASE_##name,
#define PASS(phase, function, name, help)
#define SCRIPT(phase, file, name, help)
#include "phases.def"
#undef PASS
#undef SCRIPT
#undef PHASE
};

const Phase tirc_phases[] = {
#define PHASE(name, help) {#name, help},
#define PASS(phase, function, name, help)
#define SCRIPT(phase, file, name, help)
#include "phases.def"
#undef PASS
#undef SCRIPT
#undef PHASE
};
const int tirc_n_phases = (int)(sizeof tirc_phases / sizeof *tirc_phases);

const ModulePass tirc_module_passes[] = {
#define PHASE(name, help)
#define PASS(phase, function, name, help) {PHASE_##phase, name, help, tirc_pass_##function, NULL},
#define SCRIPT(phase, file, name, help) {PHASE_##phase, name, help, NULL, file},
#include "phases.def"
#undef PASS
#undef SCRIPT
#undef PHASE
};
const int tirc_n_module_passes = (int)(sizeof tirc_module_passes / sizeof *tirc_module_passes);

int tirc_find_phase(const char *name) {
  char *end;
  const long number = strtol(name, &end, 10);
  if (*name && !*end) return number >= 0 && number < tirc_n_phases ? (int)number : -1;
  for (int i = 0; i < tirc_n_phases; i++)
    if (strcmp(tirc_phases[i].name, name) == 0) return i;
  return -1;
}

static bool is_skipped(const Passes *p, const char *name) {
  for (int i = 0; i < p->options.n_skip; i++)
    if (strcmp(p->options.skip[i], name) == 0) return true;
  return false;
}

static void check_skipped(Passes *p, const char *name) {
  const char **all = tirc_new_array(p->c, const char *, tirc_n_module_passes);
  bool known = false;
  for (int i = 0; i < tirc_n_module_passes; i++) {
    all[i] = tirc_module_passes[i].name;
    known |= strcmp(all[i], name) == 0;
  }
  if (known) return;
  const char *nearest = tirc_nearest(p->c, name, tirc_n_module_passes, all);
  tirc_fail(p->c, (Loc){0}, CODE_NAME,
            nearest ? tirc_format(p->c, "%s `tirc explain passes` lists them", nearest)
                    : "`tirc explain passes` lists them",
            "there is no pass '%s'", name);
}

/* "PHASE:FILE": the phase's number; *file is what stands behind the colon. */
static int phase_of_extra(Passes *p, const char *text, const char **file) {
  const char *colon = strchr(text, ':');
  const char *name = colon ? tirc_strndup(p->c, text, (size_t)(colon - text)) : text;
  const int phase = colon ? tirc_find_phase(name) : -1;
  if (phase < 0 || !colon[1])
    tirc_fail(p->c, (Loc){0}, CODE_NAME, "PHASE:FILE, as in schedule:mine.sch; tirc explain passes",
              colon ? "there is no phase '%s'" : "'%s' names no phase", name);
  *file = colon + 1;
  return phase;
}

Passes *tirc_passes_open(Tirc *c, const PipelineOptions *options) {
  Passes *p = tirc_new(c, Passes);
  p->c = c;
  if (options) p->options = *options;
  p->unscheduled = p->options.unscheduled;
  const char *file;
  for (int i = 0; i < p->options.n_skip; i++) check_skipped(p, p->options.skip[i]);
  for (int i = 0; i < p->options.n_extra; i++) phase_of_extra(p, p->options.extra[i], &file);
  return p;
}

const Module *tirc_finish_module(Tirc *c, const Module *m, const Module *unscheduled) {
  Passes *p = tirc_passes_open(c, &(PipelineOptions){.unscheduled = unscheduled});
  return tirc_pass_split_packing(p, tirc_pass_init_empty(p, m));
}

/* A pass that leaves what is no module any more is a defect, and is named. */
static const Module *checked(Passes *p, const char *name, const Module *to) {
  Trap trap;
  if (TIRC_TRY(p->c, trap)) {
    tirc_verify(p->c, to);
    TIRC_END(p->c, trap);
    return to;
  }
  p->c->diag.message = tirc_format(p->c, "after the pass %s: %s", name, p->c->diag.message);
  tirc_throw(p->c);
}

static const Module *run_extra(Passes *p, const Module *m, int phase) {
  const char *file;
  for (int i = 0; i < p->options.n_extra; i++) {
    if (phase_of_extra(p, p->options.extra[i], &file) != phase) continue;
    m = checked(p, file, tirc_script_pass(p, m, file));
    if (p->options.after) p->options.after(p->options.self, phase, file, m);
  }
  return m;
}

const Module *tirc_run_phase(Passes *p, const Module *m, int phase, size_t enough, int *next) {
  void (*after)(void *, int, const char *, const Module *) = p->options.after;
  bool ran = false; /* a pass: each call gets further */
  tirc_reserve_block_ids(p->c, m);
  if (phase == 0 && *next == 0) m = tirc_infer(p, m);
  for (int i = *next; i < tirc_n_module_passes; i++) {
    const ModulePass *pass = &tirc_module_passes[i];
    if (pass->phase != phase || is_skipped(p, pass->name)) continue;
    if (enough && ran && p->c->bytes > enough) {
      *next = i;
      return m;
    }
    m = checked(p, pass->name,
                pass->run ? pass->run(p, m)
                          : tirc_script_pass(p, m, tirc_pass_library_path(p->c, pass->script)));
    if (after) after(p->options.self, phase, pass->name, m);
    ran = true;
  }
  m = run_extra(p, m, phase);
  if (after) after(p->options.self, phase, NULL, m);
  *next = 0;
  return m;
}

const Module *tirc_run_phases(Passes *p, const Module *m, int first, int last) {
  for (int phase = first; phase <= last && phase < tirc_n_phases; phase++)
    m = tirc_run_phase(p, m, phase, 0, &(int){0});
  return m;
}

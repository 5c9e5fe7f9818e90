/* `tirc bench`: every setting of the suite or of the -D lists, every number of threads, every
 * contender; tables, and figures as JSON. */
#include "bench.h"
#include "blocks.h"
#include "ir/cpu.h"
#include "tools/kit/input.h"
#include "tools/kit/model.h"

#include <stdlib.h>
#include <string.h>

/* "1,2": the numbers of threads. */
static int read_threads(Bench *b) {
  const char *p = b->how.threads ? b->how.threads : "0";
  tirc_error *e = NULL;
  b->threads = tirc_alloc_array(memory, strlen(p) + 1, sizeof *b->threads);
  for (;; p++) {
    char *end;
    long n = strtol(p, &end, 10);
    if (end == p || n < 0 || (*end && *end != ','))
      return complain("write --threads 1,2", "--threads takes numbers, not '%s'", b->how.threads);
    if (n > MOST_THREADS)
      return complain(NULL, "tirc bench: --threads is at most %d, not %ld", MOST_THREADS, n);
    struct Threads *t = &b->threads[b->n_threads];
    if (tirc_executor_new((int)n, &t->executor, &e)) return report(e);
    t->threads = tirc_executor_threads(t->executor);
    b->n_threads++;
    p = end;
    if (!*p) return DONE;
  }
}

enum { MOST_RIVALS = sizeof((Bench *)0)->rivals / sizeof *((Bench *)0)->rivals };

bool open_rival(Bench *b, const Rival *r) {
  const char *why = NULL;
  struct Opened *opened = &b->rivals[b->n_rivals];
  if (b->n_rivals == MOST_RIVALS) return true;
  opened->rival = r;
  if (r->open(b, opened->kernels, sizeof opened->kernels, &why)) return b->n_rivals++, true;
  fprintf(stderr, "%s is left out: %s; on Debian: %s\n", r->name, why, r->install);
  return false;
}

/* Those that can be used. */
static int open_rivals(Bench *b) {
  for (const char *p = b->how.vs; p && *p;) {
    size_t n = strcspn(p, ",");
    const Rival *r = find_rival(p, n);
    if (!r)
      return complain(NULL, "--vs knows openblas, onednn, onednn-prepacked and c, not '%.*s'",
                      (int)n, p);
    if (b->n_rivals == MOST_RIVALS) return complain(NULL, "--vs names too many");
    (void)open_rival(b, r);
    p += n + (p[n] == ',');
  }
  return DONE;
}

int open_bench(Bench *b) {
  tirc_error *e = NULL;
  const char *target = b->how.device ? "native" : b->how.target;
  if (tirc_target_find(tirc_cpu_or_default(target), &b->target, &e)) return report(e);
  const int status = read_threads(b);
  return status == DONE ? read_backends(b) : status;
}

void close_bench(Bench *b) {
  free_cases(b);
  for (int i = 0; i < b->n_threads; i++) tirc_executor_free(b->threads[i].executor);
  tirc_counters_close(&b->counters);
}

/* --- contenders ------------------------------------------------------------------------------- */

static const char tuned[] = "tuned"; /* as a path: --tuned */

/* path NULL: --auto. "goto", or "goto/jit" and "goto/c" where there are several backends. */
static void plan_script(Bench *b, const char *path) {
  const char *name = path ? shown_stem(path) : "auto";
  for (int i = 0; i < b->n_backends; i++) {
    const struct Backend *by = &b->backends[i];
    *one_more(b->planned, b->n_planned) =
        (Contender){.name = b->n_backends > 1 ? tirc_format(memory, "%s/%s", name, by->name) : name,
                    .script = path ? path : "auto",
                    .automatic = !path,
                    .tuned = path == tuned,
                    .compiler = *by->compiler ? by->compiler : NULL};
  }
}

/* The scripts, or the one to ablate whole and without each rule, or the program of a suite as it
 * is and by --auto; then the rivals. */
static int plan_contenders(Bench *b) {
  const List *args = &b->o->make.from.args;
  int status = DONE;
  if (b->of_programs)
    *one_more(b->planned, b->n_planned) = (Contender){.name = "unscheduled", .plain = true};
  if (b->how.ablate) {
    plan_script(b, b->how.ablate);
    status = plan_rules(b, b->how.ablate);
  } else {
    for (int i = 1; i < args->n && !b->of_programs; i++) plan_script(b, args->at[i]);
    if (b->o->make.automatic || b->of_programs) plan_script(b, NULL);
    if (b->how.tuned) plan_script(b, tuned);
  }
  for (int i = 0; i < b->n_rivals; i++)
    *one_more(b->planned, b->n_planned) =
        (Contender){.name = b->rivals[i].rival->name, .rival = b->rivals[i].rival};
  return status;
}

static int start(Bench *b, const char *suite) {
  int status = open_bench(b);
  if (status == DONE) status = open_rivals(b);
  if (status == DONE) status = make_cases(b, suite);
  if (status == DONE && !b->planned) status = plan_contenders(b);
  if (status != DONE) return status;
  profile_machine(&b->profile);
  print_profile(b);
  if (ceiling_bits(b))
    fprintf(b->out,
            "ceilings, with vectors of %d bits: FMA (the program's float operations, in registers "
            "only), bandwidth (each array parameter read or written once)\n",
            ceiling_bits(b));
  else
    fprintf(b->out, "ceilings not available: the processor has no AVX2 and FMA\n");
  for (int i = 0; i < b->n_backends; i++)
    if (*b->backends[i].compiler)
      fprintf(b->out, "%s: %s -O3 -march=%s\n", b->backends[i].name, b->backends[i].compiler,
              b->target.name);
  for (int i = 0; i < b->n_rivals; i++)
    fprintf(b->out, "%s: %s\n", b->rivals[i].rival->name, b->rivals[i].kernels);
  return DONE;
}

/* Before hours of measuring, not after. */
static int require_base(const char *name, const Case *k) {
  for (int i = 0; name && i < k->n_contenders; i++)
    if (strcmp(k->contenders[i].name, name) == 0) return DONE;
  return name ? no_base(name) : DONE;
}

/* Of each schedule that was measured. */
static int time_blocks_of(Bench *b, Case *k) {
  int status = DONE;
  for (int i = 0; i < k->n_contenders && status == DONE && !was_interrupted(); i++) {
    Contender *c = &k->contenders[i];
    const tirc_module *m = c->plain ? k->program : c->relaid ? c->relaid : c->scheduled;
    BlockTimes *t = NULL;
    if (!m || c->f.median <= 0 || c->compiler || c->ahead) continue;
    status = time_blocks(m, NULL, b->how.target, k->executor, b->how.seconds, k->n_params,
                         contender_arguments(k, c), &t);
    if (status == DONE) c->blocks = block_times_json(t);
    if (status == DONE) fprintf(b->out, "\n%s, ", c->name);
    if (status == DONE) put_block_times(b->out, t);
    free_block_times(t);
  }
  return status;
}

/* base: what is compared with in the plot, or NULL. */
static int run_cases(Bench *b, const char *base) {
  int status = DONE;
  catch_interrupts();
  b->started = tirc_seconds();
  for (int i = 0; i < b->n_cases && status == DONE && !was_interrupted(); i++) {
    Case *k = &b->cases[i];
    status = prepare_case(b, k);
    if (status == DONE && i == 0) status = require_base(base, k);
    if (status == DONE && !was_interrupted()) {
      measure_case(b, k);
      store_case(b, k); /* what is shown is stored */
      print_case(b, k);
      if (b->how.blocks) status = time_blocks_of(b, k);
    }
    release_case(k);
  }
  if (was_interrupted() && status == NO) status = DONE; /* with what there is */
  if (was_interrupted())
    fprintf(b->out, "\nInterrupted: %d of %d settings, the last one perhaps in part\n",
            b->n_measured, b->n_cases);
  return status;
}

static bool measured_any(const Bench *b) {
  for (int i = 0; b->n_measured && i < b->cases[0].n_contenders; i++)
    if (!b->cases[0].contenders[i].ceiling && was_measured(b, NULL, 0, i)) return true;
  return false;
}

static int draw(const Bench *b, const BenchOptions *o) {
  Chart c;
  chart_of(b, &c);
  const int status = choose_base(&c, o->against);
  return status == DONE ? write_plot(&c, o->plot) : status;
}

/* What the options ask for beside the tables. */
static int put_files(const Bench *b, const BenchOptions *o, bool any) {
  int status = DONE;
  if (o->figures) status = write_figures(b, o->figures);
  if (status == DONE && o->plot && any) status = draw(b, o);
  return status;
}

/* On what the program runs. */
static void take_device(Bench *b) {
  b->how.target = b->o->make.from.target;
  b->how.device = b->o->device == DEVICE_CPU ? NULL : b->o->device_name;
  b->how.ahead = !b->how.ablate && !b->how.device;
}

/* o: what is asked for beside the tables, or NULL. */
static int measure(Bench *b, const BenchOptions *o) {
  int status = b->how.counters ? start_counters(b) : DONE;
  if (status == DONE) status = start(b, o ? o->suite : NULL);
  if (status == DONE && b->how.database) status = open_store(b);
  if (status == DONE) status = run_cases(b, o && o->plot ? o->against : NULL);
  const bool any = measured_any(b);
  if (status == DONE && b->how.ablate) print_ablation(b);
  if (status == DONE && !b->how.ablate && any) print_summary(b);
  if (status == DONE && o) status = put_files(b, o, any);
  if (status == DONE && (b->wrong || was_interrupted())) status = NO;
  if (status == DONE && !any) {
    complain("what is skipped or left out is listed above, with the reason",
             "no contender could be measured");
    status = NO;
  }
  const int stored = close_store(b);
  return stored == DONE ? status : stored;
}

int bench_contenders(const Running *o, const Manner *how, int n, Contender *planned, double *best) {
  Bench b = {.o = o, .how = *how, .out = stdout, .n_planned = n, .planned = planned};
  take_device(&b);
  const int status = measure(&b, NULL);
  for (int i = 0; best && i < n; i++) best[i] = 0;
  for (int i = 0; best && b.n_measured && i < b.cases[0].n_contenders; i++)
    for (int k = 0; k < n; k++)
      if (strcmp(b.cases[0].contenders[i].name, planned[k].name) == 0)
        best[k] = b.cases[0].contenders[i].f.fastest;
  close_bench(&b);
  return status;
}

static bool begins_line(const char *text, const char *at) {
  while (at > text && (at[-1] == ' ' || at[-1] == '\t')) at--;
  return at == text || at[-1] == '\n';
}

/* Whether the program says that it has a graph. Its -D may be lists, so it is not read as one. */
static bool is_model(const List *args) {
  const char *path = args->n ? args->at[0] : "-";
  if (is_onnx(path)) return true;
  FILE *f = strcmp(path, "-") == 0 ? NULL : fopen(path, "rb");
  char *text = f ? read_to_end(f, 1 << 28, NULL) : NULL;
  const char *at = text;
  while (at && (at = strstr(at, "@R.function")) && !begins_line(text, at)) at++;
  const bool found = at != NULL;
  if (f) fclose(f);
  return found;
}

/* What is about the processor. */
static int check_for_device(const BenchOptions *o) {
  if (o->run.device == DEVICE_CPU) return DONE;
  if (o->run.device == DEVICE_EMULATE)
    return complain("tirc run --device emulate", "the emulator of a GPU has no speed to measure");
  const char *what = o->how.database                                 ? "--store"
                     : o->how.tuned                                  ? "--tuned"
                     : o->how.backend                                ? "--backend"
                     : o->how.counters                               ? "--counters"
                     : o->profile                                    ? "--profile"
                     : !o->suite && is_model(&o->run.make.from.args) ? "a model"
                                                                     : NULL;
  return what
             ? complain("leave one of them out", "%s is for the processor, and not for --device %s",
                        what, o->run.device_name)
             : DONE;
}

static int bench(void *options) {
  BenchOptions *o = options;
  const List *args = &o->run.make.from.args;
  if (o->compare) return compare_files(args);
  if (o->write) return write_suite(o->suite, o->write);
  if (o->how.ablate && args->n > 1)
    return complain(NULL, "usage: tirc bench PROG --ablate SCHED, without further schedules");
  if (check_auto(&o->run.make) != DONE || check_for_device(o) != DONE) return BAD;
  if (o->how.ablate && o->run.make.automatic)
    return complain("leave one of them out", "--ablate measures one schedule, without --auto");
  const bool of_model = !o->suite && is_model(args);
  if (o->profile && *o->profile && check_profile_word(o->profile, of_model) != DONE) return BAD;
  if (o->profile && !*o->profile && !of_model)
    return complain("--profile=blocks shows the blocks of a program's function",
                    "--profile shows the functions of a model, and this is none");
  if (of_model) return bench_model(o);
  if (o->run.in.n)
    return complain("give the extents of a program by -D NAME=N",
                    "--in is for a model, and this is none");
  Bench b = {.o = &o->run,
             .how = o->how,
             .out = o->figures && strcmp(o->figures, "-") == 0 ? stderr : stdout};
  if (!o->suite && !has_contenders(&b)) return usage_of_bench();
  b.how.blocks = o->profile != NULL;
  take_device(&b);
  int status = check_plot(o->plot);
  if (status == DONE) status = check_output(o->figures);
  if (status != DONE) return status;
  status = measure(&b, o);
  close_bench(&b);
  return status;
}

int cmd_bench(BenchOptions *o) { return run_on_device(&o->run, bench, o); }

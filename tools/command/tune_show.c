#include "tune_show.h"

#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *time_text(double seconds, char *out, size_t size) {
  if (isfinite(seconds))
    snprintf(out, size, seconds < 1e-5 ? "%.3g ms" : "%.4f ms", seconds * 1e3);
  else
    snprintf(out, size, "-");
  return out;
}

const char *gain_text(double automatic, double best, char *out, size_t size) {
  if (isfinite(automatic) && isfinite(best))
    snprintf(out, size, "%.2f", automatic / best);
  else
    snprintf(out, size, "-");
  return out;
}

/* --- the ceiling ------------------------------------------------------------------------------ */

/* At its best: what disturbs a few calls would make a low ceiling, and so would a clock that is yet
 * to rise. */
static double time_ceiling(const Case *k, const Ceiling *c) {
  enum { CALLS = 8 };
  static const double warm = 0.05; /* seconds */
  const double begun = tirc_seconds();
  double best = (double)INFINITY, end = begun;
  for (int i = 0; i < CALLS || end - begun < warm; i++) {
    const double start = tirc_seconds();
    c->run(k);
    end = tirc_seconds();
    best = fmin(best, end - start);
  }
  return best;
}

int measure_ceiling(Bench *b, Case *k, TuneRow *row) {
  k->contenders = tirc_alloc_array(memory, N_CEILINGS, sizeof *k->contenders);
  if (!ceiling_bits(b)) return DONE;
  int status = make_arrays(b, k);
  if (status == DONE) status = count_cost(k);
  if (status == DONE) add_ceilings(b, k);
  for (int i = 0; i < k->n_contenders && status == DONE; i++) {
    Contender *c = &k->contenders[i];
    status = prepare_ceiling(k, c);
    const double seconds = status == DONE && !c->skipped ? time_ceiling(k, c->ceiling) : 0;
    if (seconds > row->ceiling)
      row->ceiling = seconds, row->binds = ceiling_names[c->ceiling->kind];
  }
  release_arrays(k);
  return status;
}

/* --- the table -------------------------------------------------------------------------------- */

static int name_width(const TuneTable *t) {
  int width = (int)strlen("program");
  for (int i = 0; i < t->n; i++)
    if ((int)strlen(t->rows[i].name) > width) width = (int)strlen(t->rows[i].name);
  return width < 48 ? width : 48;
}

static void put_row_of(const TuneRow *r, int width) {
  char best[32], gain[16], share[16] = "-";
  if (r->ceiling > 0 && isfinite(r->best))
    snprintf(share, sizeof share, "%.0f %%", 100 * r->ceiling / r->best);
  char *name = shown_name(r->name);
  fprintf(stderr, "%-*.*s %7lld %14s %8s %8s %7lld\033[K\n", width, width, name ? name : "",
          (long long)r->trials, time_text(r->best, best, sizeof best), share,
          gain_text(r->automatic, r->best, gain, sizeof gain), (long long)r->failed);
}

/* So many tasks fit below each other; the others around the one that is measured are left out. */
static int shown_rows(const TuneTable *t) {
  struct winsize size = {0};
  const int lines = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row ? size.ws_row : 24;
  const int most = lines > 6 ? lines - 4 : 2;
  return t->n < most ? t->n : most;
}

void clear_table(TuneTable *t) {
  if (t->drawn) fprintf(stderr, "\033[%dA\r\033[J", t->drawn);
  t->drawn = 0;
}

static void draw(TuneTable *t, const tirc_tune_event *e) {
  const int width = name_width(t), n = shown_rows(t);
  int first = e->task - n / 2;
  if (first > t->n - n) first = t->n - n;
  if (first < 0) first = 0;
  if (t->drawn) fprintf(stderr, "\033[%dA\r", t->drawn);
  fprintf(stderr, "%-*s %7s %14s %8s %8s %7s\033[K\n", width, "program", "trials", "best",
          "ceiling", "x auto", "failed");
  for (int i = first; i < first + n; i++) put_row_of(&t->rows[i], width);
  fprintf(stderr, "%lld trials in %.0f s%s\033[K\n", (long long)e->trials, e->elapsed,
          n < t->n ? "; not all programs are shown" : "");
  t->drawn = n + 2;
}

static bool is_hopeless(const tirc_tune_event *e) {
  return e->code && strcmp(e->code, TIRC_HOPELESS) == 0;
}

static void print_trial(FILE *out, const TuneRow *r, const tirc_tune_event *e) {
  fprintf(out, "trial %lld ", (long long)e->trial);
  put_name(out, r->name);
  fputc(' ', out);
  put_name(out, e->way);
  char time[32];
  if (e->code) {
    fputs(is_hopeless(e) ? " " : " failed ", out);
    put_name(out, e->code);
    fputs(": ", out);
    put_name(out, e->message);
    fputc('\n', out);
  } else {
    fprintf(out, " %s%s\n", time_text(e->seconds, time, sizeof time), e->is_best ? " best" : "");
  }
  fflush(out);
}

void show_trial(TuneTable *t, const tirc_tune_event *e) {
  TuneRow *r = &t->rows[e->task];
  r->trials = e->trial;
  r->failed += e->code && !is_hopeless(e);
  r->best = e->best;
  r->automatic = e->automatic;
  if (speech.progress)
    draw(t, e);
  else
    print_trial(t->out, r, e);
}

/* The tiles of schedules of products, and their working sets: of a step of the innermost tiles a
 * strip of A, TM x TK, one of B, TK x TN, and a tile of C, TM x TN, in bytes and as a part of the
 * L1 cache. */
#include "report.h"

#include "tools/records/nest_facts.h"

#include <string.h>

/* Its axes in the order of the program: two of the result, then that of the sum. */
static bool is_product(const Facts *f) {
  return f->n_axes == 3 && !f->axes[0].reduction && !f->axes[1].reduction && f->axes[2].reduction;
}

/* What a scheduled program comes to. */
static bool facts_of(const tirc_module *plain, const tirc_module *scheduled, Facts *out) {
  char *program = NULL, *trace = NULL;
  const bool ok = !tirc_module_print(plain, &program, NULL) &&
                  !tirc_module_trace(scheduled, TIRC_TRACE_JSON, &trace, NULL) &&
                  !read_facts(program, trace, out, NULL);
  tirc_string_free(program);
  tirc_string_free(trace);
  return ok;
}

bool tiles_of(const tirc_module *plain, const tirc_module *scheduled, Tiles *out) {
  Facts f = {0};
  if (!facts_of(plain, scheduled, &f)) return false;
  const bool ok = is_product(&f);
  if (ok)
    *out = (Tiles){.m = f.axes[0].tile,
                   .n = f.axes[1].tile,
                   .k = f.axes[2].tile,
                   .vector_width = f.vector_width};
  free_facts(&f);
  return ok;
}

static bool same_tiles(const Tiles *a, const Tiles *b) {
  return a->m == b->m && a->n == b->n && a->k == b->k && a->vector_width == b->vector_width;
}

static bool read_tiles(const Study *s, const Ground *g, Case *k, int plan, Tiles *out) {
  const Held *h = held(s, g, k, plan);
  const tirc_schedule_options options = {.target = g->b.how.target};
  tirc_module *m = NULL;
  if (!h || !h->r.schedule || h->r.code || load_case(&g->b, k) != DONE) return false;
  const bool ok = !tirc_module_schedule_text(k->program, h->r.schedule, strlen(h->r.schedule),
                                             s->plans.at[plan].what.script, &options, &m, NULL) &&
                  tiles_of(k->program, m, out);
  tirc_module_free(m);
  release_samples(k);
  return ok;
}

/* --- in the report ---------------------------------------------------------------------------- */

static void put_bytes(Doc *d, int64_t elements) { doc_cell(d, "%lld", (long long)(4 * elements)); }

static void put_tile_row(Page *p, const Ground *g, const char *contender, const char *settings,
                         const Tiles *t) {
  const int64_t used = 4 * (t->m * t->k + t->k * t->n + t->m * t->n);
  doc_cell(&p->d, "%s", contender);
  doc_cell(&p->d, "%s", settings);
  doc_cell(&p->d, "%lld", (long long)t->m);
  doc_cell(&p->d, "%lld", (long long)t->n);
  doc_cell(&p->d, "%lld", (long long)t->k);
  doc_cell(&p->d, "%lld", (long long)t->vector_width);
  put_bytes(&p->d, t->m * t->k);
  put_bytes(&p->d, t->k * t->n);
  put_bytes(&p->d, t->m * t->n);
  if (g->b.profile.l1 > 0)
    doc_cell(&p->d, "%.0f %%", 100 * (double)used / (double)g->b.profile.l1);
  else
    doc_cell(&p->d, "?");
}

/* "8 in 20, 16 in 4" */
static void put_widths(Page *p, const char *contender, const Tiles *tiles, const bool *known,
                       int n) {
  char text[256] = "";
  for (int i = 0; i < n; i++) {
    int count = 0;
    bool first = known[i];
    for (int j = 0; j < n; j++) {
      const bool same = known[i] && known[j] && tiles[i].vector_width == tiles[j].vector_width;
      if (same && j < i) first = false;
      count += same;
    }
    if (first && strlen(text) < sizeof text - 40)
      snprintf(text + strlen(text), sizeof text - strlen(text), "%s%lld in %d", *text ? ", " : "",
               (long long)tiles[i].vector_width, count);
  }
  doc_cell(&p->d, "%s", contender);
  doc_cell(&p->d, "%s", *text ? text : "-");
}

typedef struct Chosen { /* by one contender, in each setting */
  Tiles *tiles;
  bool *known;
} Chosen;

static Chosen choose_tiles(const Study *s, const Ground *g, int plan) {
  const Bench *b = &g->b;
  const int threads = b->threads[b->n_threads - 1].threads;
  Chosen c = {tirc_alloc_array(memory, (size_t)b->n_cases, sizeof *c.tiles),
              tirc_alloc_array(memory, (size_t)b->n_cases, sizeof *c.known)};
  for (int i = 0; c.tiles && c.known && i < b->n_cases; i++)
    c.known[i] =
        b->cases[i].at.threads == threads && read_tiles(s, g, &b->cases[i], plan, &c.tiles[i]);
  return c;
}

/* Settings with the same tiles are one row. */
static void put_tiles_of(Page *p, const Ground *g, int plan, const Chosen *c) {
  const Bench *b = &g->b;
  bool *open = tirc_alloc_array(memory, (size_t)b->n_cases, sizeof *open);
  if (open && c->known) memcpy(open, c->known, (size_t)b->n_cases * sizeof *open);
  for (int i = 0; open && c->tiles && i < b->n_cases; i++) {
    char settings[400] = "", one[128];
    const char *kernel = "";
    for (int j = i; open[i] && j < b->n_cases; j++) {
      if (!open[j] || !same_tiles(&c->tiles[i], &c->tiles[j])) continue;
      const bool first = strcmp(b->cases[j].at.kernel, kernel) != 0;
      kernel = b->cases[j].at.kernel;
      short_setting(b, &b->cases[j], one, sizeof one);
      snprintf(settings + strlen(settings), sizeof settings - strlen(settings), "%s%s%s%s",
               *settings ? ", " : "", first ? kernel : "", first && *one ? " " : "", one);
      if (j > i) open[j] = false;
    }
    if (open[i]) put_tile_row(p, g, p->s->plans.at[plan].what.name, settings, &c->tiles[i]);
  }
}

static bool is_named(const Study *s, const Names *names, int plan) {
  for (int i = 0; i < names->n; i++)
    if (find_plan(s, names->at[i]) == plan) return true;
  return !names->n && !s->plans.at[plan].ceiling;
}

static void put_tile_table(Page *p, const Ground *g, const Figure *t) {
  const Study *s = p->s;
  Chosen *all = tirc_alloc_array(memory, (size_t)s->plans.n, sizeof *all);
  for (int i = 0; all && i < s->plans.n; i++)
    if (is_named(s, &t->of, i)) all[i] = choose_tiles(s, g, i);
  doc_table(&p->d, "contender|settings|TM|TN|TK|vector|A strip|B strip|C tile|of L1", 0x3fcu);
  for (int i = 0; all && i < s->plans.n; i++)
    if (all[i].tiles) put_tiles_of(p, g, i, &all[i]);
  doc_end_table(&p->d);
  doc_text(&p->d, "Iterations in the vector loop, and in how many settings:");
  doc_table(&p->d, "contender|vector", 0);
  for (int i = 0; all && i < s->plans.n; i++) {
    if (all[i].tiles && all[i].known)
      put_widths(p, s->plans.at[i].what.name, all[i].tiles, all[i].known, g->b.n_cases);
  }
  doc_end_table(&p->d);
}

void put_tiles(Page *p) {
  const Study *s = p->s;
  for (int i = 0; i < s->tile_tables.n; i++) {
    const Figure *t = &s->tile_tables.at[i];
    doc_heading(&p->d, 2, t->title);
    doc_text(&p->d,
             "Elements of a tile below the outermost loop of the sum, and bytes of the strips of A "
             "(TM x TK) and B (TK x TN) and of the tile of C (TM x TN) that a step works on; all "
             "three as a share of the L1 cache.");
    put_tile_table(p, &s->grounds[0], t);
    if (t->note) doc_text(&p->d, "%s", t->note);
  }
}

/* Programs that are kernels already: loops over blocks and threads around statements and blocks and
 * inside of them, temporaries of all scopes, conditions and bounds that are loaded, tails of every
 * size, and a loop of the host around it, whose allocations grow. Half of them are loops without
 * threads, with a schedule that binds them, computes one stage at the other, and chooses scopes.
 *
 * Most are wrong kernels: lowering must refuse those, for what it accepts is run. Threads run side
 * by side, statement by statement: programs that compute something else when the loops over threads
 * run in other orders are drawn again. */
#include "fuzz_code.h"

#include <stdarg.h>

enum { MOST_TEMPS = 3, MOST_SERIAL = 4 };

/* What the variables of loops over threads are called until their order is chosen. */
#define B "\1"
#define T "\2"
#define Y "\3"

typedef struct Temp {
  const char *name, *scope;
  int size;
  bool loaded, stored; /* in the nest over threads around here */
} Temp;

typedef struct Kernel {
  Draft *g;
  int blocks, threads, rows; /* extents of blockIdx.x, threadIdx.x, threadIdx.y */
  int n_temps;
  Temp temps[MOST_TEMPS];
  bool in_x, in_y, host; /* loops around here: t, y; k */
  int n_serial;          /* i0, i1, ... */
  int n_names;
} Kernel;

static int below(Kernel *k, int n) { return rng_below(k->g->r, n); }
static bool chance(Kernel *k, int percent) { return rng_chance(k->g->r, percent); }
static const char *text(Kernel *k, const char *format, ...) __attribute__((format(printf, 2, 3)));
static const char *text(Kernel *k, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *out = tirc_vformat(k->g->c, format, args);
  va_end(args);
  return out;
}

/* --- expressions ------------------------------------------------------------------------------ */

static const char *variable(Kernel *k) {
  const char *of[MOST_SERIAL + 4];
  int n = 0;
  of[n++] = B;
  if (k->in_x) of[n++] = T, of[n++] = T;
  if (k->in_y) of[n++] = Y;
  if (k->host) of[n++] = "k";
  for (int i = 0; i < k->n_serial; i++) of[n++] = text(k, "i%d", i);
  return of[below(k, n)];
}

/* From 0 on, below size. */
static const char *place(Kernel *k, int size) {
  if (k->in_x && size >= k->threads && chance(k, 25)) return T;
  switch (below(k, 9)) {
  case 0: return text(k, "%d", below(k, size));
  case 1: return text(k, "(%d - %s) %% %d", size - 1, variable(k), size);
  case 2: return text(k, "(%s + %d) %% %d", variable(k), below(k, 4), size);
  case 3: return text(k, "(%s // 2) %% %d", variable(k), size);
  case 4: return text(k, "(%s * %d + %s) %% %d", variable(k), 1 + below(k, 5), variable(k), size);
  case 5: return text(k, "(" B " * %d + %s) %% %d", k->threads, variable(k), size);
  default: return k->in_x && size >= k->threads ? T : text(k, "%s %% %d", variable(k), size);
  }
}

/* What one iteration stores and another one reads in a loop over threads comes in an order in the
 * program, and in another one, statement by statement, in a kernel. */
static bool is_taken(const Kernel *k, const Temp *t, bool used) {
  return (k->in_x || k->in_y) && used && strcmp(t->scope, "local");
}

static const char *load(Kernel *k) {
  const int i = below(k, k->n_temps + 1);
  if (i == k->n_temps || is_taken(k, &k->temps[i], k->temps[i].stored))
    return text(k, "A[%s]", place(k, 64));
  k->temps[i].loaded = true;
  return text(k, "%s[%s]", k->temps[i].name, place(k, k->temps[i].size));
}

static const char *value(Kernel *k) {
  switch (below(k, 4)) {
  case 0: return text(k, "%s + %d", load(k), below(k, 9));
  case 1: return text(k, "(%s * 3 + %s) %% 1000", load(k), variable(k));
  case 2: return text(k, "(%s + %s) %% 1000", load(k), load(k));
  default: return load(k);
  }
}

static const char *condition(Kernel *k) {
  switch (below(k, 5)) {
  case 0: return text(k, "%s %% 2 == 0", load(k));
  case 1: return text(k, "%s > %d", load(k), below(k, 40) - 20);
  default: return text(k, "%s < %d", variable(k), 1 + below(k, 6));
  }
}

/* --- statements ------------------------------------------------------------------------------- */

static void statements(Kernel *k, int n, int depth);

static void store(Kernel *k) {
  Temp *to = &k->temps[below(k, k->n_temps)];
  const char *what = value(k);
  if (chance(k, 30) || is_taken(k, to, to->loaded)) {
    const char *at = chance(k, 70) && k->in_x ? text(k, B " * %d + " T, k->threads)
                                              : place(k, k->blocks * k->threads);
    code_line(k->g, "C[%s] = %s", at, what);
    return;
  }
  to->stored = true;
  code_line(k->g, "%s[%s] = %s", to->name, place(k, to->size), what);
}

static void nested(Kernel *k, const char *head, int n, int depth) {
  code_line(k->g, "%s:", head);
  k->g->depth++;
  statements(k, n, depth);
  k->g->depth--;
}

static void over_threads(Kernel *k, int depth) {
  const bool rows = k->rows > 1 && !k->in_y && chance(k, 60);
  const int kept = k->g->depth;
  for (int i = 0; i < k->n_temps && !k->in_y; i++) k->temps[i].loaded = k->temps[i].stored = false;
  if (rows) {
    code_line(k->g, "for y in T.thread_binding(%d, thread=\"threadIdx.y\"):", k->rows);
    k->g->depth++;
    k->in_y = true;
  }
  k->in_x = true;
  nested(k, text(k, "for t in T.thread_binding(%d, thread=\"threadIdx.x\")", k->threads),
         1 + below(k, 2), depth);
  k->in_x = false;
  if (rows) k->in_y = false;
  k->g->depth = kept;
}

static void serial(Kernel *k, int depth) {
  const char *extent = chance(k, 20) ? text(k, "%s %% 3", load(k)) : text(k, "%d", 1 + below(k, 3));
  const char *head = text(k, "for i%d in range(%s)", k->n_serial, extent);
  k->n_serial++;
  nested(k, head, 1 + below(k, 2), depth);
  k->n_serial--;
}

static void statement(Kernel *k, int depth) {
  const int kind = depth > 0 ? below(k, 12) : 0;
  if (kind < 4 || (kind < 8 && k->in_x))
    store(k);
  else if (kind < 8)
    over_threads(k, depth - 1);
  else if (kind == 8)
    nested(k, text(k, "if %s", condition(k)), 1 + below(k, 2), depth - 1);
  else if (kind == 9 && k->n_serial < MOST_SERIAL)
    serial(k, depth - 1);
  else if (kind == 10)
    nested(k, text(k, "with T.block(\"P%d\")", k->n_names++), 1 + below(k, 2), depth - 1);
  else
    store(k);
}

static void statements(Kernel *k, int n, int depth) {
  for (int i = 0; i < n; i++) statement(k, depth);
}

/* All of it, by all threads: a tail is left where its size is no multiple of theirs. */
static void fill(Kernel *k, const Temp *to) {
  const bool plain = chance(k, 25);
  if (plain) {
    code_line(k->g, "for i in range(%d):", to->size);
    code_line(k->g, "    %s[i] = A[(i + %d) %% 64]", to->name, below(k, 9));
    return;
  }
  const int steps = (to->size + k->threads - 1) / k->threads;
  code_line(k->g, "for t in T.thread_binding(%d, thread=\"threadIdx.x\"):", k->threads);
  code_line(k->g, "    for i in range(%d):", steps);
  code_line(k->g, "        if i * %d + " T " < %d:", k->threads, to->size);
  code_line(k->g, "            %s[i * %d + " T "] = A[(i * %d + " T " + " B ") %% 64]", to->name,
            k->threads, k->threads);
}

static void temps(Kernel *k) {
  static const char *const scopes[] = {"shared", "shared", "shared", "local", "local", "global"};
  k->n_temps = 1 + below(k, MOST_TEMPS);
  for (int i = 0; i < k->n_temps; i++) {
    k->temps[i] = (Temp){.name = text(k, "X%d", i),
                         .scope = scopes[below(k, 6)],
                         .size = chance(k, 30) ? k->threads : 1 + below(k, 12)};
    code_line(k->g, "%s = T.alloc_buffer((%d,), \"int32\", scope=\"%s\")", k->temps[i].name,
              k->temps[i].size, k->temps[i].scope);
  }
}

/* Two kernels a step of the host, and more memory between them each time. */
static void growing(Kernel *k) {
  const int n = k->threads, more = 1 + below(k, 9);
  code_line(k->g, "for k in range(3):");
  code_line(k->g, "    with T.block(\"host\"):");
  code_line(k->g, "        vk = T.axis.opaque(3, k)");
  code_line(k->g, "        G = T.alloc_buffer((%d + vk * %d,), \"int32\")", n, more);
  for (int i = 0; i < 2; i++) {
    code_line(k->g, "        for b in T.thread_binding(%d, thread=\"blockIdx.x\"):", k->blocks);
    code_line(k->g, "            for t in T.thread_binding(%d, thread=\"threadIdx.x\"):", n);
    code_line(k->g, "                if " B " * %d + " T " < %d + vk * %d:", n, n, more);
    code_line(k->g,
              i ? "                    C[" B " * %d + " T "] = G[%d + vk * %d - 1 - " B " * %d - " T
                  "]"
                : "                    G[" B " * %d + " T "] = A[(" B " + " T " + vk) %% 64]",
              n, n, more, n);
  }
}

static void by_hand(Kernel *k) {
  temps(k);
  k->host = chance(k, 20);
  if (k->host) code_line(k->g, "for k in range(%d):", 1 + below(k, 3));
  k->g->depth += k->host;
  code_line(k->g, "for b in T.thread_binding(%d, thread=\"blockIdx.x\"):", k->blocks);
  k->g->depth++;
  if (chance(k, 30)) {
    code_line(k->g, "with T.block(\"all\"):");
    k->g->depth++;
  }
  for (int i = 0; i < k->n_temps; i++)
    if (chance(k, 92)) fill(k, &k->temps[i]);
  statements(k, 1 + below(k, 4), 3);
  over_threads(k, 1);
}

/* --- schedules -------------------------------------------------------------------------------- */

static void stage(Kernel *k, const char *name, int size, const char *is) {
  code_line(k->g, "for i in range(%d):", size);
  code_line(k->g, "    with T.block(\"%s\"):", name);
  code_line(k->g, "        v = T.axis.spatial(%d, i)", size);
  code_line(k->g, "        %s[v] = %s", name, is);
}

static void by_schedule(Kernel *k, Program *out) {
  static const char *const scopes[] = {"shared", "local", "global"};
  const int n = k->blocks * k->threads;
  const char *const reads[] = {"X[v]", text(k, "X[%d - v]", n - 1),
                               text(k, "X[v] + X[(v + 1) %% %d]", n), "X[v // 2] * 2",
                               "X[v // 4 * 4] + v"};
  code_line(k->g, "X = T.alloc_buffer((%d,), \"int32\")", n);
  stage(k, "X", n, "A[v % 64] * 2 + v");
  stage(k, "C", n, reads[below(k, 5)]);
  Text s = {.c = k->g->c};
  const int tile = chance(k, 60) ? k->threads : 1 + below(k, 2 * k->threads);
  tirc_text_addf(&s,
                 "i, = sch.get_loops(\"C\"); o, t = sch.split(i, factors=[None, %d]); "
                 "sch.bind(o, \"blockIdx.x\"); sch.bind(t, \"threadIdx.x\")\n",
                 tile);
  if (chance(k, 80)) tirc_text_addf(&s, "sch.set_scope(\"X\", 0, \"%s\")\n", scopes[below(k, 3)]);
  if (chance(k, 85))
    tirc_text_addf(&s, "sch.compute_at(\"X\", sch.get_loops(\"C\")[%d])\n", chance(k, 75) ? 0 : -1);
  if (chance(k, 60))
    tirc_text_addf(&s,
                   "_, t = sch.split(sch.get_loops(\"X\")[-1], factors=[None, %d]); "
                   "sch.bind(t, \"threadIdx.x\")\n",
                   chance(k, 75) ? tile : 1 + below(k, k->threads));
  else if (chance(k, 60))
    tirc_text_add(&s, "sch.bind(sch.get_loops(\"X\")[-1], \"threadIdx.x\")\n");
  if (chance(k, 25)) tirc_text_addf(&s, "sch.cache_read(\"C\", 0, \"%s\")\n", scopes[below(k, 2)]);
  if (chance(k, 25)) tirc_text_addf(&s, "sch.cache_write(\"C\", 0, \"%s\")\n", scopes[below(k, 2)]);
  if (chance(k, 20)) tirc_text_add(&s, "sch.bind(sch.get_loops(\"X\")[0], \"blockIdx.x\")\n");
  out->schedule = s.at;
}

/* Loops over threads from the first to the last, from the last to the first, from the middle on. */
static const char *in_order(const Kernel *k, const char *body, int order) {
  static const char *const names[] = {"", "b", "t", "y"};
  const int extents[] = {0, k->blocks, k->threads, k->rows};
  Text out = {.c = k->g->c};
  for (; *body; body++) {
    const int which = *body;
    if (which > 3)
      tirc_text_addn(&out, body, 1);
    else if (order == 0)
      tirc_text_add(&out, names[which]);
    else if (order == 1)
      tirc_text_addf(&out, "(%d - %s)", extents[which] - 1, names[which]);
    else
      tirc_text_addf(&out, "((%s + %d) %% %d)", names[which], extents[which] / 2, extents[which]);
  }
  return out.at;
}

void code_kernel(Tirc *c, Rng *r, const char *name, Program *out) {
  Draft g = {.c = c, .r = r, .depth = 1, .head = {.c = c}, .body = {.c = c}, .program = out};
  Kernel k = {.g = &g};
  k.blocks = 1 + below(&k, 3);
  k.threads = 1 + below(&k, 9);
  k.rows = chance(&k, 25) ? 2 : 1;
  *out = (Program){.name = name, .schedule = "", .kernel = true, .n_params = 2};
  const int kind = below(&k, 10);
  if (kind < 6)
    by_hand(&k);
  else if (kind < 9)
    by_schedule(&k, out);
  else
    growing(&k);
  const int n = k.blocks * k.threads;
  out->params[0] = (CodeParam){.n = 1, .shape = {64}, .lo = -20, .hi = 20};
  out->params[1] = (CodeParam){.n = 1, .shape = {n}, .lo = -20, .hi = 20};
  out->seed = rng_next(r);
  for (int i = 0; i < CODE_ORDERS; i++)
    out->orders[i] = tirc_format(c,
                                 "@T.prim_func\ndef main(A: T.Buffer((64,), \"int32\"), C: "
                                 "T.Buffer((%d,), \"int32\")):\n%s",
                                 n, in_order(&k, g.body.at, i));
  out->text = out->orders[0];
}

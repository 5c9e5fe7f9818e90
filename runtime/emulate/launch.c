/* The host function is the interpreter's; what it launches runs here, block after block. */
#include "code.h"

#include "ir/tree/annotations.h"
#include "ir/tree/print.h"
#include "passes/lower/lower.h"

/* Of a run of the host. */
typedef struct Session {
  const Module *module;
  const Func *host;
  const EmulateOptions *o;
  EmulateReport *report;
  Tirc *c; /* of what outlives a launch */
  const Argument *args;
  uint32_t time;
  uint64_t random;
  PtrMap traces;      /* data -> Traced */
  const bool *needed; /* [function]: all of its blocks run */
} Session;

typedef struct Traced {
  Trace *at;
  int64_t n;
} Traced;

/* --- the call --------------------------------------------------------------------------------- */

static const Func *find_kernel(const Session *s, Tirc *t, Loc loc, const char *name) {
  const int number = tirc_kernel_number(s->module, name);
  if (number >= 0) return s->module->funcs[number];
  tirc_fail(t, loc, CODE_LAUNCH, NULL, "the module has no kernel \"%s\" to launch", name);
}

/* The kernel's launch parameters: an extent each of an axis. */
static void take_extents(Emu *e, Loc loc, int n, const LaunchArgument *args) {
  const int n_params = e->kernel->n_params, n_names = tirc_n_launch_params(e->kernel);
  if (n != n_params + n_names)
    tirc_fail(e->t, loc, CODE_LAUNCH, NULL,
              "kernel \"%s\" takes %d arguments and %d launch parameters, but is launched with %d",
              e->kernel->name, n_params, n_names, n);
  for (int d = 0; d < 3; d++) e->grid[d] = e->block[d] = 1;
  e->dynamic = -1;
  for (int i = 0; i < n_names; i++) {
    const LaunchArgument *a = &args[n_params + i];
    const char *name = tirc_launch_param(e->kernel, i);
    const int axis = (int)tirc_gpu_axis(name);
    if (axis >= GPU_AXES && strcmp(name, "tir.use_dyn_shared_memory") == 0) {
      e->dynamic = a->value.i;
      continue;
    }
    if (axis >= GPU_AXES || !tirc_dtype_is_int(a->dtype))
      tirc_fail(e->t, loc, CODE_LAUNCH, NULL, "kernel \"%s\" has no launch parameter \"%s\"",
                e->kernel->name, name);
    if (a->value.i < 0 || (axis >= 3 && a->value.i < 1))
      tirc_fail(e->t, loc, CODE_LAUNCH, NULL, "kernel \"%s\" is launched with %lld for %s",
                e->kernel->name, (long long)a->value.i, name);
    *(axis < 3 ? &e->grid[axis] : &e->block[axis - 3]) = a->value.i;
  }
  int64_t threads = 1;
  for (int d = 0; d < 3; d++)
    if (__builtin_mul_overflow(threads, e->block[d], &threads) || threads > MOST_BLOCK_THREADS)
      tirc_fail(e->t, loc, CODE_LAUNCH, NULL,
                "kernel \"%s\" is launched with %lld x %lld x %lld threads per block, but the "
                "emulator allows at most %d",
                e->kernel->name, (long long)e->block[0], (long long)e->block[1],
                (long long)e->block[2], MOST_BLOCK_THREADS);
  e->threads = (int)threads;
}

static uint8_t *report_for(const Session *s, const char *data) {
  for (int i = 0; s->o->written && i < s->host->n_params; i++)
    if (s->host->buffers[i] && s->args[i].tensor->data == data) return s->o->written[i];
  return NULL;
}

static void bind(const Session *s, Emu *e, Loc loc, const LaunchArgument *args) {
  const Func *f = e->kernel;
  for (int i = 0; i < f->n_params; i++) {
    const Buffer b = f->buffers[i];
    const LaunchArgument *a = &args[i];
    const bool is_memory = a->data != NULL || a->dtype.code == TYPE_HANDLE;
    if (is_memory != (b != NULL))
      tirc_fail(e->t, loc, CODE_LAUNCH, NULL, "argument %d of kernel \"%s\" is a %s, not a %s", i,
                f->name, is_memory ? "buffer" : "scalar", b ? "buffer" : "scalar");
    if (!b) {
      Var *v = tirc_emu_var(e, f->params[i], false);
      v->same = true;
      v->one[0] = a->value;
      continue;
    }
    Store *store = tirc_emu_store(e, b, GLOBAL);
    if (b->data != f->params[i]) tirc_map_set(e->t, &e->stores, f->params[i], store);
    store->data = a->data;
    store->bytes = a->bytes;
    store->written = a->written;
    store->report = report_for(s, a->data);
    if (a->written) store->unit = a->unit;
  }
}

/* Of parameters that the kernel stores to, by whatever name. */
static void find_traces(Session *s, Emu *e) {
  for (int i = 0; i < e->kernel->n_params; i++) {
    const Buffer b = e->kernel->buffers[i];
    Store *store = b ? tirc_map_get(&e->stores, b->data) : NULL;
    bool stored = false;
    for (int j = 0; store && j < e->kernel->n_params; j++) {
      const Buffer other = e->kernel->buffers[j];
      const Store *o = other ? tirc_map_get(&e->stores, other->data) : NULL;
      stored |= o && o->data == store->data && o->is_stored;
    }
    if (!stored) continue;
    Traced *traced = tirc_map_get(&s->traces, store->data);
    const int64_t n = store->bytes / store->unit + 1;
    if (!traced || traced->n < n) {
      traced = tirc_new(s->c, Traced);
      *traced = (Traced){tirc_new_array(s->c, Trace, n), n};
      tirc_map_set(s->c, &s->traces, store->data, traced);
    }
    store->traces = traced->at;
  }
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* Every thread goes to one of the groups, which are then as different as they come. */
static void draw_groups(Emu *e) {
  int count[MOST_GROUPS] = {0}, first = 0;
  uint8_t *const of = (uint8_t *)(void *)take(e, e->threads / 8 + 1);
  for (int i = 0; i < e->threads; i++) {
    of[i] = (uint8_t)tirc_emu_draw(&e->random, (uint64_t)e->n_groups);
    count[of[i]]++;
  }
  for (int g = 0; g < e->n_groups; g++) {
    uint16_t *const at = e->group_room + first;
    e->group[g] = (Threads){.slot = g, .first = first, .stamp = ++e->clock, .at = at};
    for (int i = 0; i < e->threads; i++)
      if (of[i] == g) at[e->group[g].n++] = (uint16_t)i;
    first += count[g];
  }
  int filled = 0;
  for (int g = 0; g < e->n_groups; g++)
    if (e->group[g].n) e->group[filled++] = e->group[g];
  e->n_groups = filled;
  for (int i = 0; i < e->threads; i++) e->position[e->group_room[i]] = (uint16_t)i;
  for (int g = 0; g < e->n_groups; g++)
    tirc_emu_open_peers(e, &e->group[g], &e->peers[e->group[g].slot]);
}

static void run_block(Emu *e, const Act *body, int64_t block) {
  enum { SOME = 512 };
  tirc_emu_pass_barrier(e);
  e->block_start = e->barrier;
  vec_push(e->t, e->starts, ((BlockStart){e->time, block}));
  e->top = e->stack;
  /* a statement costs the same for few threads as for many */
  const uint64_t most = e->threads >= SOME ? 4 : 2;
  e->n_groups = e->costs ? 1 : 1 + (int)tirc_emu_draw(&e->random, most); /* warps are whole */
  draw_groups(e);
  e->top = e->stack;
  for (int d = 0; d < 3; d++) {
    if (!e->axis[d]) continue;
    e->axis[d]->one[0].i = block % e->grid[d];
    e->axis[d]->stamp = ++e->clock;
    block /= e->grid[d];
  }
  e->parting = NULL;
  e->flights.n = 0;
  memset(e->committed, 0, sizeof *e->committed * (size_t)e->threads);
  tirc_emu_run(e, body, &e->all);
}

static void set_threads(Emu *e) {
  uint16_t *const at = tirc_new_array(e->t, uint16_t, e->threads);
  for (int i = 0; i < e->threads; i++) at[i] = (uint16_t)i;
  e->all = (Threads){
      .n = e->threads, .slot = SLOT_ALL, .first = e->threads, .stamp = ++e->clock, .at = at};
  e->group_room = tirc_new_array(e->t, uint16_t, e->threads);
  e->position = tirc_new_array(e->t, uint16_t, e->threads);

  int64_t step = 1;
  for (int d = 0; d < 3; d++) {
    Var *const v = e->axis[3 + d];
    for (int i = 0; v && i < e->threads; i++) v->each[i].i = i / step % e->block[d];
    if (v) v->same = e->block[d] == 1;
    step *= e->block[d];
  }
}

static bool is_needed(const Session *s, const Func *kernel) {
  int i = 0;
  while (s->module->funcs[i] != kernel) i++;
  return s->needed[i];
}

/* The order of blocks is drawn. */
static void run_blocks(Session *s, Emu *e, const Act *body) {
  int64_t n = 1;
  for (int d = 0; d < 3; d++)
    if (__builtin_mul_overflow(n, e->grid[d], &n) || n > INT32_MAX)
      tirc_fail(e->t, e->kernel->loc, CODE_LAUNCH, NULL,
                "kernel \"%s\" is launched with too many blocks", e->kernel->name);
  uint32_t *const order = tirc_new_array(e->t, uint32_t, n);
  for (int64_t i = 0; i < n; i++) {
    const int64_t other = (int64_t)tirc_emu_draw(&s->random, (uint64_t)i + 1);
    order[i] = order[other];
    order[other] = (uint32_t)i;
  }
  const bool some = s->o->blocks > 0 && s->o->blocks < n && !is_needed(s, e->kernel);
  const int64_t wanted = some ? s->o->blocks : n;
  e->launch_start = e->time + 1;
  for (int64_t i = 0; i < wanted; i++) run_block(e, body, order[i]);
  s->report->launches++;
  s->report->blocks += n;
  s->report->blocks_run += wanted;
  if (e->costs) tirc_emu_close_costs(e, n, wanted, e->most_shared);
}

static void open_params(Emu *e) {
  for (int i = 0; i < e->kernel->n_params; i++) {
    const Buffer b = e->kernel->buffers[i];
    if (b) tirc_emu_open_window(e, tirc_emu_window(e, b), &e->all);
  }
}

static void run_kernel(Session *s, Emu *e, Loc loc, const LaunchArgument *args) {
  e->global_version = tirc_new(e->t, Var);
  e->epoch = tirc_new(e->t, Var);
  bind(s, e, loc, args);
  e->gpu = tirc_gpu_of(e->kernel);
  e->most_cached = (8 << 20) / (int64_t)sizeof(Cell);
  const Act *body = tirc_emu_stmt(e, e->kernel->body);
  for (int i = 0; i < e->kernel->n_params; i++)
    if (e->kernel->buffers[i]) (void)tirc_emu_window(e, e->kernel->buffers[i]);
  const int64_t cells = ((int64_t)e->deepest * 6 + 64) * (e->threads + 16);
  e->stack = e->top = tirc_new_array(e->t, Cell, cells);
  e->end = e->stack + cells;
  e->poisoned = tirc_alloc(e->t, (size_t)e->threads + 8);
  e->committed = tirc_new_array(e->t, uint32_t, e->threads);
  e->warp_time = tirc_new_array(e->t, uint32_t, e->threads / WARP + 1);
  set_threads(e);
  tirc_emu_find_parts(e);
  tirc_emu_open_peers(e, &e->all, &e->peers[SLOT_ALL]);
  find_traces(s, e);
  open_params(e);
  if (e->costs) tirc_emu_open_costs(e);
  run_blocks(s, e, body);
}

/* An operation of the interpreter knows no thread: what it fails with is told again. */
static void launch(void *self, Tirc *t, Loc loc, const char *name, int n,
                   const LaunchArgument *args) {
  Session *s = self;
  const ArenaMark mark = tirc_mark(t);
  Emu *e = tirc_new(t, Emu);
  *e = (Emu){.t = t, .o = s->o, .report = s->report, .costs = s->o->costs, .thread = -1};
  e->kernel = find_kernel(s, t, loc, name);
  e->run = (Run){.t = t, .max_steps = INT64_MAX, .pause = INT64_MAX};
  e->scalar = (Compiler){.t = t, .loc = e->kernel->loc};
  e->time = s->time;
  e->random = s->random + 1;
  take_extents(e, loc, n, args);
  Trap trap;
  if (TIRC_TRY(t, trap)) {
    run_kernel(s, e, loc, args);
    TIRC_END(t, trap);
    s->time = e->time;
    tirc_rewind(t, mark);
    return;
  }
  const Diag d = t->diag;
  if (e->told || !e->doing) tirc_throw(t);
  tirc_emu_fail(e, d.code, d.hint, "%s", d.message);
}

void tirc_emulate(Tirc *c, const Module *m, const Func *host, int n_args, const Argument *args,
                  const EmulateOptions *o, EmulateReport *report) {
  Session s = {.module = m, .host = host, .o = o, .report = report, .c = c, .args = args};
  s.needed = tirc_emu_needed(c, m, host);
  s.random = o->seed * 2654435761u + 1;
  const InterpOptions options = {.max_steps = o->max_steps,
                                 .go_on = o->go_on,
                                 .self = o->self,
                                 .launch = launch,
                                 .launcher = &s};
  (void)tirc_interpret_with(c, host, n_args, args, &options);
}

/* What warps ask for, counted (costs.h). */
#include "costs.h"

#include "code.h"
#include "ir/scopes.h"
#include "ir/tree/annotations.h"
#include "ir/tree/visit.h"

#include <stdlib.h>

enum { SECTOR = 32, BANKS = 32, WORD = 4, MOST_LANES = 64 };

/* --- rows ------------------------------------------------------------------------------------- */

static int line_of(const Act *a) {
  while (a && !a->stmt->loc.line) a = a->parent;
  return a ? a->stmt->loc.line : 0;
}

static AccessCosts *access_row(Emu *e, const Asking *a) {
  Costs *all = e->costs;
  for (int i = 0; i < all->accesses.n; i++) {
    AccessCosts *row = &all->accesses.at[i];
    if (row->node == a->node && row->kernel == e->kernel) return row;
  }
  const AccessCosts row = {.kernel = e->kernel,
                           .node = a->node,
                           .stmt = e->doing->stmt,
                           .line = line_of(e->doing),
                           .buffer = a->window->buffer,
                           .shared = a->window->store->place == SHARED,
                           .stores = a->stores};
  vec_push(all->c, all->accesses, row);
  return &all->accesses.at[all->accesses.n - 1];
}

static BranchCosts *branch_row(Emu *e, Stmt s) {
  Costs *all = e->costs;
  for (int i = 0; i < all->branches.n; i++)
    if (all->branches.at[i].stmt == s && all->branches.at[i].kernel == e->kernel)
      return &all->branches.at[i];
  vec_push(all->c, all->branches, ((BranchCosts){e->kernel, s, line_of(e->doing), 0, 0}));
  return &all->branches.at[all->branches.n - 1];
}

KernelCosts *tirc_emu_kernel_costs(Emu *e) {
  Costs *all = e->costs;
  for (int i = 0; i < all->kernels.n; i++)
    if (all->kernels.at[i].kernel == e->kernel) return &all->kernels.at[i];
  KernelCosts row = {.kernel = e->kernel};
  row.registers = tirc_estimate_registers(all->c, e->kernel, &row.own);
  vec_push(all->c, all->kernels, row);
  return &all->kernels.at[all->kernels.n - 1];
}

/* --- work ------------------------------------------------------------------------------------- */

/* Operations of an expression but those of its indices; what only chooses or converts is none. */
int tirc_emu_operations(Expr x) {
  int n = x->n > 0 && x->op != OP_LOAD && x->op != OP_CAST && x->op != OP_CALL &&
          x->op != OP_BROADCAST && x->op != OP_RAMP;
  for (int i = 0; x->op != OP_LOAD && i < x->n; i++) n += tirc_emu_operations(x->args[i]);
  return n;
}

void tirc_emu_count_work(Emu *e, const Act *a, const Threads *l) {
  for (int k = 0, warp = -1; k < l->n; k++) {
    if (l->at[k] / WARP != warp) e->work += a->work;
    warp = l->at[k] / WARP;
  }
}

/* --- one warp --------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Sorts, and leaves each number once. */
static int distinct(int64_t *at, int n) {
  int kept = 0;
  qsort(at, (size_t)n, sizeof *at, compare);
  for (int i = 0; i < n; i++)
    if (!i || at[i] != at[kept - 1]) at[kept++] = at[i];
  return kept;
}

/* Elements, by their bytes: how many sectors they lie in, and how few could hold them. */
static void ask_global(AccessCosts *row, int64_t *elements, int n, int bytes) {
  int64_t sectors = 0, last = -1;
  n = distinct(elements, n);
  for (int i = 0; i < n; i++)
    for (int64_t s = elements[i] * bytes / SECTOR; s <= (elements[i] * bytes + bytes - 1) / SECTOR;
         s++)
      if (s != last) sectors++, last = s;
  row->asked += sectors;
  row->ideal += ((int64_t)n * bytes + SECTOR - 1) / SECTOR;
}

/* Of threads that take their turns together: as many as the fullest bank has other words. */
static void ask_shared(AccessCosts *row, int64_t *elements, int n, int bytes) {
  int64_t words[WARP * MOST_LANES];
  int of_bank[BANKS] = {0}, most = 1, count = 0;
  for (int i = 0; i < n; i++)
    for (int64_t w = elements[i] * bytes / WORD; w <= (elements[i] * bytes + bytes - 1) / WORD; w++)
      if (count < WARP * MOST_LANES) words[count++] = w;
  count = distinct(words, count);
  for (int i = 0; i < count; i++) {
    const int full = ++of_bank[words[i] % BANKS];
    if (full > most) most = full;
  }
  row->asked += most;
  row->ideal += count <= BANKS ? 1 : (count + BANKS - 1) / BANKS;
}

/* A warp's threads from k to end in the list. Wide accesses of shared memory take turns of 128
 * bytes. */
static void ask_warp(Emu *e, const Asking *a, AccessCosts *row, int k, int end) {
  const int bytes = a->window->elem, lanes = row->lanes;
  const int64_t before = row->asked;
  int64_t elements[WARP * MOST_LANES];
  const int wide = lanes * bytes > WORD ? lanes * bytes / WORD : 1;
  const int together = !row->shared || wide >= WARP ? (row->shared ? 1 : WARP) : WARP / wide;
  row->warps++;
  while (k < end) {
    const int part = a->threads->at[k] % WARP / together;
    int n = 0;
    for (; k < end && a->threads->at[k] % WARP / together == part; k++)
      for (int j = 0; j < lanes; j++)
        elements[n++] = row->places[(int64_t)a->threads->at[k] * lanes + j];
    if (row->shared)
      ask_shared(row, elements, n, bytes);
    else
      ask_global(row, elements, n, bytes);
  }
  e->work += row->asked - before;
}

static void touch(Emu *e, const Asking *a, int k) {
  const Store *s = a->window->store;
  uint8_t *const seen = s->place == GLOBAL ? (a->stores ? s->stored : s->loaded) : NULL;
  const int64_t units = a->window->elem / s->unit;
  (void)e;
  if (seen) memset(seen + value_at(a->at, k).i * units, 1, (size_t)units);
}

void tirc_emu_ask(Emu *e, const Asking *a) {
  const int lanes = a->lanes < 1 ? 1 : a->lanes > MOST_LANES ? MOST_LANES : a->lanes;
  if (a->window->store->place == LOCAL) return;
  for (int k = 0; k < a->threads->n; k++) touch(e, a, k);
  if ((lanes == 1 && e->lane > 0 && a->is_scalar) || e->lane >= MOST_LANES) return;
  AccessCosts *row = access_row(e, a);
  if (!row->places || row->lanes != lanes) {
    row->lanes = lanes;
    row->places = tirc_new_array(e->costs->c, int64_t, (int64_t)lanes * MOST_BLOCK_THREADS);
  }
  const int lane = lanes > 1 ? e->lane : 0;
  for (int k = 0; k < a->threads->n; k++)
    row->places[(int64_t)a->threads->at[k] * lanes + lane] = value_at(a->at, k).i;
  if (lane < lanes - 1) return;
  for (int k = 0, end; k < a->threads->n; k = end) {
    const int warp = a->threads->at[k] / WARP;
    for (end = k; end < a->threads->n && a->threads->at[end] / WARP == warp;) end++;
    ask_warp(e, a, row, k, end);
  }
}

void tirc_emu_ask_branch(Emu *e, Stmt s, const Threads *l, Values way) {
  if (!e->costs) return;
  BranchCosts *row = branch_row(e, s);
  for (int k = 0, end; k < l->n; k = end) {
    const int warp = l->at[k] / WARP;
    bool parts = false;
    for (end = k; end < l->n && l->at[end] / WARP == warp; end++)
      parts |= value_at(way, end).i != value_at(way, k).i;
    row->warps++;
    row->parted += parts;
  }
}

/* --- a launch --------------------------------------------------------------------------------- */

void tirc_emu_open_costs(Emu *e) {
  for (int i = 0; i < e->kernel->n_params; i++) {
    const Buffer b = e->kernel->buffers[i];
    Store *s = b ? tirc_map_get(&e->stores, b->data) : NULL;
    if (!s || s->loaded) continue;
    s->loaded = tirc_new_array(e->t, uint8_t, s->bytes / s->unit + 1);
    s->stored = tirc_new_array(e->t, uint8_t, s->bytes / s->unit + 1);
  }
}

static int64_t count(const uint8_t *at, int64_t n) {
  int64_t sum = 0;
  for (int64_t i = 0; i < n; i++) sum += at[i];
  return sum;
}

void tirc_emu_close_costs(Emu *e, int64_t blocks, int64_t run, int64_t shared) {
  KernelCosts *k = tirc_emu_kernel_costs(e);
  k->launches++;
  k->blocks += blocks;
  k->blocks_run += run;
  k->threads = e->threads;
  if (shared > k->shared) k->shared = shared;
  for (int i = 0; i < e->kernel->n_params; i++) {
    const Buffer b = e->kernel->buffers[i];
    Store *s = b ? tirc_map_get(&e->stores, b->data) : NULL;
    if (!s || !s->loaded) continue;
    const int64_t n = s->bytes / s->unit;
    k->needed += (count(s->loaded, n) + count(s->stored, n)) * s->unit;
    s->loaded = s->stored = NULL;
  }
  k->asked = 0;
  for (int i = 0; i < e->costs->accesses.n; i++) {
    const AccessCosts *a = &e->costs->accesses.at[i];
    if (a->kernel == e->kernel && !a->shared) k->asked += a->asked * SECTOR;
  }
}

/* --- registers and occupancy ------------------------------------------------------------------ */

typedef struct Own {
  Tirc *c;
  PtrMap buffers,
      operands; /* by their data; operands of tensor cores, which a warp holds together */
  int64_t words, fragments;      /* fragments: of the product whose operands take most */
  int names, most_names, widest; /* names: of loops and lets around, of which only these live */
  int loads, most_loads; /* words that a straight run of statements has loaded from global memory */
} Own;

/* Loops over threads are registers of their own, and those that are written out have no counter. */
static void see_inside(Visitor *v, Stmt body, int names) {
  Own *o = v->self;
  o->names += names;
  if (o->names > o->most_names) o->most_names = o->names;
  o->loads = 0;
  tirc_visit_stmt(v, body);
  o->loads = 0;
  o->names -= names;
}

static bool see_load(Visitor *v, Expr e) {
  int *words = v->self;
  if (e->op == OP_LOAD && e->u.buffer->storage == STORAGE_GLOBAL)
    *words += (e->dtype.bits * e->dtype.lanes + 31) / 32;
  return true;
}

/* Loads are issued before what needs them: the compiler begins some of a run ahead. What goes into
 * a thread's own memory is counted there. */
static void see_store(Own *o, Stmt s) {
  const DType t = s->u.store.value->dtype;
  const int words = (t.bits * t.lanes + 31) / 32;
  if (words > o->widest) o->widest = words;
  if (s->u.store.value->op == OP_LOAD && tirc_owner(s->u.store.buffer->storage) == OWNER_THREAD)
    return;
  tirc_visit_expr(&(Visitor){.expr = see_load, .self = &o->loads}, s->u.store.value);
  if (o->loads > o->most_loads) o->most_loads = o->loads;
}

static int64_t words_of(Buffer b) {
  int64_t n = tirc_dtype_bytes(b->dtype), extent;
  for (int d = 0; d < b->ndim; d++) n = tirc_const_int(b->shape[d], &extent) ? n * extent : 0;
  return (n + 3) / 4;
}

/* The operands of one, by their data: neither where it sums nor where these sums begin. */
static bool is_operand(Expr call, int i, Expr sum) {
  return tirc_calls(call, CALL_TVM_MMA_SYNC) ? i == 2 || i == 4 : call->args[i] != sum;
}

/* What a product takes beside its sums: the emulator's threads have whole tiles of it each, and a
 * warp's registers hold one (the halves of wmma, which PTX names twice, are kept once). The
 * operands of one product are there at a time. */
static bool see_product(Visitor *v, Stmt s) {
  Own *o = v->self;
  if (s->kind == STMT_ALLOC)
    tirc_map_set(o->c, &o->buffers, s->u.alloc.buffer->data, (void *)(uintptr_t)s->u.alloc.buffer);
  const bool is_call = s->kind == STMT_ATTR && !strcmp(s->u.attr.key, tirc_key(KEY_TENSOR_CORE));
  const Expr call = is_call ? s->u.attr.value : NULL;
  int64_t words = 0;
  if (!call || !(tirc_calls(call, CALL_PTX_MMA) || tirc_calls(call, CALL_TVM_MMA_SYNC)))
    return true;
  for (int i = 0; i < call->n; i++) {
    const Buffer b = tirc_map_get(&o->buffers, call->args[i]);
    if (!b || !is_operand(call, i, s->u.attr.node)) continue;
    tirc_map_set(o->c, &o->operands, b->data, o);
    words += words_of(b) / WARP;
  }
  if (words > o->fragments) o->fragments = words;
  return true;
}

static bool see_own(Visitor *v, Stmt s) {
  Own *o = v->self;
  if (s->kind == STMT_LET)
    return see_inside(v, s->u.let.body, s->u.let.var->dtype.bits > 32 ? 2 : 1), false;
  if (s->kind == STMT_FOR)
    return see_inside(v, s->u.loop.body, s->u.loop.kind == LOOP_SERIAL), false;
  if (s->kind == STMT_STORE) see_store(o, s);
  if (s->kind == STMT_EVAL) o->loads = 0; /* a barrier, or another call */
  if (s->kind != STMT_ALLOC || tirc_owner(s->u.alloc.buffer->storage) != OWNER_THREAD) return true;
  if (!tirc_map_has(&o->operands, s->u.alloc.buffer->data)) o->words += words_of(s->u.alloc.buffer);
  return true;
}

int tirc_estimate_registers(Tirc *c, const Func *kernel, int *own) {
  enum { ALWAYS = 8, A_POINTER = 2, AHEAD = 8, MOST = 255 };
  Own o = {.c = c};
  int64_t n = ALWAYS;
  tirc_visit_stmts(kernel->body, see_product, &o);
  tirc_visit_stmts(kernel->body, see_own, &o);
  o.words += o.fragments;
  for (int i = 0; i < kernel->n_params; i++) n += kernel->buffers[i] ? A_POINTER : 1;
  n += o.words + o.most_names + 2 * (int64_t)o.widest;
  n += o.most_loads < AHEAD ? o.most_loads : AHEAD;
  *own = (int)(o.words > INT32_MAX ? INT32_MAX : o.words);
  return (int)(n > MOST ? MOST : n);
}

static int64_t up_to(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

Occupancy tirc_occupancy(const Gpu *gpu, int64_t threads, int64_t shared, int registers) {
  enum { REGISTERS_AT_ONCE = 256, SHARED_AT_ONCE = 128 };
  const Multiprocessors *m = gpu ? &gpu->side : NULL;
  if (!m || !m->threads || threads < 1) return (Occupancy){0};
  const int64_t warps = (threads + WARP - 1) / WARP;
  const int64_t a_warp = up_to((int64_t)registers * WARP, REGISTERS_AT_ONCE);
  const int64_t a_block = up_to(shared, SHARED_AT_ONCE) + m->shared_of_system;
  const struct {
    int64_t blocks;
    const char *bound;
  } limits[] = {{m->threads / WARP / warps, "threads"},
                {m->blocks, "blocks"},
                {a_warp ? m->registers / a_warp / warps : m->blocks, "registers"},
                {a_block ? m->shared / a_block : m->blocks, "shared memory"}};
  int least = 0;
  for (int i = 1; i < 4; i++)
    if (limits[i].blocks < limits[least].blocks) least = i;
  return (Occupancy){(int)limits[least].blocks, (int)(limits[least].blocks * warps),
                     m->threads / WARP, limits[least].bound};
}

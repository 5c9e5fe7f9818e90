/* Unrolling, with TVM's rules. A loop is unrolled when it is an `unroll` loop, or when a pragma
 * allows so many steps (stores and evaluations of one iteration of the outermost unrolled loop) and
 * all loops in it are unrolled as well:
 *
 *   pragma_auto_unroll_max_step = N   serial loops of at most N steps in all
 *   pragma_unroll_explicit = 0        they are not written out here but left to LLVM as hints
 *
 * The pragmas stand in a loop's annotations and hold for what is inside of it.
 *
 * Registers have no numbers at run time: in kernels of CUDA a loop whose variable says which
 * element of a thread's own memory is meant is unrolled by whoever compiles the code, as nvcc does.
 */
#include "internal.h"

#include "ir/tree/find.h"

/* Code larger than MAX_SIZE (stores; a loop that stays counts as many, for LLVM may unroll it)
 * takes seconds to compile and runs slower than the loop, so even an explicit unroll loop stays a
 * loop then. */
enum { MAX_DEPTH = 8, MAX_SIZE = 2048, LOOP_SIZE = 64 };

typedef struct Unroll {
  bool has_registers; /* a thread's own memory is in registers, if that can be */
  int64_t max_step;   /* of the innermost pragma */
  bool is_explicit;
  /* Of the statement just rewritten: */
  int64_t steps;
  int64_t size;
  int depth;        /* of unrolled loops */
  int normal_depth; /* of other loops */
} Unroll;

static Stmt write_out(Tirc *c, const For *loop, int64_t n) {
  Stmt *copies = tirc_new_array(c, Stmt, n);
  for (int64_t i = 0; i < n; i++) {
    Expr at = tirc_add(c, loop->min, tirc_int(c, loop->min->dtype, i));
    copies[i] =
        tirc_lower_substitute1(c, loop->body, loop->var, tirc_cast(c, loop->var->dtype, at));
  }
  return tirc_seq(c, (int)n, copies);
}

static Attrs without_pragmas(Tirc *c, Attrs a) {
  a = tirc_attrs_remove(c, a, tirc_key(KEY_UNROLL_MAX_STEP));
  return tirc_attrs_remove(c, a, tirc_key(KEY_UNROLL_EXPLICIT));
}

static void read_pragma(Unroll *u, const char *key, Expr value) {
  int64_t v;
  if (!value || !tirc_const_int(value, &v)) return;
  if (strcmp(key, tirc_key(KEY_UNROLL_MAX_STEP)) == 0) u->max_step = v;
  if (strcmp(key, tirc_key(KEY_UNROLL_EXPLICIT)) == 0) u->is_explicit = v != 0;
}

/* --- a thread's own memory -------------------------------------------------------------------- */

static bool names_own(Buffer b, int n, const Expr *indices, Expr var) {
  for (int i = 0; b->storage == STORAGE_LOCAL && i < n; i++)
    if (tirc_uses_var(indices[i], var)) return true;
  return false;
}

typedef struct Own {
  Expr var;
  bool found;
} Own;

static bool find_own_load(Visitor *v, Expr e) {
  Own *own = v->self;
  own->found |= e->op == OP_LOAD && names_own(e->u.buffer, e->n, e->args, own->var);
  return !own->found;
}

static bool find_own_store(Visitor *v, Stmt s) {
  Own *own = v->self;
  own->found |= s->kind == STMT_STORE &&
                names_own(s->u.store.buffer, s->u.store.n, s->u.store.indices, own->var);
  return !own->found;
}

static bool picks_registers(const For *loop) {
  Own own = {loop->var, false};
  tirc_visit_stmt(&(Visitor){.expr = find_own_load, .stmt = find_own_store, .self = &own},
                  loop->body);
  return own.found;
}

/* --- loops ------------------------------------------------------------------------------------ */

static Stmt hinted(Tirc *c, const For *loop) {
  For to = *loop;
  to.kind = LOOP_UNROLLED;
  return tirc_for(c, &to);
}

/* The loop whose body has been rewritten. */
static Stmt unroll_loop(Tirc *c, Unroll *u, Stmt s) {
  const For *loop = &s->u.loop;
  int64_t n;
  bool is_const = tirc_const_int(loop->extent, &n) && n >= 0;
  bool fits = is_const && n <= MAX_SIZE && n * u->size <= MAX_SIZE;
  bool is_auto = loop->kind == LOOP_SERIAL && fits && u->normal_depth == 0 &&
                 u->depth <= MAX_DEPTH && n * u->steps <= u->max_step;
  if (loop->kind == LOOP_UNROLLED && !is_const)
    tirc_fail(
        c, tirc_place_of(s), CODE_LOWER, "split it by a constant factor and unroll the inner loop",
        "the loop %s cannot be unrolled, because its extent is not a constant", loop->var->u.s);
  if (!is_auto && !(loop->kind == LOOP_UNROLLED && fits)) {
    if (u->has_registers && fits && loop->kind == LOOP_SERIAL && u->normal_depth == 0 &&
        picks_registers(loop)) {
      u->steps *= n;
      u->size *= n;
      u->depth++;
      return hinted(c, loop);
    }
    u->normal_depth++;
    u->size += LOOP_SIZE;
    if (loop->kind != LOOP_UNROLLED) return s;
    For kept = *loop;
    kept.kind = LOOP_SERIAL;
    return tirc_for(c, &kept);
  }
  u->steps *= n;
  u->size *= n;
  u->depth++;
  return u->is_explicit ? write_out(c, loop, n) : hinted(c, loop);
}

static void begin(Unroll *u) {
  u->steps = u->size = 0;
  u->depth = u->normal_depth = 0;
}

static Stmt unroll_seq(Mutator *m, Stmt s) {
  Unroll *u = m->self;
  int64_t steps = 0, size = 0;
  int depth = 0, normal_depth = 0;
  Stmt *parts = tirc_new_array(m->c, Stmt, s->u.seq.n);
  for (int i = 0; i < s->u.seq.n; i++) {
    begin(u);
    parts[i] = tirc_mutate_stmt(m, tirc_item(s, i));
    steps += u->steps;
    size += u->size;
    depth = u->depth > depth ? u->depth : depth;
    normal_depth = u->normal_depth > normal_depth ? u->normal_depth : normal_depth;
  }
  u->steps = steps;
  u->size = size;
  u->depth = depth;
  u->normal_depth = normal_depth;
  return tirc_seq(m->c, s->u.seq.n, parts);
}

static Stmt unroll_branch(Mutator *m, Stmt s) {
  Stmt yes = s->u.branch.then_case, no = s->u.branch.else_case;
  Unroll *u = m->self;
  yes = tirc_mutate_stmt(m, yes);
  if (no) {
    Unroll first = *u;
    begin(u);
    no = tirc_mutate_stmt(m, no);
    u->steps += first.steps;
    u->size += first.size;
    if (first.depth > u->depth) u->depth = first.depth;
    if (first.normal_depth > u->normal_depth) u->normal_depth = first.normal_depth;
  }
  return tirc_if(m->c, s->u.branch.cond, yes, no);
}

static Stmt unroll_stmt(Mutator *m, Stmt s) {
  Unroll *u = m->self, outer = *u;
  switch (s->kind) {
  case STMT_FOR: {
    Attrs a = s->u.loop.annotations;
    for (int i = 0; i < a.n; i++) read_pragma(u, a.at[i].key, a.at[i].value);
    bool had_pragma = tirc_attrs_get(a, tirc_key(KEY_UNROLL_MAX_STEP)) ||
                      tirc_attrs_get(a, tirc_key(KEY_UNROLL_EXPLICIT));
    s = tirc_mutate_stmt_children(m, s);
    if (had_pragma) {
      For bare = s->u.loop;
      bare.annotations = without_pragmas(m->c, a);
      s = tirc_for(m->c, &bare);
    }
    s = unroll_loop(m->c, u, s);
    break;
  }
  case STMT_ATTR: {
    if (u->has_registers && strcmp(s->u.attr.key, tirc_key(KEY_TENSOR_CORE)) == 0) {
      u->steps++; /* an instruction stands for the loops below it */
      u->size++;
      return s;
    }
    read_pragma(u, s->u.attr.key, s->u.attr.value);
    bool is_ours = strcmp(s->u.attr.key, tirc_key(KEY_UNROLL_MAX_STEP)) == 0 ||
                   strcmp(s->u.attr.key, tirc_key(KEY_UNROLL_EXPLICIT)) == 0;
    s = is_ours ? tirc_mutate_stmt(m, s->u.attr.body) : tirc_mutate_stmt_children(m, s);
    break;
  }
  case STMT_SEQ: return unroll_seq(m, s);
  case STMT_IF: return unroll_branch(m, s);
  case STMT_STORE:
  case STMT_EVAL:
    u->steps += !tirc_is_barrier(s);
    u->size++;
    return s;
  case STMT_WHILE:
    s = tirc_mutate_stmt_children(m, s);
    u->normal_depth++;
    return s;
  default: return tirc_mutate_stmt_children(m, s);
  }
  u->max_step = outer.max_step;
  u->is_explicit = outer.is_explicit;
  return s;
}

Stmt tirc_lower_unroll(Tirc *c, const Func *f) {
  const Gpu *gpu = tirc_gpu_of(f);
  Unroll u = {.has_registers = (gpu && gpu->kind == GPU_CUDA && gpu->registers > 0) ||
                               tirc_pass_option(f, "unroll_local_access"),
              .is_explicit = true};
  Mutator m = {.c = c, .stmt = unroll_stmt, .self = &u};
  return tirc_mutate_stmt(&m, f->body);
}

/* Loops: T.grid, range, and the loop kinds. */
#include "reader.h"

/* The functions of the table are never called as such: `for` reads their arguments. */
static PyValue never(Reader *r, const Call *call) {
  READ_FAIL(r, call->node, CODE_SYNTAX, NULL, "%s cannot be used here", call->name);
}

static const char one_loop[] = "start stop? annotations?";
const Function tirc_loop_functions[] = {
    {"grid", "first *", IN_FOR, never, 0},
    {"serial", one_loop, IN_FOR, never, LOOP_SERIAL},
    {"parallel", one_loop, IN_FOR, never, LOOP_PARALLEL},
    {"vectorized", one_loop, IN_FOR, never, LOOP_VECTORIZED},
    {"unroll", one_loop, IN_FOR, never, LOOP_UNROLLED},
    {"thread_binding", "start stop? thread? annotations?", IN_FOR, never, LOOP_THREAD_BINDING},
    {NULL, NULL, 0, NULL, 0},
};

/* The loops of one `for`, outermost first. */
typedef struct Loops {
  int n;
  For *at;
} Loops;

static void check_extent(Reader *r, const Syn *s, Expr extent) {
  if (extent->dtype.lanes != 1)
    READ_FAIL(r, s, CODE_TYPE, NULL, "a loop's bound cannot be a vector");
}

static For simple_loop(Reader *r, const Syn *s) {
  Expr extent = tirc_read_int(r, s, "a loop's extent");
  check_extent(r, s, extent);
  return (For){.min = tirc_int(r->c, extent->dtype, 0), .extent = extent};
}

/* start..stop, or 0..start */
static For bounded_loop(Reader *r, const Syn *start, const Syn *stop) {
  if (!stop || stop->kind == SYN_NONE) return simple_loop(r, start);
  Expr min = tirc_read_int(r, start, "a loop's start"),
       end = tirc_read_int(r, stop, "a loop's end");
  if (tirc_dtype_equal(min->dtype, DT_INT32) || tirc_dtype_equal(end->dtype, DT_INT32))
    tirc_match_types(r, start, &min, &end);
  Expr extent = tirc_reader_difference(r, min, end);
  check_extent(r, stop, extent);
  return (For){.min = min, .extent = extent};
}

static Loops one(Reader *r, For loop) {
  For *at = tirc_new(r->c, For);
  *at = loop;
  return (Loops){1, at};
}

static Loops grid(Reader *r, const Call *call) {
  Loops all = {call->n_rest + 1, tirc_new_array(r->c, For, call->n_rest + 1)};
  for (int i = 0; i < all.n; i++) all.at[i] = simple_loop(r, i ? call->rest[i - 1] : call->args[0]);
  return all;
}

static Loops kind_of_loop(Reader *r, const Call *call) {
  const LoopKind kind = (LoopKind)call->function->detail;
  const bool threads = kind == LOOP_THREAD_BINDING;
  const Syn *stop = call->args[1], *annotations = call->args[threads ? 3 : 2],
            *thread = threads ? call->args[2] : NULL;
  /* T.thread_binding(64, "threadIdx.x") */
  if (threads && !thread && stop && stop->kind == SYN_STRING) {
    thread = stop;
    stop = NULL;
  }
  For loop = bounded_loop(r, call->args[0], stop);
  loop.kind = kind;
  if (threads && !thread)
    READ_FAIL(r, call->node, CODE_ARGUMENT, "add thread=\"threadIdx.x\"",
              "T.thread_binding needs the name of a thread axis");
  if (threads) loop.thread = tirc_read_string(r, thread, "a thread");
  if (annotations) loop.annotations = tirc_read_attrs(r, annotations);
  return one(r, loop);
}

static Loops read_range(Reader *r, const Syn *s) {
  Call call;
  tirc_bind_call(r, s, "range", "start stop? step? annotations?", &call);
  if (call.args[2])
    READ_FAIL(r, call.args[2], CODE_UNSUPPORTED,
              "loop over the number of steps, and multiply the loop variable",
              "a loop's step is always 1");
  For loop = bounded_loop(r, call.args[0], call.args[1]);
  if (call.args[3]) loop.annotations = tirc_read_attrs(r, call.args[3]);
  return one(r, loop);
}

static Loops read_loops(Reader *r, const Syn *s) {
  const char *path;
  const Function *f = tirc_called_function(r, s, &path);
  bool plain_name = s->kind == SYN_CALL && s->a->kind == SYN_NAME;
  if (plain_name && strcmp(s->a->s, "range") == 0) return read_range(r, s);
  if (path && (!f || !(f->where & IN_FOR))) tirc_read_call(r, s, IN_FOR); /* says why not */
  const char *meant = !f && plain_name ? tirc_function_suggest(r, s->a->s, true) : NULL;
  if (!f)
    READ_FAIL(r, s, CODE_SYNTAX,
              meant ? meant
                    : "loops run over range(n), T.grid(n, m), T.serial, T.parallel, "
                      "T.vectorized, T.unroll or T.thread_binding",
              "a loop cannot run over this");
  Call call;
  tirc_bind_call(r, s, path, f->signature, &call);
  call.function = f;
  return strcmp(f->name, "grid") == 0 ? grid(r, &call) : kind_of_loop(r, &call);
}

static const Syn *loop_name(Reader *r, const Syn *target, int i, int n) {
  bool tuple = target->kind == SYN_TUPLE || target->kind == SYN_LIST;
  int names = tuple ? target->kids.n : 1;
  if (names != n)
    READ_FAIL(r, target, CODE_TYPE, NULL, "the loop has %d name%s for %d loop%s", names,
              names == 1 ? "" : "s", n, n == 1 ? "" : "s");
  const Syn *name = tuple ? target->kids.at[i] : target;
  if (name->kind != SYN_NAME)
    READ_FAIL(r, name, CODE_SYNTAX, NULL, "a loop variable must be a name");
  return name;
}

void tirc_read_for(Reader *r, const Syn *s) {
  if (s->orelse.n) READ_FAIL(r, s, CODE_UNSUPPORTED, NULL, "a loop cannot have an 'else'");
  Loops loops = read_loops(r, s->b);
  tirc_names_open(r);
  for (int i = 0; i < loops.n; i++) {
    For *loop = &loops.at[i];
    const Syn *name = loop_name(r, s->a, i, loops.n);
    DType t =
        loop->min->dtype.bits > loop->extent->dtype.bits ? loop->min->dtype : loop->extent->dtype;
    loop->var = tirc_var(r->c, name->s, t);
    loop->min = tirc_cast(r->c, t, loop->min);
    loop->extent = tirc_cast(r->c, t, loop->extent);
    Range *range = tirc_new(r->c, Range);
    *range = tirc_range(loop->min, loop->extent);
    tirc_map_set(r->c, &r->loop_ranges, loop->var, range);
    tirc_names_bind(r, name, name->s, tirc_py_expr(loop->var), false);
    tirc_enter(r, s);
  }
  Stmt body = tirc_read_body(r, s->body);
  for (int i = loops.n; i-- > 0;) {
    tirc_map_remove(&r->loop_ranges, loops.at[i].var);
    loops.at[i].body = body;
    body = tirc_with_loc(r->c, tirc_for(r->c, &loops.at[i]), s->loc);
    r->nest--;
  }
  tirc_names_close(r);
  tirc_emit(r, s, body);
}

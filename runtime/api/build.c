/* Programs made in code. The builder writes the program in the language, line by line, and the
 * reader reads it at the end: so a built program means what its text means, what is left out (reads
 * and writes, types of constants) is filled in alike, and messages show the line they are about.
 *
 * Every name is made unique within its function, so a handle means its own variable even where a
 * name was asked for twice. The first mistake stays: all that follows does nothing, and
 * tirc_builder_module reports it. */
#include "api.h"
#include "ir/tree/print.h"
#include "passes/record/value.h"

#include <math.h>
#include <stdio.h>

struct tirc_term_node {
  const char *text; /* can stand as an operand */
  int func;         /* the function that it belongs to; 0: any */
  int depth; /* of the brackets in the text, at least that of the operands; names have none */
  bool is_buffer;
};

typedef enum FrameKind {
  FRAME_FUNC,
  FRAME_FOR,
  FRAME_BLOCK,
  FRAME_INIT,
  FRAME_IF,
  FRAME_WHILE
} FrameKind;
typedef struct BuildFrame {
  FrameKind kind;
  bool empty;
} BuildFrame;

struct tirc_builder {
  Tirc *c;     /* holds this struct */
  Text done;   /* functions that are ended */
  Text params; /* of the function that is open */
  Text body;
  const char *name;
  int func;     /* counts functions */
  int depth;    /* of the deepest operand of the call */
  StrMap names; /* taken in this function: the number that the next of that name gets */
  StrMap funcs;
  VEC(BuildFrame) frames;
  tirc_error *error; /* the first mistake, until it is handed out */
  bool failed;
};

static _Noreturn void refuse(tirc_builder *b, const char *hint, const char *message) {
  tirc_fail(b->c, (Loc){0}, CODE_BUILD, hint, "%s", message);
}

/* --- lines and names ------------------------------------------------------------------------- */

static void add_line(tirc_builder *b, const char *text) {
  if (!b->frames.n) refuse(b, "begin with tirc_build_func", "no function is open");
  tirc_text_addf(&b->body, "%*s%s\n", 4 * b->frames.n, "", text);
  b->frames.at[b->frames.n - 1].empty = false;
}

/* What the reader would refuse at the end is refused before there is too much of it. */
static void check_depth(tirc_builder *b, int depth) {
  if (depth > SYNTAX_MAX_DEPTH)
    refuse(b, "split it: give parts of it their own names",
           tirc_format(b->c, "nested too deeply: more than %d levels", SYNTAX_MAX_DEPTH));
}

static void open(tirc_builder *b, FrameKind kind) {
  check_depth(b, b->frames.n + 1);
  vec_push(b->c, b->frames, ((BuildFrame){kind, true}));
}

static bool is_identifier(const char *s) {
  if (!s || !(*s == '_' || (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z'))) return false;
  while (*s == '_' || (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
         (*s >= '0' && *s <= '9'))
    s++;
  return !*s;
}

static const char *word(tirc_builder *b, const char *s) {
  if (!is_identifier(s) || tirc_is_reserved(s))
    refuse(b, "names are letters, digits and _",
           tirc_format(b->c, "\"%s\" cannot be a name in the language", s ? s : ""));
  return s;
}

static const char *fresh(tirc_builder *b, const char *wish) {
  if (!b->frames.n) refuse(b, "begin with tirc_build_func", "no function is open");
  const char *name = wish = tirc_strdup(b->c, word(b, wish));
  uintptr_t next = (uintptr_t)tirc_strmap_get(&b->names, wish);
  if (next) do
      name = tirc_format(b->c, "%s_%d", wish, (int)next++);
    while (tirc_strmap_get(&b->names, name));
  else
    next = 1;
  *tirc_strmap_at(b->c, &b->names, name) = (void *)(uintptr_t)1;
  *tirc_strmap_at(b->c, &b->names, wish) = (void *)next;
  return name;
}

static const char *quoted(tirc_builder *b, const char *s) {
  if (!s) refuse(b, NULL, "a text is missing");
  return tirc_value_repr(b->c, tirc_value_str(s));
}

static const char *dtype(tirc_builder *b, const char *s) {
  DType t;
  if (!s || !tirc_dtype_parse(s, &t))
    refuse(b, "types are bool, int32, float32, ...",
           tirc_format(b->c, "\"%s\" is not a type", s ? s : ""));
  return s;
}

/* --- terms ----------------------------------------------------------------------------------- */

static tirc_term make_term(tirc_builder *b, const char *text, int func) {
  enum { MAX_TEXT = 1 << 20 }; /* a term that is used twice stands in the text twice */
  struct tirc_term_node *t = tirc_new(b->c, struct tirc_term_node);
  check_depth(b, b->depth + 1);
  if (strlen(text) > MAX_TEXT)
    refuse(b, "give parts of it names by tirc_build_let",
           tirc_format(b->c, "an expression of more than %d bytes of text", MAX_TEXT));
  *t = (struct tirc_term_node){text, func, b->depth + 1, false};
  return t;
}

static tirc_term make_name(tirc_builder *b, const char *name, bool is_buffer) {
  struct tirc_term_node *t = tirc_new(b->c, struct tirc_term_node);
  *t = (struct tirc_term_node){name, b->func, 0, is_buffer};
  return t;
}

static const char *use(tirc_builder *b, tirc_term t) {
  if (!t) refuse(b, NULL, "an expression is missing");
  if (t->func && t->func != b->func)
    refuse(b, NULL, tirc_format(b->c, "\"%s\" belongs to another function", t->text));
  if (t->depth > b->depth) b->depth = t->depth;
  return t->text;
}

static const char *use_buffer(tirc_builder *b, tirc_term t) {
  const char *text = use(b, t);
  if (!t->is_buffer) refuse(b, NULL, tirc_format(b->c, "\"%s\" is not a buffer", text));
  return text;
}

static const char *list(tirc_builder *b, int n, const tirc_term *at) {
  Text t = {.c = b->c};
  tirc_text_add(&t, "");
  if (n < 0 || (n && !at)) refuse(b, NULL, "a list of expressions is missing");
  for (int i = 0; i < n; i++) tirc_text_addf(&t, "%s%s", i ? ", " : "", use(b, at[i]));
  return t.at;
}

static const char *tuple(tirc_builder *b, int n, const tirc_term *at) {
  return tirc_format(b->c, n == 1 ? "(%s,)" : "(%s)", list(b, n, at));
}

static const char *element(tirc_builder *b, tirc_term buffer, int n, const tirc_term *at) {
  return tirc_format(b->c, "%s[%s]", use_buffer(b, buffer), n ? list(b, n, at) : "()");
}

/* --- every entry ----------------------------------------------------------------------------- */

typedef struct Step Step;
struct Step { /* what an entry gives its body */
  tirc_builder *b;
  void (*body)(tirc_builder *b, Step *s);
  const char *s, *name, *extra;
  tirc_term x, y, z;
  int n;
  const tirc_term *at;
  const tirc_buffer_options *options;
  const char *const *names;
  int64_t i;
  double f;
  tirc_term *out;
  tirc_term result;
};

static void take(Tirc *c, void *self) {
  Step *s = self;
  (void)c;
  s->body(s->b, s);
}

static tirc_term step(tirc_builder *b, void (*body)(tirc_builder *b, Step *s), Step s) {
  if (!b || b->failed) return NULL;
  s.b = b;
  s.body = body;
  b->depth = 0;
  b->failed = tirc_api_guard(b->c, take, &s, NULL, &b->error) != TIRC_OK;
  return b->failed ? NULL : s.result;
}

tirc_status tirc_builder_new(tirc_builder **out, tirc_error **error) {
  NEED(out);
  Tirc *c = tirc_context_new();
  Trap trap;
  if (!c) return tirc_api_no_memory(error);
  if (TIRC_TRY(c, trap)) {
    tirc_builder *b = tirc_new(c, tirc_builder);
    b->c = b->done.c = b->params.c = b->body.c = c;
    tirc_text_add(&b->done, "");
    TIRC_END(c, trap);
    *out = b;
    return TIRC_OK;
  }
  tirc_context_release(c);
  return tirc_api_no_memory(error);
}

void tirc_builder_free(tirc_builder *b) {
  if (!b) return;
  tirc_error_free(b->error);
  tirc_context_release(b->c);
}

static void finish(tirc_builder *b, Step *s) {
  (void)s;
  if (b->frames.n)
    refuse(
        b, "each tirc_build_func, _for, _block, _init, _if and _while needs a tirc_build_end",
        tirc_format(b->c, "%d blocks, loops or functions were begun but not ended", b->frames.n));
}

static void fail_again(Tirc *c, void *self) {
  (void)self;
  tirc_fail(c, (Loc){0}, CODE_BUILD, "start with a new one", "the builder failed before");
}

tirc_status tirc_builder_module(tirc_builder *b, tirc_module **out, tirc_error **error) {
  NEED(b, out);
  if (b->failed && !b->error) return tirc_api_scratch(fail_again, NULL, NULL, error);
  step(b, finish, (Step){0});
  if (!b->failed) return tirc_module_parse(b->done.at, b->done.n, "<builder>", 0, NULL, out, error);
  tirc_status status = tirc_error_status(b->error);
  if (error) *error = b->error;
  if (!error) tirc_error_free(b->error);
  b->error = NULL;
  return status;
}

/* --- functions, parameters, buffers ---------------------------------------------------------- */

static void func(tirc_builder *b, Step *s) {
  if (b->frames.n) refuse(b, "end the open one first", "a function cannot stand in another one");
  const char *name = tirc_strdup(b->c, word(b, s->name));
  if (tirc_strmap_get(&b->funcs, name))
    refuse(b, NULL, tirc_format(b->c, "two functions are called %s", name));
  *tirc_strmap_at(b->c, &b->funcs, name) = b;
  b->name = name;
  b->func++;
  b->names = (StrMap){0};
  b->params = b->body = (Text){.c = b->c};
  tirc_text_add(&b->params, "");
  tirc_text_add(&b->body, "");
  open(b, FRAME_FUNC);
}
void tirc_build_func(tirc_builder *b, const char *name) { step(b, func, (Step){.name = name}); }

static void end(tirc_builder *b, Step *s) {
  (void)s;
  if (!b->frames.n) refuse(b, NULL, "there is nothing to end");
  BuildFrame last = b->frames.at[b->frames.n - 1];
  if (last.empty) add_line(b, "T.evaluate(0)");
  b->frames.n--;
  if (last.kind == FRAME_FUNC)
    tirc_text_addf(&b->done, "@T.prim_func\ndef %s(%s):\n%s", b->name, b->params.at, b->body.at);
}
void tirc_build_end(tirc_builder *b) { step(b, end, (Step){0}); }

static void top_only(tirc_builder *b, const char *what) {
  if (b->frames.n != 1)
    refuse(b, NULL, tirc_format(b->c, "%s must stand at the top of a function", what));
}

static void param(tirc_builder *b, Step *s) {
  top_only(b, "parameters");
  const char *name = fresh(b, s->name);
  tirc_text_addf(&b->params, "%s%s: T.%s", b->params.n ? ", " : "", name, dtype(b, s->s));
  s->result = make_name(b, name, false);
}
tirc_term tirc_build_param(tirc_builder *b, const char *name, const char *type) {
  return step(b, param, (Step){.name = name, .s = type});
}

static void symbol(tirc_builder *b, Step *s) {
  top_only(b, "symbolic extents");
  const char *name = fresh(b, s->name);
  add_line(b, tirc_format(b->c, "%s = T.%s()", name, dtype(b, s->s)));
  s->result = make_name(b, name, false);
}
tirc_term tirc_build_symbol(tirc_builder *b, const char *name, const char *type) {
  return step(b, symbol, (Step){.name = name, .s = type});
}

static const char *buffer_options(tirc_builder *b, int ndim, const tirc_buffer_options *o) {
  Text t = {.c = b->c};
  tirc_text_add(&t, "");
  if (!o) return t.at;
  if (o->strides) tirc_text_addf(&t, ", strides=%s", tuple(b, ndim, o->strides));
  if (o->elem_offset) tirc_text_addf(&t, ", elem_offset=%s", use(b, o->elem_offset));
  if (o->scope) tirc_text_addf(&t, ", scope=%s", quoted(b, o->scope));
  if (o->align) tirc_text_addf(&t, ", align=%d", o->align);
  if (o->offset_factor) tirc_text_addf(&t, ", offset_factor=%d", o->offset_factor);
  return t.at;
}

static void buffer(tirc_builder *b, Step *s) {
  top_only(b, "parameters");
  const char *name = fresh(b, s->name);
  const char *handle = fresh(b, tirc_format(b->c, "var_%s", name));
  tirc_text_addf(&b->params, "%s%s: T.handle", b->params.n ? ", " : "", handle);
  add_line(b, tirc_format(b->c, "%s = T.match_buffer(%s, %s, %s%s)", name, handle,
                          tuple(b, s->n, s->at), quoted(b, dtype(b, s->s)),
                          buffer_options(b, s->n, s->options)));
  s->result = make_name(b, name, true);
}
tirc_term tirc_build_buffer(tirc_builder *b, const char *name, const char *type, int ndim,
                            const tirc_term *shape, const tirc_buffer_options *options) {
  return step(b, buffer,
              (Step){.name = name, .s = type, .n = ndim, .at = shape, .options = options});
}

static void alloc(tirc_builder *b, Step *s) {
  const char *name = fresh(b, s->name);
  add_line(b, tirc_format(b->c, "%s = T.alloc_buffer(%s, %s%s)", name, tuple(b, s->n, s->at),
                          quoted(b, dtype(b, s->s)), buffer_options(b, s->n, s->options)));
  s->result = make_name(b, name, true);
}
tirc_term tirc_build_alloc_buffer(tirc_builder *b, const char *name, const char *type, int ndim,
                                  const tirc_term *shape, const tirc_buffer_options *options) {
  return step(b, alloc,
              (Step){.name = name, .s = type, .n = ndim, .at = shape, .options = options});
}

/* --- loops and blocks ------------------------------------------------------------------------ */

static void loop(tirc_builder *b, Step *s) {
  static const char *const kinds[] = {"serial", "parallel", "vectorized", "unroll",
                                      "thread_binding"};
  bool known = false;
  for (size_t i = 0; s->s && i < sizeof kinds / sizeof *kinds; i++)
    known |= !strcmp(kinds[i], s->s);
  if (!known)
    refuse(b, "serial, parallel, vectorized, unroll or thread_binding",
           tirc_format(b->c, "\"%s\" is not a kind of loop", s->s ? s->s : ""));
  const char *range = s->x ? tirc_format(b->c, "%s, %s", use(b, s->x), use(b, s->y)) : use(b, s->y);
  const char *name = fresh(b, s->name);
  if (s->extra) range = tirc_format(b->c, "%s, thread=%s", range, quoted(b, s->extra));
  if (s->z) range = tirc_format(b->c, "%s, annotations=%s", range, use(b, s->z));
  add_line(b, tirc_format(b->c, "for %s in T.%s(%s):", name, s->s, range));
  open(b, FRAME_FOR);
  s->result = make_name(b, name, false);
}
tirc_term tirc_build_for(tirc_builder *b, const char *kind, const char *name, tirc_term start,
                         tirc_term stop, const char *thread, tirc_term annotations) {
  return step(
      b, loop,
      (Step){.s = kind, .name = name, .x = start, .y = stop, .extra = thread, .z = annotations});
}

static void grid(tirc_builder *b, Step *s) {
  Text vars = {.c = b->c};
  const char *extents = list(b, s->n, s->at);
  if (s->n < 1) refuse(b, NULL, "a grid without loops");
  if (!s->names || !s->out)
    refuse(b, NULL, "the names of the loops, or a place for them, are missing");
  for (int i = 0; i < s->n; i++) {
    const char *name = fresh(b, s->names[i]);
    tirc_text_addf(&vars, "%s%s", i ? ", " : "", name);
    s->out[i] = make_name(b, name, false);
  }
  add_line(b, tirc_format(b->c, "for %s in T.grid(%s):", vars.at, extents));
  open(b, FRAME_FOR);
}
void tirc_build_grid(tirc_builder *b, int n, const char *const *names, const tirc_term *extents,
                     tirc_term *vars) {
  for (int i = 0; vars && i < n; i++) vars[i] = NULL;
  step(b, grid, (Step){.n = n, .names = names, .at = extents, .out = vars});
}

static void block(tirc_builder *b, Step *s) {
  add_line(b, tirc_format(b->c, "with T.block(%s):", quoted(b, s->name)));
  open(b, FRAME_BLOCK);
}
void tirc_build_block(tirc_builder *b, const char *name) { step(b, block, (Step){.name = name}); }

static void block_only(tirc_builder *b, const char *what) {
  if (!b->frames.n || b->frames.at[b->frames.n - 1].kind != FRAME_BLOCK)
    refuse(b, "between tirc_build_block and its tirc_build_end",
           tirc_format(b->c, "%s directly in a block", what));
}

static void axis(tirc_builder *b, Step *s) {
  static const char *const kinds[] = {"spatial", "reduce", "opaque", "scan"};
  bool known = false;
  for (size_t i = 0; s->s && i < sizeof kinds / sizeof *kinds; i++)
    known |= !strcmp(kinds[i], s->s);
  if (!known)
    refuse(b, "spatial, reduce, opaque or scan",
           tirc_format(b->c, "\"%s\" is not a kind of iterator", s->s ? s->s : ""));
  block_only(b, "an iterator stands");
  const char *name = fresh(b, s->name);
  const char *domain =
      s->z ? tirc_format(b->c, "(%s, %s)", use(b, s->z), use(b, s->x)) : use(b, s->x);
  add_line(b, tirc_format(b->c, "%s = T.axis.%s(%s, %s)", name, s->s, domain, use(b, s->y)));
  s->result = make_name(b, name, false);
}
tirc_term tirc_build_axis(tirc_builder *b, const char *kind, const char *name, tirc_term begin,
                          tirc_term end_, tirc_term value) {
  return step(b, axis, (Step){.s = kind, .name = name, .z = begin, .x = end_, .y = value});
}

static void in_block(tirc_builder *b, Step *s) {
  block_only(b, tirc_format(b->c, "T.%s stands", s->s));
  add_line(b, tirc_format(b->c, "T.%s(%s)", s->s, list(b, s->n, s->at)));
}
void tirc_build_where(tirc_builder *b, tirc_term condition) {
  step(b, in_block, (Step){.s = "where", .n = 1, .at = &condition});
}
void tirc_build_reads(tirc_builder *b, int n, const tirc_term *regions) {
  step(b, in_block, (Step){.s = "reads", .n = n, .at = regions});
}
void tirc_build_writes(tirc_builder *b, int n, const tirc_term *regions) {
  step(b, in_block, (Step){.s = "writes", .n = n, .at = regions});
}

static void attr(tirc_builder *b, Step *s) {
  if (*s->s == 'b')
    block_only(b, "T.block_attr stands");
  else
    top_only(b, "attributes of a function");
  add_line(b, tirc_format(b->c, "T.%s({%s: %s})", s->s, quoted(b, s->name), use(b, s->x)));
}
void tirc_build_block_attr(tirc_builder *b, const char *key, tirc_term value) {
  step(b, attr, (Step){.s = "block_attr", .name = key, .x = value});
}
void tirc_build_func_attr(tirc_builder *b, const char *key, tirc_term value) {
  step(b, attr, (Step){.s = "func_attr", .name = key, .x = value});
}

static void init(tirc_builder *b, Step *s) {
  (void)s;
  block_only(b, "T.init stands");
  add_line(b, "with T.init():");
  open(b, FRAME_INIT);
}
void tirc_build_init(tirc_builder *b) { step(b, init, (Step){0}); }

/* --- statements ------------------------------------------------------------------------------ */

static void store(tirc_builder *b, Step *s) {
  add_line(b, tirc_format(b->c, "%s = %s", element(b, s->y, s->n, s->at), use(b, s->x)));
}
void tirc_build_store(tirc_builder *b, tirc_term buffer_, int n, const tirc_term *indices,
                      tirc_term value) {
  step(b, store, (Step){.y = buffer_, .n = n, .at = indices, .x = value});
}

static void branch(tirc_builder *b, Step *s) {
  add_line(b, tirc_format(b->c, "%s %s:", s->s, use(b, s->x)));
  open(b, *s->s == 'i' ? FRAME_IF : FRAME_WHILE);
}
void tirc_build_if(tirc_builder *b, tirc_term condition) {
  step(b, branch, (Step){.s = "if", .x = condition});
}
void tirc_build_while(tirc_builder *b, tirc_term condition) {
  step(b, branch, (Step){.s = "while", .x = condition});
}

static void otherwise(tirc_builder *b, Step *s) {
  (void)s;
  if (!b->frames.n || b->frames.at[b->frames.n - 1].kind != FRAME_IF)
    refuse(b, "before the tirc_build_end of a tirc_build_if", "this else has no if");
  end(b, s);
  add_line(b, "else:");
  open(b, FRAME_WHILE); /* which has no else of its own */
}
void tirc_build_else(tirc_builder *b) { step(b, otherwise, (Step){0}); }

static void let(tirc_builder *b, Step *s) {
  const char *value = use(b, s->x), *name = fresh(b, s->name);
  add_line(b, tirc_format(b->c, "%s: T.%s = %s", name, dtype(b, s->s), value));
  s->result = make_name(b, name, false);
}
tirc_term tirc_build_let(tirc_builder *b, const char *name, const char *type, tirc_term value) {
  return step(b, let, (Step){.name = name, .s = type, .x = value});
}

static void assertion(tirc_builder *b, Step *s) {
  add_line(b, tirc_format(b->c, "assert %s, %s", use(b, s->x), quoted(b, s->s)));
}
void tirc_build_assert(tirc_builder *b, tirc_term condition, const char *message) {
  step(b, assertion, (Step){.x = condition, .s = message});
}

static void evaluate(tirc_builder *b, Step *s) {
  add_line(b, tirc_format(b->c, "T.evaluate(%s)", use(b, s->x)));
}
void tirc_build_evaluate(tirc_builder *b, tirc_term e) { step(b, evaluate, (Step){.x = e}); }

/* --- expressions ----------------------------------------------------------------------------- */

static void integer(tirc_builder *b, Step *s) {
  const char *text = tirc_format(b->c, s->i < 0 ? "(%lld)" : "%lld", (long long)s->i);
  if (s->s) text = tirc_format(b->c, "T.%s(%s)", dtype(b, s->s), text);
  s->result = make_term(b, text, 0);
}
tirc_term tirc_build_int(tirc_builder *b, const char *type, int64_t value) {
  return step(b, integer, (Step){.s = type, .i = value});
}

static void unsigned_integer(tirc_builder *b, Step *s) {
  const char *text = tirc_format(b->c, "%llu", (unsigned long long)s->i);
  if (s->s) text = tirc_format(b->c, "T.%s(%s)", dtype(b, s->s), text);
  s->result = make_term(b, text, 0);
}
tirc_term tirc_build_uint(tirc_builder *b, const char *type, uint64_t value) {
  return step(b, unsigned_integer, (Step){.s = type, .i = (int64_t)value});
}

static void number(tirc_builder *b, Step *s) {
  const char *text = isfinite(s->f) ? tirc_value_repr(b->c, tirc_value_float(s->f))
                     : isnan(s->f)  ? "\"nan\""
                     : s->f < 0     ? "\"-inf\""
                                    : "\"inf\"";
  s->result =
      make_term(b, tirc_format(b->c, "T.%s(%s)", dtype(b, s->s ? s->s : "float32"), text), 0);
}
tirc_term tirc_build_float(tirc_builder *b, const char *type, double value) {
  return step(b, number, (Step){.s = type, .f = value});
}

static void string(tirc_builder *b, Step *s) { s->result = make_term(b, quoted(b, s->s), 0); }
tirc_term tirc_build_string(tirc_builder *b, const char *text) {
  return step(b, string, (Step){.s = text});
}

static void operation(tirc_builder *b, Step *s) {
  static const char *const known[] = {"+", "-", "*",  "/", "//", "%",  "<<", ">>",  "&", "|",
                                      "^", "<", "<=", ">", ">=", "==", "!=", "and", "or"};
  bool found = false;
  for (size_t i = 0; s->s && i < sizeof known / sizeof *known; i++)
    found |= !strcmp(known[i], s->s);
  if (!found)
    refuse(b, NULL,
           tirc_format(b->c, "\"%s\" is not an operator of two operands", s->s ? s->s : ""));
  const char *x = use(b, s->x), *y = use(b, s->y);
  s->result = make_term(b, tirc_format(b->c, "(%s %s %s)", x, s->s, y), s->x->func | s->y->func);
}
tirc_term tirc_build_op(tirc_builder *b, const char *op, tirc_term x, tirc_term y) {
  return step(b, operation, (Step){.s = op, .x = x, .y = y});
}

static void load(tirc_builder *b, Step *s) {
  s->result = make_term(b, element(b, s->y, s->n, s->at), b->func);
}
tirc_term tirc_build_load(tirc_builder *b, tirc_term buffer_, int n, const tirc_term *indices) {
  return step(b, load, (Step){.y = buffer_, .n = n, .at = indices});
}

static void region(tirc_builder *b, Step *s) {
  Text t = {.c = b->c};
  const char *of = use_buffer(b, s->y);
  if (s->n < 0 || (s->n && !s->at)) refuse(b, NULL, "a list of expressions is missing");
  for (int i = 0; i < s->n; i++)
    tirc_text_addf(&t, "%s%s:%s", i ? ", " : "", use(b, s->at[2 * i]), use(b, s->at[2 * i + 1]));
  s->result = make_term(b, tirc_format(b->c, "%s[%s]", of, s->n ? t.at : "()"), b->func);
}
tirc_term tirc_build_region(tirc_builder *b, tirc_term buffer_, int n, const tirc_term *bounds) {
  return step(b, region, (Step){.y = buffer_, .n = n, .at = bounds});
}

static void intrinsic(tirc_builder *b, Step *s) {
  s->result =
      make_term(b, tirc_format(b->c, "T.%s(%s)", word(b, s->s), list(b, s->n, s->at)), b->func);
}
tirc_term tirc_build_call(tirc_builder *b, const char *name, int n, const tirc_term *args) {
  return step(b, intrinsic, (Step){.s = name, .n = n, .at = args});
}

static void cast(tirc_builder *b, Step *s) {
  const char *x = use(b, s->x);
  const char *text = tirc_format(b->c, "T.Cast(%s, %s)", quoted(b, dtype(b, s->s)), x);
  s->result = make_term(b, text, s->x->func);
}
tirc_term tirc_build_cast(tirc_builder *b, const char *type, tirc_term x) {
  return step(b, cast, (Step){.s = type, .x = x});
}

static void words(tirc_builder *b, Step *s) {
  if (!s->s || strpbrk(s->s, "\n#"))
    refuse(b, NULL, "an expression is one line of text without comments");
  s->result = make_term(b, tirc_format(b->c, "(%s)", s->s), b->func);
}
tirc_term tirc_build_text(tirc_builder *b, const char *expression) {
  return step(b, words, (Step){.s = expression});
}

/* Values across the boundary: the public struct becomes a value of the schedule language, and back.
 * Both ways everything is copied into the schedule's arena, handles stay what they are. */
#include "ir/utf8.h"
#include "schedule.h"

enum { MAX_DEPTH = 64 }; /* lists may contain themselves */

static _Noreturn void refuse(tirc_schedule *x, const char *hint, const char *message) {
  tirc_fail(x->c, x->place, CODE_ARGUMENT, hint, "%s", message);
}

/* --- inward ----------------------------------------------------------------------------------- */

/* A function outside of the library as one that primitives can call. */
typedef struct Foreign {
  Callable base;
  tirc_schedule *x;
  tirc_function f;
} Foreign;

static Value call_foreign(Callable *self, int n, const Value *args) {
  Foreign *foreign = (Foreign *)self;
  tirc_schedule *x = foreign->x;
  tirc_value *given = tirc_new_array(x->c, tirc_value, n + 1), result = tirc_none();
  for (int i = 0; i < n; i++) given[i] = tirc_value_outward(x, args[i]);
  if (foreign->f.call(foreign->f.self, x, n, given, &result) != TIRC_OK)
    tirc_fail(x->c, x->place, CODE_CALLBACK, NULL, "the function %s failed", foreign->base.name);
  return tirc_value_inward(x, &result);
}

static Value foreign(tirc_schedule *x, const tirc_function *f) {
  if (!f || !f->call) refuse(x, NULL, "a function value without a function");
  Foreign *r = tirc_new(x->c, Foreign);
  const char *name = f->name ? tirc_strdup(x->c, f->name) : "<function>";
  *r = (Foreign){{call_foreign, f->n_params, name}, x, *f};
  return (Value){.kind = VAL_FUNCTION, .u.object = r};
}

static Value evaluate(tirc_schedule *x, const char *text) {
  if (!text) refuse(x, NULL, "a script value without text");
  Source source = {"<expression>", tirc_strdup(x->c, text), strlen(text)};
  return tirc_script_value(x->sc, &source);
}

static Value inward(tirc_schedule *x, const tirc_value *v, int depth);

static Value items(tirc_schedule *x, const tirc_value *v, int depth) {
  static const ValueKind kinds[] = {
      [TIRC_KIND_LIST] = VAL_LIST, [TIRC_KIND_TUPLE] = VAL_TUPLE, [TIRC_KIND_DICT] = VAL_DICT};
  if (v->n < 0 || v->n > INT32_MAX / 2 || (v->n && !v->u.items))
    refuse(x, NULL, "a list value without items");
  if (depth > MAX_DEPTH) refuse(x, NULL, "lists are nested too deeply");
  if (v->kind == TIRC_KIND_DICT && v->n % 2) refuse(x, NULL, "a dict has a key without a value");
  Value list = tirc_value_list(x->c, kinds[v->kind], 0, NULL);
  for (int64_t i = 0; i < v->n; i++)
    tirc_value_append(x->c, list, inward(x, &v->u.items[i], depth + 1));
  return list;
}

static Value handle(tirc_schedule *x, const tirc_value *v) {
  void *at = (void *)(uintptr_t)v->u.handle;
  if (!at || v->owner != x->family)
    refuse(x, "find the block or loop in this schedule, with get_block and get_loops",
           v->owner ? "the handle belongs to another schedule" : "the handle is not a schedule's");
  switch (v->kind) {
  case TIRC_KIND_BLOCK: return tirc_value_block((uint32_t)(uintptr_t)at);
  case TIRC_KIND_LOOP: return tirc_value_loop(at);
  case TIRC_KIND_EXPR: return tirc_value_expr(at);
  case TIRC_KIND_BUFFER: return tirc_value_buffer(at);
  default: return (Value){.kind = VAL_OBJECT, .u.object = at, .type = v->type};
  }
}

static const char *wrong_text(tirc_schedule *x, const char *s) {
  const char *at = tirc_utf8_wrong(s);
  return tirc_format(x->c, "byte 0x%02X, number %d of a string value, is not UTF-8 text",
                     (unsigned char)*at, (int)(at - s) + 1);
}

static Value inward(tirc_schedule *x, const tirc_value *v, int depth) {
  Value r;
  switch (v->kind) {
  case TIRC_KIND_NONE: return VALUE_NONE;
  case TIRC_KIND_BOOL: return tirc_value_bool(v->u.b);
  case TIRC_KIND_INT: r = tirc_value_int(v->u.i); break;
  case TIRC_KIND_FLOAT: r = tirc_value_float(v->u.f); break;
  case TIRC_KIND_STR:
    if (!v->u.s) refuse(x, NULL, "a string value without text");
    if (tirc_utf8_wrong(v->u.s)) refuse(x, NULL, wrong_text(x, v->u.s));
    return tirc_value_str(tirc_strdup(x->c, v->u.s));
  case TIRC_KIND_LIST:
  case TIRC_KIND_TUPLE:
  case TIRC_KIND_DICT: return items(x, v, depth);
  case TIRC_KIND_BLOCK:
  case TIRC_KIND_LOOP:
  case TIRC_KIND_EXPR:
  case TIRC_KIND_BUFFER:
  case TIRC_KIND_OBJECT: r = handle(x, v); break;
  case TIRC_KIND_FUNCTION: return foreign(x, v->u.function);
  case TIRC_KIND_SCRIPT: return evaluate(x, v->u.s);
  default:
    refuse(x, "zero the struct, or use the functions that make values", "this is not a value");
  }
  r.rv = v->owner == x->family ? v->number : 0;
  return r;
}

Value tirc_value_inward(tirc_schedule *x, const tirc_value *v) { return inward(x, v, 0); }

Value *tirc_values_inward(tirc_schedule *x, int64_t n, const tirc_value *at) {
  if (n < 0 || n > INT32_MAX / 2 || (n && !at)) refuse(x, NULL, "the arguments are missing");
  Value *r = tirc_new_array(x->c, Value, n + 1);
  for (int64_t i = 0; i < n; i++) r[i] = tirc_value_inward(x, &at[i]);
  return r;
}

/* --- outward ---------------------------------------------------------------------------------- */

static tirc_value outward(tirc_schedule *x, Value v, int depth);

static const tirc_value *items_outward(tirc_schedule *x, const ValueList *list, int depth) {
  tirc_value *at = tirc_new_array(x->c, tirc_value, list->n + 1);
  for (int i = 0; i < list->n; i++) at[i] = outward(x, list->at[i], depth + 1);
  return at;
}

static tirc_value outward(tirc_schedule *x, Value v, int depth) {
  static const tirc_kind kinds[] = {
      [VAL_NONE] = TIRC_KIND_NONE,       [VAL_BOOL] = TIRC_KIND_BOOL,
      [VAL_INT] = TIRC_KIND_INT,         [VAL_FLOAT] = TIRC_KIND_FLOAT,
      [VAL_STR] = TIRC_KIND_STR,         [VAL_LIST] = TIRC_KIND_LIST,
      [VAL_TUPLE] = TIRC_KIND_TUPLE,     [VAL_DICT] = TIRC_KIND_DICT,
      [VAL_EXPR] = TIRC_KIND_EXPR,       [VAL_BLOCK] = TIRC_KIND_BLOCK,
      [VAL_LOOP] = TIRC_KIND_LOOP,       [VAL_BUFFER] = TIRC_KIND_BUFFER,
      [VAL_FUNCTION] = TIRC_KIND_OBJECT, [VAL_OBJECT] = TIRC_KIND_OBJECT,
  };
  tirc_value r = tirc_none();
  r.kind = kinds[v.kind];
  r.number = v.rv;
  r.owner = x->family;
  r.type = tirc_script_type_name(v);
  switch (v.kind) {
  case VAL_NONE: break;
  case VAL_BOOL: r.u.b = v.u.b; break;
  case VAL_INT: r.u.i = v.u.i; break;
  case VAL_FLOAT: r.u.f = v.u.f; break;
  case VAL_STR: r.u.s = v.u.s; break;
  case VAL_LIST:
  case VAL_TUPLE:
  case VAL_DICT:
    r.n = depth < MAX_DEPTH ? v.u.list->n : 0;
    r.u.items = r.n ? items_outward(x, v.u.list, depth) : NULL;
    break;
  case VAL_BLOCK: r.u.handle = (const void *)(uintptr_t)v.u.block_id; break;
  case VAL_BUFFER: r.u.handle = v.u.buffer; break;
  case VAL_EXPR:
  case VAL_LOOP: r.u.handle = v.u.expr; break;
  case VAL_FUNCTION:
  case VAL_OBJECT: r.u.handle = v.u.object; break;
  }
  return r;
}

tirc_value tirc_value_outward(tirc_schedule *x, Value v) { return outward(x, v, 0); }

/* Memory that a function makes is of the device that the attributes "device_type" and "device_id"
 * around it name, a processor's where there are none. They go; one without the other does not say
 * which device it is. */
#include "internal.h"

typedef struct Devices {
  Expr type, id;
  bool host; /* the function is for a host, whose memory of some size is the runtime's */
} Devices;

static bool is_key(Stmt s, const char *key) {
  return s->kind == STMT_ATTR && strcmp(s->u.attr.key, key) == 0;
}

static void check(Mutator *m, Stmt s) {
  enum { MOST_ON_STACK = 1024, PROCESSOR = 1 };
  const Devices *d = m->self;
  const int64_t bytes = tirc_lower_bytes(s->u.alloc.buffer);
  const bool small = bytes >= 0 && bytes <= MOST_ON_STACK;
  if (!d->type != !d->id && !(d->type && tirc_is_int(d->type, PROCESSOR) && small))
    tirc_fail(
        m->c, tirc_place_of(s), CODE_LOWER,
        "with T.attr(\"default\", \"device_id\", 0), T.attr(\"default\", \"device_type\", 2):",
        "the allocation of %s needs the attribute %s of its device", s->u.alloc.buffer->name,
        d->type ? "device_id" : "device_type");
}

static Stmt visit(Mutator *m, Stmt s) {
  Devices *d = m->self;
  const Devices outer = *d;
  if (s->kind == STMT_ALLOC && strcmp(s->u.alloc.buffer->scope, "global") == 0) check(m, s);
  if (!is_key(s, "device_type") && !is_key(s, "device_id")) return tirc_mutate_stmt_children(m, s);
  *(is_key(s, "device_id") ? &d->id : &d->type) = s->u.attr.value;
  Stmt body = tirc_mutate_stmt(m, s->u.attr.body);
  *d = outer;
  return body;
}

Stmt tirc_lower_device_memory(Tirc *c, const Func *f) {
  Devices d = {0};
  return tirc_mutate_stmt(&(Mutator){.c = c, .expr = tirc_keep_expr, .stmt = visit, .self = &d},
                          f->body);
}

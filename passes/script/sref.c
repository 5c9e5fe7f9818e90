/* References to loops and blocks of a schedule, as sch.get_sref gives them: tirc_script_get_sref;
 * and what a scope knows of its blocks. They are looked up in the schedule at each use, so they
 * follow the statement through rewrites like a handle, and give None once it is gone. */
#include "passes/schedule/state/state.h"

#include "interp.h"
#include "passes/schedule/shape/shape.h"

typedef struct StmtRef { /* of a "StmtSRef" and of a "BlockScope" */
  Sched *s;
  Stmt stmt; /* it, or an earlier form of it */
} StmtRef;
typedef struct Dependency {
  Sched *s;
  Dep dep;
} Dependency;

static SRef *node(Value v) {
  const StmtRef *r = v.u.object;
  return tirc_sref_find(r->s, r->stmt);
}

static Value reference(Script *sc, Sched *s, const SRef *to, const char *type) {
  if (!to || !to->stmt) return VALUE_NONE;
  StmtRef *r = tirc_new(sc->c, StmtRef);
  *r = (StmtRef){s, to->stmt};
  return tirc_script_object(type, r);
}

Value tirc_script_get_sref(Script *sc, Sched *s, Value v) {
  const bool handle = v.kind == VAL_BLOCK || v.kind == VAL_LOOP;
  const Value statement = handle ? tirc_script_resolve_in(sc, s, v) : v;
  if (!tirc_script_is(statement, "For") && !tirc_script_is(statement, "Block"))
    tirc_script_error(sc, "TypeError", "sch.get_block(\"name\") finds a block by its name",
                      "get_sref() takes a block or a loop, not %s", tirc_script_a_type(sc, v));
  return reference(sc, s, tirc_sref_find(s, statement.u.object), "StmtSRef");
}

Value tirc_script_stmt_of_sref(Value sref) {
  const SRef *r = node(sref);
  return r && r->stmt ? tirc_script_of_stmt(r->stmt) : VALUE_NONE;
}

bool tirc_script_equal_srefs(Value a, Value b) {
  const StmtRef *x = a.u.object, *y = b.u.object;
  return x->s == y->s && node(a) == node(b);
}

static Value get_stmt(Script *sc, Value v) { return (void)sc, tirc_script_stmt_of_sref(v); }

static Value get_parent(Script *sc, Value v) {
  const SRef *r = node(v);
  return reference(sc, ((const StmtRef *)v.u.object)->s, r ? r->parent : NULL, "StmtSRef");
}

static Value get_seq_index(Script *sc, Value v) {
  SRef *r = node(v);
  return (void)sc, tirc_value_int(r && r->stmt ? tirc_item_index(r) : -1);
}

static const SRef *block_argument(Script *sc, const Value *given, const char *who) {
  Value v = given ? *given : VALUE_NONE;
  const SRef *r = tirc_script_is(v, "StmtSRef") ? node(v) : NULL;
  if (!r || !r->stmt || r->stmt->kind != STMT_BLOCK)
    tirc_script_error(sc, "TypeError", "sch.get_sref(block) returns it",
                      "%s() needs the reference of a block, not %s", who,
                      tirc_script_a_type(sc, v));
  return r;
}

static Value run_get_block_scope(Script *sc, Value self, const Args *a) {
  const Value *block = tirc_script_argument(a, 0, "block_sref");
  return reference(sc, self.u.object, block_argument(sc, block, "get_block_scope"), "BlockScope");
}

/* What is known of a block: bindings that are quasi-affine, producers that write all that it reads,
 * a scope that is a pipeline of stages. */
static Value run_cached_flags(Script *sc, Value self, const Args *a) {
  SRef *block = (SRef *)(uintptr_t)block_argument(sc, tirc_script_argument(a, 0, "block_sref"),
                                                  "cached_flags");
  Sched *s = self.u.object;
  const bool flags[] = {tirc_has_affine_binding(s, block), tirc_has_region_cover(s, block),
                        tirc_is_stage_pipeline(s, block)};
  Value tuple = tirc_value_list(sc->c, VAL_TUPLE, 0, NULL);
  for (int i = 0; i < 3; i++) tirc_value_append(sc->c, tuple, tirc_value_bool(flags[i]));
  return tuple;
}

/* The dependences that begin (or end) at a block of the scope. */
static Value deps(Script *sc, Value self, const Args *a, const char *who, bool from) {
  const SRef *block = block_argument(sc, tirc_script_argument(a, 0, "block"), who);
  const SRef *scope = node(self);
  Value list = tirc_value_list(sc->c, VAL_LIST, 0, NULL);
  if (!scope || !scope->scope) return list;
  Sched *s = ((const StmtRef *)self.u.object)->s;
  Deps all = tirc_deps_of(s, scope->scope);
  tirc_script_tick(sc, all.n);
  for (int i = 0; i < all.n; i++) {
    if ((from ? all.at[i].src : all.at[i].dst) != block) continue;
    Dependency *d = tirc_new(sc->c, Dependency);
    *d = (Dependency){s, all.at[i]};
    tirc_value_append(sc->c, list, tirc_script_object("Dependency", d));
  }
  return list;
}

static Value run_by_src(Script *sc, Value self, const Args *a) {
  return deps(sc, self, a, "get_deps_by_src", true);
}
static Value run_by_dst(Script *sc, Value self, const Args *a) {
  return deps(sc, self, a, "get_deps_by_dst", false);
}

static const Dependency *dependency(Value v) { return v.u.object; }
static Value get_src(Script *sc, Value v) {
  return reference(sc, dependency(v)->s, dependency(v)->dep.src, "StmtSRef");
}
static Value get_dst(Script *sc, Value v) {
  return reference(sc, dependency(v)->s, dependency(v)->dep.dst, "StmtSRef");
}
static Value get_kind(Script *sc, Value v) {
  return (void)sc, tirc_value_int(dependency(v)->dep.kind);
}

const NativeRow tirc_script_sref_methods[] = {
    {"ScheduleState", "get_block_scope", run_get_block_scope, 0, 1, "block_sref"},
    {"ScheduleState", "cached_flags", run_cached_flags, 0, 1, "block_sref"},
    {"BlockScope", "get_deps_by_src", run_by_src, 0, 1, "block"},
    {"BlockScope", "get_deps_by_dst", run_by_dst, 0, 1, "block"},
    {0},
};

const AttributeRow tirc_script_sref_attributes[] = {
    {"StmtSRef", "stmt", get_stmt},
    {"StmtSRef", "parent", get_parent},
    {"Dependency", "src", get_src},
    {"StmtSRef", "seq_index", get_seq_index},
    {"Dependency", "dst", get_dst},
    {"Dependency", "kind", get_kind},
    {0},
};

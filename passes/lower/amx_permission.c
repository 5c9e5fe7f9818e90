/* Products of AMX's tiles (ir/tree/amx.h) need the system's permission, which a function with such
 * asks for on entry: one that is refused says so and does nothing.
 *
 *   assert T.amx_permitted(), "the system permits no tiles of AMX ..." */
#include "internal.h"
#include "ir/tree/amx.h"

static bool find_amx(Visitor *v, Stmt s) {
  *(bool *)v->self |= tirc_is_amx(s);
  return !*(bool *)v->self;
}

Stmt tirc_lower_amx_permission(Tirc *c, const Func *f) {
  bool found = false;
  tirc_visit_stmt(&(Visitor){.stmt = find_amx, .self = &found}, f->body);
  if (!found) return f->body;
  return tirc_assert_stmt(c, tirc_call(c, DT_BOOL, CALL_AMX_PERMITTED, 0, NULL),
                          "the system does not permit AMX tiles: they need Linux 5.16 or later and "
                          "a processor with AMX",
                          f->body);
}

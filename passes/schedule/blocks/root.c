/* add_root_block: a function without blocks gets one around its body, so that its loops and
 * statements can be reached.
 *
 *   for i in range(8):                       with T.block("root"):
 *       C[i] = 0.0        add_root_block         for i in range(8):
 *                               ->                   C[i] = 0.0
 *
 * A function that has a root block keeps it. */
#include "blocks.h"

void tirc_prim_add_root_block(Sched *s, const Value *args, Value *result) {
  Tirc *c = s->c;
  const int at = tirc_function_named(s, args[0].kind == VAL_STR ? args[0].u.s : NULL);
  const Func *f = s->mod->funcs[at];
  if (!s->roots[at]) {
    if (!f->body || tirc_is_kernel(f))
      tirc_refuse(s, NULL, SERR_FUNCTION_NOT_FOUND, "the function %s is %s", f->name,
                  f->body ? "code of a GPU that is lowered already" : "declared only");
    const Block root = {.name = "root", .predicate = tirc_bool(c, true), .body = f->body};
    tirc_sched_restore(
        s, tirc_module_with_func(c, s->mod, at, tirc_func_with_body(c, f, tirc_block(c, &root))));
  }
  *result = tirc_value_of_sref(s->roots[at]);
}

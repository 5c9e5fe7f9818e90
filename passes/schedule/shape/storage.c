/* Buffers of other storage scopes. */
#include "ir/nearest.h"
#include "ir/scopes.h"
#include "shape.h"

void tirc_require_storage_scope(Sched *s, const char *scope) {
  static const char *const scopes[] = {"global", "shared", "shared.dyn", "local", "warp"};
  if (*scope && tirc_storage_of(scope) == STORAGE_UNKNOWN)
    tirc_sched_error(s, NULL, SERR_STORAGE_SCOPE, NULL,
                     tirc_nearest(s->c, scope, sizeof scopes / sizeof *scopes, scopes),
                     "There is no storage scope \"%s\".", scope);
}

Buffer tirc_buffer_with_scope(Tirc *c, Buffer b, const char *scope) {
  struct BufferNode to = *b;
  to.name = tirc_format(c, "%s_%s", b->name, scope);
  to.data = tirc_var(c, to.name, b->data->dtype);
  to.scope = *scope ? tirc_strdup(c, scope) : "global";
  return tirc_buffer_copy(c, &to);
}

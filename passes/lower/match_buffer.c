/* Views become accesses to what they show: ir/tree/views.h. */
#include "internal.h"

#include "ir/tree/views.h"

Stmt tirc_lower_match_buffer(Tirc *c, const Func *f) { return tirc_without_views(c, f->body); }

/* Four bytes of an array are read at once, as an int, where their address is a multiple of four:
 *
 *   C[0] = tirc_dp4a_ss(*(const int *)(A_shared + k), *(const int *)(B_shared + k), C[0]); */
#include "codegen/dot.h"
#include "codegen/access.h"
#include "gen.h"

static const char *word_of(Gen *g, Expr bytes) {
  if (bytes->op != OP_LOAD) return NULL;
  Buffer b = bytes->u.buffer;
  Expr index = tirc_linear_index(g->c, b, bytes->n, bytes->args);
  if (!tirc_gpu_is_moved(g, b, index)) return NULL;
  return tirc_format(g->c, "*(const int *)(%s)", tirc_gpu_pointer(g, b, index));
}

bool tirc_gpu_dot(Gen *g, Expr e, CText *out) {
  DotOfBytes d;
  if (!g->l->tensor_cores || !tirc_find_dot(g->c, g->kernels->k->f, e, g->loc, &d)) return false;
  const char *a = word_of(g, d.a), *b = word_of(g, d.b);
  if (!a || !b) return false;
  const char *sum = d.sum ? tirc_src_scalar(g, d.sum).s : "0";
  *out = tirc_src_text(g, BINDS_ALL, "tirc_dp4a_%c%c(%s, %s, %s)",
                       d.a->dtype.code == TYPE_UINT ? 'u' : 's',
                       d.b->dtype.code == TYPE_UINT ? 'u' : 's', a, b, sum);
  return true;
}

/* Fragments are arrays of registers, each call a line of PTX:
 *
 *   float C[2 * 8];
 *   {
 *     float *d = C + i * 8;
 *     unsigned int *a = A + k * 8, ...
 *     asm volatile("wmma.mma...;" : "=f"(d[0]), ... : "r"(a[0]), ...);
 *   }
 */
#include "codegen/wmma.h"
#include "gen.h"
#include "ir/arith/arith.h"

void tirc_gpu_find_fragments(Gen *g, Stmt body) {
  g->kernels->fragments = g->l->tensor_cores ? tirc_wmma_fragments(g->c, body) : (PtrMap){0};
}

bool tirc_gpu_fragments(Gen *g, Stmt s) {
  Buffer b = s->u.alloc.buffer;
  const WmmaFragments *f = tirc_map_get(&g->kernels->fragments, b->data);
  if (!f) return false;
  const Name *name = tirc_src_declare(g, b->data, b->name);
  tirc_src_line(g, "%s %s[%lld];", tirc_src_value_type(g, f->held), name->s,
                (long long)(f->count * f->registers));
  return true;
}

/* A pointer to the registers of one. */
static const char *open_part(Gen *g, const WmmaPart *p, const char *wanted) {
  const Name *array = tirc_map_get(&g->vars, p->of->buffer->data);
  const char *name = tirc_src_name(g, wanted);
  Expr first = tirc_mul(g->c, p->index, tirc_int(g->c, p->index->dtype, p->of->registers));
  tirc_src_line(g, "%s *%s = %s + %s;", tirc_src_value_type(g, p->of->held), name, array->s,
                tirc_src_index(g, tirc_simplify0(g->c, first), &tirc_src_first).s);
  return name;
}

static const char *constraints(Gen *g, const char *all, const WmmaPart *p, const char *name,
                               const char *before) {
  const char *kind = tirc_dtype_is_float(p->of->held) ? "f" : "r";
  for (int i = 0; i < p->of->registers; i++)
    all = tirc_format(g->c, "%s%s\"%s%s\"(%s[%d])", all, *all ? ", " : "", before, kind, name, i);
  return all;
}

static void fill(Gen *g, const WmmaCall *call) {
  const WmmaFragments *f = call->out.of;
  const char *name = open_part(g, &call->out, "d"), *i = tirc_src_name(g, "i");
  const DType t = f->buffer->dtype;
  CText v = tirc_src_operand_as(g, call->value, t, &tirc_src_first);
  if (tirc_src_is_small(t)) v = tirc_src_text(g, BINDS_ALL, "tirc_to_half(%s) * 0x10001u", v.s);
  tirc_text_add(g->out, "#pragma unroll\n");
  tirc_src_line(g, "for (int %s = 0; %s < %d; %s++) %s[%s] = %s;", i, i, f->registers, i, name, i,
                v.s);
}

static void write_call(Gen *g, const WmmaCall *call) {
  static const char *const names[] = {"a", "b", "c"};
  const int mark = g->taken.n;
  tirc_src_open(g, "{");
  if (!call->ptx) {
    fill(g, call);
  } else {
    const char *out = "", *in = "";
    if (call->out.of) out = constraints(g, out, &call->out, open_part(g, &call->out, "d"), "=");
    for (int i = 0; i < call->n_in; i++)
      in = constraints(g, in, &call->in[i], open_part(g, &call->in[i], names[i]), "");
    if (call->place)
      in = tirc_format(g->c, "%s%s\"l\"(%s)", in, *in ? ", " : "",
                       tirc_gpu_pointer(g, call->place->u.buffer, call->place->args[0]));
    if (call->stride)
      in = tirc_format(g->c, "%s, \"r\"((int)%s)", in,
                       tirc_c_operand(g->c, tirc_src_scalar(g, call->stride), BINDS_CAST));
    tirc_src_line(g, "asm volatile(\"%s\"", call->ptx);
    tirc_src_line(g, "             : %s", out);
    tirc_src_line(g, "             : %s%s);", in, call->place ? " : \"memory\"" : "");
  }
  tirc_src_close(g);
  g->taken.n = mark;
}

void tirc_gpu_tensor_core(Gen *g, Expr e) {
  WmmaCall calls[WMMA_MOST_CALLS];
  const int n = tirc_wmma_calls(g->c, &g->kernels->fragments, e, '%', calls);
  for (int i = 0; i < n; i++) write_call(g, &calls[i]);
}

/* Dot products of dots.def, each by a function of its own in front of those that call it, which is
 * one instruction where the compiler's target has it and loops that give the same number elsewhere:
 *
 *   static inline void tirc_vpdpbusd_512(int32x16 *sum, const uint8x64 *a, const int8x64 *b) { ... } */
#include "codegen/access.h"
#include "gen.h"
#include "ir/tree/intrinsic.h"

/* How C calls the instruction: (condition, function, type of its integers or its vectors, another
 * condition and function or NULL). */
typedef struct Form {
  const char *condition, *function;
  const char *sum, *a, *b;          /* types */
  const char *other, *of_the_other; /* a second condition and its function */
} Form;

#define X86_INT(bits) "__m" #bits "i", "__m" #bits "i", "__m" #bits "i"
#define VNNI(name) "defined __AVX512VNNI__ && defined __AVX512VL__", name
static const Form forms[INTRINSIC_COUNT] = {
    [INTRINSIC_VPDPBUSD_512] = {"defined __AVX512VNNI__", "_mm512_dpbusd_epi32", X86_INT(512)},
    [INTRINSIC_VPDPBUSD_256] = {VNNI("_mm256_dpbusd_epi32"), X86_INT(256), "defined __AVXVNNI__",
                                "_mm256_dpbusd_avx_epi32"},
    [INTRINSIC_VPDPBUSD_128] = {VNNI("_mm_dpbusd_epi32"), X86_INT(128), "defined __AVXVNNI__",
                                "_mm_dpbusd_avx_epi32"},
    [INTRINSIC_VPDPWSSD_512] = {"defined __AVX512VNNI__", "_mm512_dpwssd_epi32", X86_INT(512)},
    [INTRINSIC_VPDPWSSD_256] = {VNNI("_mm256_dpwssd_epi32"), X86_INT(256), "defined __AVXVNNI__",
                                "_mm256_dpwssd_avx_epi32"},
    [INTRINSIC_VPDPWSSD_128] = {VNNI("_mm_dpwssd_epi32"), X86_INT(128), "defined __AVXVNNI__",
                                "_mm_dpwssd_avx_epi32"},
    [INTRINSIC_VPDPBSSD_256] = {"defined __AVXVNNIINT8__", "_mm256_dpbssd_epi32", X86_INT(256)},
    [INTRINSIC_VPDPBSSD_128] = {"defined __AVXVNNIINT8__", "_mm_dpbssd_epi32", X86_INT(128)},
    [INTRINSIC_VPDPBSUD_256] = {"defined __AVXVNNIINT8__", "_mm256_dpbsud_epi32", X86_INT(256)},
    [INTRINSIC_VPDPBSUD_128] = {"defined __AVXVNNIINT8__", "_mm_dpbsud_epi32", X86_INT(128)},
    [INTRINSIC_VPDPBUUD_256] = {"defined __AVXVNNIINT8__", "_mm256_dpbuud_epi32", X86_INT(256)},
    [INTRINSIC_VPDPBUUD_128] = {"defined __AVXVNNIINT8__", "_mm_dpbuud_epi32", X86_INT(128)},
    [INTRINSIC_DPBF16PS_512] = {"defined __AVX512BF16__", "_mm512_dpbf16_ps", "__m512", "__m512bh",
                                "__m512bh"},
    [INTRINSIC_DPBF16PS_256] = {"defined __AVX512BF16__ && defined __AVX512VL__",
                                "_mm256_dpbf16_ps", "__m256", "__m256bh", "__m256bh"},
    [INTRINSIC_DPBF16PS_128] = {"defined __AVX512BF16__ && defined __AVX512VL__", "_mm_dpbf16_ps",
                                "__m128", "__m128bh", "__m128bh"},
    [INTRINSIC_SDOT] = {"defined __ARM_FEATURE_DOTPROD", "vdotq_s32", "int32x4_t", "int8x16_t",
                        "int8x16_t"},
    [INTRINSIC_UDOT] = {"defined __ARM_FEATURE_DOTPROD", "vdotq_u32", "uint32x4_t", "uint8x16_t",
                        "uint8x16_t"},
    [INTRINSIC_USDOT] = {"defined __ARM_FEATURE_MATMUL_INT8", "vusdotq_s32", "int32x4_t",
                         "uint8x16_t", "int8x16_t"},
    [INTRINSIC_BFDOT] = {"defined __ARM_FEATURE_BF16_VECTOR_ARITHMETIC", "vbfdotq_f32",
                         "float32x4_t", "bfloat16x8_t", "bfloat16x8_t"},
};

static DType sum_type(const Dot *dot) { return dot->sums == DOT_WRAPS ? DT_INT32 : DT_FLOAT32; }

/* --- the functions -------------------------------------------------------------------------- */

/* "llvm.x86.avx512.vpdpbusd.512" is tirc_vpdpbusd_512, "llvm.aarch64.neon.sdot.v4i32.v16i8"
 * tirc_sdot. */
static const char *function_name(Tirc *c, const Dot *dot) {
  const bool is_arm = strstr(dot->name, ".neon.") != NULL;
  const char *last = strrchr(dot->name, '.'), *name = last - 1;
  if (is_arm)
    for (last = name = strstr(dot->name, ".neon.") + 6; *last && *last != '.';) last++;
  else
    while (name[-1] != '.') name--;
  const char *word = tirc_format(c, "%.*s", (int)(last - name), name);
  return is_arm ? tirc_format(c, "tirc_%s", word) : tirc_format(c, "tirc_%s_%s", word, last + 1);
}

/* NULL: the loop of integers calls none. */
static const char *helper_of(Gen *g, const Dot *dot) {
  if (dot->sums == DOT_WRAPS) return NULL;
  g->uses_math = true;
  return tirc_src_helper(g, dot->sums == DOT_TO_ODD ? HELPER_DOT_TO_ODD : HELPER_DOT_ODD_EVEN,
                         DT_FLOAT32);
}

static void write_loop(Text *t, const Dot *dot, const char *helper) {
  tirc_text_addf(t, "  for (int i = 0; i < %d; i++) {\n", dot->lanes);
  if (!helper) {
    tirc_text_add(t, "    uint32_t all = (uint32_t)(*sum)[i];\n");
    tirc_text_addf(t,
                   "    for (int k = %d * i; k < %d * i + %d; k++) "
                   "all += (uint32_t)((*a)[k] * (*b)[k]);\n",
                   dot->terms, dot->terms, dot->terms);
    tirc_text_add(t, "    (*sum)[i] = (int32_t)all;\n  }\n");
    return;
  }
  tirc_text_addf(t,
                 "    const uint16_t x[2] = {(*a)[2 * i], (*a)[2 * i + 1]}, "
                 "y[2] = {(*b)[2 * i], (*b)[2 * i + 1]};\n"
                 "    (*sum)[i] = %s((*sum)[i], x, y);\n  }\n",
                 helper);
}

/* helper: what the loop calls, or NULL. Compilers that warn of functions without a call see one. */
static void write_call(Text *t, const char *type, const Form *f, const char *function,
                       const char *helper) {
  if (helper) tirc_text_addf(t, "  (void)%s;\n", helper);
  tirc_text_addf(t, "  *sum = (%s)%s((%s)*sum, (%s)*a, (%s)*b);\n", type, function, f->sum, f->a,
                 f->b);
}

static void write_function(Gen *g, const Dot *dot, const Form *f, const char *name) {
  Text *t = &g->file->lane_texts;
  const int n = dot->lanes * dot->terms;
  const char *type = tirc_cg_vector(g, sum_type(dot), dot->lanes);
  const char *any =
      f->other ? tirc_format(g->c, "(%s) || %s", f->condition, f->other) : f->condition;
  const bool is_arm = !strstr(f->sum, "__m");
  const char *helper = helper_of(g, dot);
  tirc_text_addf(t, "\n#if %s\n#include <%s>\n#endif\n", any,
                 is_arm ? "arm_neon.h" : "immintrin.h");
  tirc_text_addf(t, "/* To each lane, %s products of neighbours. */\n",
                 dot->terms == 4 ? "four" : "two");
  tirc_text_addf(t, "static inline void %s(%s *sum, const %s *a, const %s *b) {\n", name, type,
                 tirc_cg_vector(g, dot->a, n), tirc_cg_vector(g, dot->b, n));
  tirc_text_addf(t, "#if %s\n", f->condition);
  write_call(t, type, f, f->function, helper);
  if (f->other) {
    tirc_text_addf(t, "#elif %s\n", f->other);
    write_call(t, type, f, f->of_the_other, helper);
  }
  tirc_text_add(t, "#else\n");
  write_loop(t, dot, helper);
  tirc_text_add(t, "#endif\n}\n");
}

static const char *function_of(Gen *g, const IntrinsicCall *k) {
  const char *name = function_name(g->c, k->dot);
  for (int i = 0; i < g->file->dots.n; i++)
    if (g->file->dots.at[i] == k->id) return name;
  vec_push(g->c, g->file->dots, k->id);
  write_function(g, k->dot, &forms[k->id], name);
  return name;
}

/* --- statements ----------------------------------------------------------------------------- */

static bool is_array(Gen *g, Expr load) {
  return load->op == OP_LOAD && !tirc_cg_is_tile(g, load->u.buffer);
}

/* The bits of as many integers of 32 bits as the sum has lanes, from those of one in all lanes; one
 * element in all places; elements that lie beside each other; or two of these, exclusively or-ed.
 * NULL: it is none of them. */
static const char *operand(Gen *g, const Dot *dot, Expr e, DType element) {
  const int n = dot->lanes * dot->terms;
  const char *type = tirc_cg_vector(g, element, n);
  while (e->op == OP_REINTERPRET && e->dtype.lanes > 1) e = e->args[0];
  const int bits = 32 * dot->lanes;
  if (e->op == OP_BITWISE_XOR) {
    const char *x = operand(g, dot, e->args[0], element), *y = operand(g, dot, e->args[1], element);
    return x && y ? tirc_format(g->c, "(%s) ^ (%s)", x, y) : NULL;
  }
  if (e->op == OP_BROADCAST && e->dtype.lanes == n && tirc_dtype_is_int(e->dtype))
    return tirc_format(g->c, "(%s)VSPLAT(%s, %s)", type,
                       tirc_cg_vector(g, tirc_dtype_lanes(e->dtype, 1), n),
                       tirc_src_scalar(g, e->args[0]).s);
  if (e->op == OP_BROADCAST && e->dtype.bits == 32 && tirc_dtype_is_int(e->dtype)) {
    Expr one = e->args[0];
    const char *all = tirc_cg_vector(g, tirc_dtype_lanes(e->dtype, 1), dot->lanes);
    Expr four = one->op == OP_REINTERPRET ? one->args[0] : NULL;
    if (four && is_array(g, four) && four->dtype.bits * four->dtype.lanes == 32) {
      Expr at = tirc_linear_index(g->c, four->u.buffer, four->n, four->args);
      if (four->dtype.lanes > 1 && !tirc_is_contiguous(at)) return NULL;
      const char *first =
          tirc_cg_element(g, four->u.buffer, four->dtype.lanes > 1 ? at->args[0] : at, 0);
      return tirc_format(g->c, "(%s)VSPLAT(%s, %s(&%s))", type, all,
                         tirc_src_helper(g, HELPER_WORD, DT_INT32), first);
    }
    return tirc_format(g->c, "(%s)VSPLAT(%s, %s)", type, all, tirc_src_scalar(g, one).s);
  }
  if (!is_array(g, e) || e->dtype.bits * e->dtype.lanes != bits) return NULL;
  Expr at = tirc_linear_index(g->c, e->u.buffer, e->n, e->args);
  if (!tirc_is_contiguous(at)) return NULL;
  return tirc_format(g->c, "VLOAD(%s, &%s)", type, tirc_cg_element(g, e->u.buffer, at->args[0], 0));
}

bool tirc_cg_is_dot(Gen *g, Stmt s, IntrinsicCall *k) {
  const Expr e = s->u.store.value;
  if (tirc_cg_is_portable(g) || !tirc_is_llvm_call(e)) return false;
  *k = tirc_llvm_call(g->c, e, g->loc);
  if (!k->dot || 4 * k->dot->lanes > g->file->what->vector_bytes) return false;
  const Expr old = k->args[0];
  const Buffer b = s->u.store.buffer;
  if (old->op != OP_LOAD || old->u.buffer != b) return false;
  if (!tirc_dtype_equal(tirc_dtype_lanes(b->dtype, 1), sum_type(k->dot))) return false;
  const Expr at = tirc_linear_index(g->c, b, s->u.store.n, s->u.store.indices);
  return tirc_is_contiguous(at) &&
         tirc_expr_same(at, tirc_linear_index(g->c, b, old->n, old->args));
}

bool tirc_cg_dot(Gen *g, Stmt s) {
  IntrinsicCall k;
  if (!tirc_cg_is_dot(g, s, &k)) return false;
  const Buffer b = s->u.store.buffer;
  const Expr at = tirc_linear_index(g->c, b, s->u.store.n, s->u.store.indices);
  const char *x = operand(g, k.dot, k.args[1], k.dot->a),
             *y = operand(g, k.dot, k.args[2], k.dot->b);
  const char *piece = tirc_cg_tile_piece(g, b, at, 0, k.dot->lanes);
  if (!x || !y) return false;
  const int mark = g->taken.n, n = k.dot->lanes * k.dot->terms;
  const char *a = tirc_src_name(g, "a"), *c = tirc_src_name(g, "b"), *sum = tirc_src_name(g, "sum");
  const char *type = tirc_cg_vector(g, sum_type(k.dot), k.dot->lanes);
  tirc_src_open(g, "{");
  tirc_src_line(g, "const %s %s = %s;", tirc_cg_vector(g, k.dot->a, n), a, x);
  tirc_src_line(g, "const %s %s = %s;", tirc_cg_vector(g, k.dot->b, n), c, y);
  const char *place = piece ? NULL : tirc_cg_element(g, b, at->args[0], 0);
  if (!piece) tirc_src_line(g, "%s %s = VLOAD(%s, &%s);", type, sum, type, place);
  tirc_src_line(g, "%s(&%s, &%s, &%s);", function_of(g, &k), piece ? piece : sum, a, c);
  if (!piece) tirc_src_line(g, "VSTORE(%s, &%s, %s);", type, place, sum);
  tirc_src_close(g);
  tirc_cg_note_written(g, b);
  g->taken.n = mark;
  return true;
}

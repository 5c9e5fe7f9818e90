/* The row of CUDA C. Nothing is included and no word of CUDA's is defined, so it compiles within
 * any program. What has an instruction and no operator is a line of PTX (cuda.def): CUDA's headers,
 * which have functions for that, are not needed. Vectors are only moved, as structures of 16 bytes.
 */
#include "codegen/access.h"
#include "gen.h"
#include "ir/tree/atomic.h"

static const char *kernel(Tirc *c, const int64_t *n, int64_t blocks, bool is_static) {
  const char *head = is_static ? "static __global__ void" : "extern \"C\" __global__ void";
  if (!n) return head;
  const char *at_once = blocks ? tirc_format(c, ", %lld", (long long)blocks) : "";
  return tirc_format(c, "%s __launch_bounds__(%lld%s)", head, (long long)(n[0] * n[1] * n[2]),
                     at_once);
}

static void declare_array(Gen *g, const char *space, DType t, const char *name, int64_t count) {
  const char *aligned = *space ? "alignas(32) " : "";
  tirc_src_line(g, "%s%s%s %s[%lld];", aligned, space, tirc_src_memory_type(g, t), name,
                (long long)count);
}

static CText from_half(Gen *g, const char *p, const char *index) {
  return tirc_src_text(g, BINDS_ALL, "tirc_from_half(%s[%s])", p, index);
}

static const char *to_half(Gen *g, const char *p, const char *index, const char *value) {
  return tirc_format(g->c, "%s[%s] = tirc_to_half(%s)", p, index, value);
}

static CText moved(Gen *g, const char *p, DType t) {
  return tirc_src_text(g, BINDS_CAST, "*(const %s *)(%s)", tirc_src_helper(g, HELPER_VECTOR, t), p);
}

static const char *move(Gen *g, const char *p, DType t, const char *value) {
  return tirc_format(g->c, "*(%s *)(%s) = %s", tirc_src_helper(g, HELPER_VECTOR, t), p, value);
}

/* The bits of a scalar as one of another type. */
static CText bits_as(Gen *g, CText v, DType from, const char *type) {
  const bool is_float = tirc_dtype_is_float(from), wide = from.bits == 64;
  if (is_float)
    v = tirc_src_text(g, BINDS_ALL, "%s(%s)", wide ? "tirc_double_bits" : "tirc_float_bits", v.s);
  if (strcmp(type, "float") == 0 || strcmp(type, "double") == 0)
    return tirc_src_text(g, BINDS_ALL, "tirc_as_%s(%s)", type, v.s);
  return tirc_c_cast_to(g->c, type, v);
}

/* Of the 32 or 64 bits of a value. */
static CText shuffle(Gen *g, Expr call, int n, const CText *args) {
  DType t = tirc_dtype_lanes(call->dtype, 1), u;
  if (n != 5) tirc_src_unsupported(g, call);
  if (tirc_src_is_small(t)) t = DT_FLOAT32;
  u = DT(TYPE_UINT, t.bits == 64 ? 64 : 32);
  const char *bits = tirc_src_value_type(g, u);
  CText v = bits_as(g, args[1], t, bits);
  if (!tirc_dtype_is_float(t)) v = tirc_c_cast_to(g->c, bits, args[1]);
  CText r =
      tirc_src_text(g, BINDS_ALL, "tirc_%s%s(%s, %s, %s, %s)", tirc_called(call) + strlen("tvm_"),
                    t.bits == 64 ? "_64" : "", args[0].s, v.s, args[2].s, args[3].s);
  const char *type = tirc_src_value_type(g, t);
  return tirc_dtype_is_float(t) ? bits_as(g, r, u, type) : tirc_c_cast_to(g->c, type, r);
}

/* PTX's words: a sum of 64 bits is one of u64, and bits are neither signed nor not. */
static CText atomic(Gen *g, const Atomic *a, const char *space, CText to, const CText *args) {
  const DType t = a->place->dtype;
  const bool extreme = a->op == OP_MIN || a->op == OP_MAX;
  const char kind = tirc_dtype_is_float(t) ? 'f' : extreme && t.code == TYPE_INT ? 's' : 'u';
  const char *type = tirc_dtype_is_float(t) ? tirc_src_value_type(g, t)
                     : kind == 's'          ? g->l->ints[t.bits == 64 ? 3 : 2]
                                            : g->l->uints[t.bits == 64 ? 3 : 2];
  (void)space;
  CText all[3] = {tirc_c_cast_to(g->c, tirc_format(g->c, "%s *", type), to)};
  const int n = a->compare ? 2 : 1;
  for (int i = 0; i < n; i++)
    all[i + 1] = kind == 'f' ? args[i] : tirc_c_cast_to(g->c, type, args[i]);
  CText r = tirc_src_call(g, tirc_format(g->c, "tirc_%s_%c%d", a->name, kind, t.bits), n + 1, all);
  return kind == 'f' ? r : tirc_c_cast_to(g->c, tirc_src_value_type(g, t), r);
}

static const FunctionName functions[] = {{OP_SQRT, "tirc_sqrt", "tirc_sqrt_double"},
                                         {OP_FLOOR, "tirc_floor", "tirc_floor_double"},
                                         {OP_CEIL, "tirc_ceil", "tirc_ceil_double"},
                                         {OP_TRUNC, "tirc_trunc", "tirc_trunc_double"},
                                         {OP_ROUND, "tirc_round", "tirc_round_double"},
                                         {OP_NEARBYINT, "tirc_rint", "tirc_rint_double"},
                                         {OP_ABS, "tirc_fabs", "tirc_fabs_double"},
                                         {OP_FMA, "tirc_fma", "tirc_fma_double"},
                                         {OP_COPYSIGN, "tirc_copysign", "tirc_copysign_double"},
                                         {OP_ISNAN, "tirc_isnan", "tirc_isnan_double"},
                                         {OP_ISINF, "tirc_isinf", "tirc_isinf_double"},
                                         {OP_ISFINITE, "tirc_isfinite", "tirc_isfinite_double"},
                                         {OP_POPCOUNT, "tirc_popcount", "tirc_popcount_64"},
                                         {OP_COUNT, NULL, NULL}};

static const OwnText own[] = {
#define OWN(name, text) {name, text},
#include "cuda.def"
#undef OWN
    {NULL, NULL}};

/* Words of C++ and of CUDA that C has not. */
static const char reserved[] =
    "alignas alignof and and_eq asm auto bitand bitor bool catch char16_t char32_t class "
    "compl concept const_cast constexpr decltype delete dynamic_cast explicit export false "
    "friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private "
    "protected public reinterpret_cast requires static_assert static_cast template this "
    "thread_local throw true try typeid typename using virtual wchar_t xor xor_eq "
    "threadIdx blockIdx blockDim gridDim warpSize dim3 tirc_shared min max half half2 "
    "texture surface ";
static const char reserved_n[] =
    "char uchar short ushort int uint long ulong float longlong ulonglong double ";

const Language tirc_cuda_c = {
    .name = "CUDA C",
    .family = &tirc_kernels,
    .ints = {"signed char", "short", "int", "long long"},
    .uints = {"unsigned char", "unsigned short", "unsigned int", "unsigned long long"},
    .half = "unsigned short",
    .function = "static __device__ inline",
    .function_of_both = "static __host__ __device__ inline",
    .global = "",
    .shared = "__shared__ ",
    .shared_target = "",
    .restrict_of = "__restrict__ ",
    .axes = {"blockIdx.x", "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y", "threadIdx.z"},
    .barrier = "__syncthreads()",
    .barrier_all = "__syncthreads()",
    .warp_barrier = "tirc_warp_barrier()",
    .active_mask = "tirc_active_mask()",
    .clock = "clock64()",
    .long_suffix = "LL",
    .ulong_suffix = "ULL",
    .float_suffix = "f",
    .infinity = "tirc_as_float(0x7f800000u)",
    .nan = "tirc_as_float(0x7fc00000u)",
    .bits_of_float = "tirc_float_bits",
    .float_of_bits = "tirc_as_float",
    .bits_of_double = "tirc_double_bits",
    .double_of_bits = "tirc_as_double",
    .round_half = "  return tirc_from_half(tirc_to_half(x));\n",
    .floor_quotient = "$[floor](a / b)",
    .end_odd = "  return $F(bits | 1u);\n",
    .functions = functions,
    .helper_of = tirc_gpu_helper_of,
    .own = own,
    .reserved = reserved,
    .reserved_n = reserved_n,
    .moved_bytes = 16,
    .doubles = "",
    .kernel = kernel,
    .dynamic = "tirc_shared",
    .declare_dynamic = "alignas(32) extern __shared__ unsigned char tirc_shared[];",
    .declare_array = declare_array,
    .load_vector = moved,
    .store_vector = move,
    .bits_as = bits_as,
    .load_half = from_half,
    .store_half = to_half,
    .atomic = atomic,
    .shuffle = shuffle,
    .tensor_cores = true,
};

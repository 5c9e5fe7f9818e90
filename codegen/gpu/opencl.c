/* The row of OpenCL C 1.2. */
#include "gen.h"
#include "ir/tree/atomic.h"

static const char *kernel(Tirc *c, const int64_t *n, int64_t blocks, bool is_static) {
  (void)is_static;
  (void)blocks;
  if (!n) return "__kernel void";
  return tirc_format(c, "__attribute__((reqd_work_group_size(%lld, %lld, %lld)))\n__kernel void",
                     (long long)n[0], (long long)n[1], (long long)n[2]);
}

static bool is_half(DType t) { return t.code == TYPE_FLOAT && t.bits == 16; }

/* A half is no type of a variable, but one that pointers point to. */
static void declare_array(Gen *g, const char *space, DType t, const char *name, int64_t count) {
  if (!is_half(t)) {
    tirc_src_line(g, "%s%s %s[%lld];", space, tirc_src_memory_type(g, t), name, (long long)count);
    return;
  }
  const char *bits = tirc_src_name(g, tirc_format(g->c, "%s_bits", name));
  tirc_src_line(g, "%sushort %s[%lld];", space, bits, (long long)count);
  tirc_src_line(g, "%shalf *%s = (%shalf *)%s;", space, name, space, bits);
}

static const char *vector_type(Gen *g, DType t) {
  return tirc_format(g->c, "%s%d", tirc_src_value_type(g, tirc_dtype_lanes(t, 1)), t.lanes);
}

static CText splat(Gen *g, const char *type, CText scalar) {
  return tirc_src_text(g, BINDS_CAST, "(%s)(%s)", type, scalar.s);
}

static CText load_vector(Gen *g, const char *p, DType t) {
  const DType one = tirc_dtype_lanes(t, 1);
  return tirc_src_text(g, BINDS_ALL, "vload%s%d(0, %s)", is_half(one) ? "_half" : "", t.lanes, p);
}

static const char *store_vector(Gen *g, const char *p, DType t, const char *value) {
  const DType one = tirc_dtype_lanes(t, 1);
  return tirc_format(g->c, "vstore%s%d(%s, 0, %s)", is_half(one) ? "_half" : "", t.lanes, value, p);
}

static CText convert(Gen *g, CText v, const char *type) {
  return tirc_src_text(g, BINDS_ALL, "convert_%s(%s)", type, v.s);
}

static CText bits_as(Gen *g, CText v, DType from, const char *type) {
  (void)from;
  return tirc_src_text(g, BINDS_ALL, "as_%s(%s)", type, v.s);
}

static CText load_half(Gen *g, const char *p, const char *index) {
  return tirc_src_text(g, BINDS_ALL, "vload_half(%s, %s)", index, p);
}

static const char *store_half(Gen *g, const char *p, const char *index, const char *value) {
  return tirc_format(g->c, "vstore_half(%s, %s, %s)", value, index, p);
}

/* Of 64 bits by extensions; OpenCL has no sum of floats: it is made of compare and swap. */
static CText atomic(Gen *g, const Atomic *a, const char *space, CText to, const CText *args) {
  const DType t = a->place->dtype;
  const bool is_float = tirc_dtype_is_float(t);
  const char *type = tirc_src_value_type(g, t);
  const char *p = tirc_format(g->c, "volatile %s%s *", space, type);
  CText all[3] = {tirc_c_cast_to(g->c, p, to), args[0], a->compare ? args[1] : args[0]};
  const char *what = a->compare ? "cmpxchg" : a->name + strlen("atomic_");
  const char *name = tirc_format(g->c, t.bits == 64 ? "atom_%s" : "atomic_%s", what);
  if (is_float)
    name = tirc_format(g->c, "tirc_atomic_sum_%s%s", type, strstr(space, "local") ? "_local" : "");
  return tirc_src_call(g, name, a->compare ? 3 : 2, all);
}

#define SUM(name, space, type, bits, exchange)                                                     \
  {                                                                                                \
    name, "static inline " type " " name "(volatile " space " " type " *p, " type " x) {\n"        \
          "  volatile " space " " bits " *q = (volatile " space " " bits " *)p;\n"                 \
          "  " bits " was = *q, seen;\n"                                                           \
          "  for (;;) {\n"                                                                         \
          "    seen = " exchange "(q, was, as_" bits "(as_" type "(was) + x));\n"                  \
          "    if (seen == was) return as_" type "(was);\n"                                        \
          "    was = seen;\n"                                                                      \
          "  }\n}\n"                                                                               \
  }
#define ON(name, extension)                                                                        \
  { name, "#pragma OPENCL EXTENSION cl_khr_int64_" extension "_atomics : enable\n" }
static const OwnText own[] = {
    ON("atom_add", "base"),
    ON("atom_cmpxchg", "base"),
    ON("atom_min", "extended"),
    ON("atom_max", "extended"),
    ON("atom_and", "extended"),
    ON("atom_or", "extended"),
    SUM("tirc_atomic_sum_float", "__global", "float", "uint", "atomic_cmpxchg"),
    SUM("tirc_atomic_sum_float_local", "__local", "float", "uint", "atomic_cmpxchg"),
    SUM("tirc_atomic_sum_double", "__global", "double", "ulong", "atom_cmpxchg"),
    SUM("tirc_atomic_sum_double_local", "__local", "double", "ulong", "atom_cmpxchg"),
    {NULL, NULL}};

static const FunctionName functions[] = {{OP_NEARBYINT, "rint", NULL},
                                         {OP_EXP10, "exp10", NULL},
                                         {OP_POPCOUNT, "popcount", NULL},
                                         {OP_COUNT, NULL, NULL}};

/* Words, qualifiers and functions that kernels may use. */
static const char reserved[] =
    "kernel global local constant private half uchar ushort uint ulong quad event_t "
    "sampler_t image1d_t image2d_t image3d_t read_only write_only read_write pipe barrier "
    "get_group_id select get_local_id get_global_id get_num_groups get_local_size "
    "get_global_size get_work_dim vload_half vstore_half min max clamp mix step sign dot "
    "cross length distance normalize degrees radians rint popcount clz rotate mad any all "
    "isnan isinf vec_step prefetch printf mem_fence ";
static const char reserved_n[] =
    "char uchar short ushort int uint long ulong float double half bool vload vstore "
    "vload_half vstore_half ";

const Language tirc_opencl_c = {
    .name = "OpenCL C",
    .family = &tirc_kernels,
    .ints = {"char", "short", "int", "long"},
    .uints = {"uchar", "ushort", "uint", "ulong"},
    .half = "half",
    .function = "static inline",
    .function_of_both = "static inline",
    .global = "__global ",
    .shared = "__local ",
    .shared_target = "__local ",
    .restrict_of = "restrict ",
    .axes = {"get_group_id(0)", "get_group_id(1)", "get_group_id(2)", "get_local_id(0)",
             "get_local_id(1)", "get_local_id(2)"},
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE)",
    .barrier_all = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)",
    .long_suffix = "L",
    .ulong_suffix = "UL",
    .float_suffix = "",
    .infinity = "INFINITY",
    .nan = "NAN",
    .bits_of_float = "as_uint",
    .float_of_bits = "as_float",
    .bits_of_double = "as_ulong",
    .double_of_bits = "as_double",
    .round_half = "  ushort h;\n"
                  "  vstore_half(x, 0, (half *)&h);\n"
                  "  return vload_half(0, (const half *)&h);\n",
    .floor_quotient = "$[floor](a / b)",
    .end_odd = "  return $F(bits | 1u);\n",
    .functions = functions,
    .own = own,
    .reserved = reserved,
    .reserved_n = reserved_n,
    .vector_arith = true,
    .doubles = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
    .kernel = kernel,
    .declare_array = declare_array,
    .vector_type = vector_type,
    .splat = splat,
    .load_vector = load_vector,
    .store_vector = store_vector,
    .convert = convert,
    .bits_as = bits_as,
    .load_half = load_half,
    .store_half = store_half,
    .atomic = atomic,
};

/* sch.target: what code will be made for, as the reference's Target where that has the attribute.
 */
#include "interp.h"
#include "ir/cpu.h"
#include "ir/gpu.h"

static const Cpu *cpu(Value v) { return v.u.object; }

static Value bytes(int kib) { return tirc_value_int((int64_t)kib * 1024); }

static const char *triple(Value v) { return tirc_cpu_triple(cpu(v)); }

const char *tirc_script_target_text(Script *sc, Value v) {
  return tirc_format(sc->c, "llvm -mcpu=%s -mtriple=%s", cpu(v)->llvm_name, triple(v));
}

static Value get_target(Script *sc, Value v) {
  const Sched *s = v.u.object;
  (void)sc;
  return s->gpu ? tirc_script_object("GpuTarget", s->gpu) : tirc_script_object("Target", s->target);
}

static Value get_features(Script *sc, Value v) {
  Value list = tirc_value_list(sc->c, VAL_LIST, 0, NULL);
  for (const char *p = cpu(v)->features; *p;) {
    size_t n = strcspn(p, ",");
    const char *sign = *p == '+' || *p == '-' ? "" : "+";
    const char *name = tirc_format(sc->c, "%s%.*s", sign, (int)n, p);
    tirc_value_append(sc->c, list, tirc_value_str(name));
    p += n + (p[n] == ',');
  }
  return list;
}

static void entry(Script *sc, Value dict, const char *key, Value v) {
  tirc_value_append(sc->c, dict, tirc_value_str(key));
  tirc_value_append(sc->c, dict, v);
}

static Value get_attrs(Script *sc, Value v) {
  Value dict = tirc_value_list(sc->c, VAL_DICT, 0, NULL);
  entry(sc, dict, "mcpu", tirc_value_str(cpu(v)->llvm_name));
  entry(sc, dict, "mtriple", tirc_value_str(triple(v)));
  entry(sc, dict, "mattr", get_features(sc, v));
  if (cpu(v)->cores) entry(sc, dict, "num-cores", tirc_value_int(cpu(v)->cores));
  return dict;
}

static const Gpu *gpu(Value v) { return v.u.object; }

static const char *gpu_kind(Value v) { return tirc_gpu_kinds[gpu(v)->kind]; }

static Value get_gpu_keys(Script *sc, Value v) {
  Value list = tirc_value_list(sc->c, VAL_LIST, 0, NULL);
  tirc_value_append(sc->c, list, tirc_value_str(gpu_kind(v)));
  tirc_value_append(sc->c, list, tirc_value_str("gpu"));
  return list;
}

/* The types of operands that a warp multiplies in tiles of 16 x 16 x 16. */
static Value tensor_cores(Script *sc, unsigned has) {
  Value list = tirc_value_list(sc->c, VAL_LIST, 0, NULL);
  if (has & TENSOR_F16) tirc_value_append(sc->c, list, tirc_value_str("float16"));
  if (has & TENSOR_S8) tirc_value_append(sc->c, list, tirc_value_str("int8"));
  return list;
}

/* Whether a thread adds four products of bytes at once. */
static bool has_dp4a(unsigned has) { return has & DOT_S8; }

static Value get_gpu_attrs(Script *sc, Value v) {
  Value dict = tirc_value_list(sc->c, VAL_DICT, 0, NULL);
  entry(sc, dict, "arch", tirc_value_str(gpu(v)->arch));
  entry(sc, dict, "max_threads_per_block", tirc_value_int(gpu(v)->threads));
  entry(sc, dict, "max_shared_memory_per_block", tirc_value_int(gpu(v)->shared));
  entry(sc, dict, "thread_warp_size", tirc_value_int(gpu(v)->warp));
  return dict;
}

static Value get_keys(Script *sc, Value v) {
  Value list = tirc_value_list(sc->c, VAL_LIST, 0, NULL);
  if (cpu(v)->arch != CPU_X86_64) tirc_value_append(sc->c, list, tirc_value_str("arm_cpu"));
  tirc_value_append(sc->c, list, tirc_value_str("cpu"));
  return list;
}

/* GET(name, expression of sc and v) */
#define GET(name, ...)                                                                             \
  static Value get_##name(Script *sc, Value v) {                                                   \
    (void)sc, (void)v;                                                                             \
    return __VA_ARGS__;                                                                            \
  }
GET(name, tirc_value_str(cpu(v)->name))
GET(mcpu, tirc_value_str(cpu(v)->llvm_name))
GET(mtriple, tirc_value_str(triple(v)))
GET(isa, tirc_value_str(tirc_cpu_isa(cpu(v))))
GET(width, tirc_value_int(tirc_cpu_vector_bits(cpu(v))))
GET(registers, tirc_value_int(tirc_cpu_vector_registers(cpu(v))))
GET(l1, bytes(cpu(v)->l1_kib))
GET(l2, bytes(cpu(v)->l2_kib))
GET(l3, bytes(cpu(v)->l3_kib))
GET(cores, cpu(v)->cores ? tirc_value_int(cpu(v)->cores) : VALUE_NONE)
GET(gpu_kind, tirc_script_object("TargetKind", gpu_kind(v)))
GET(gpu_name, tirc_value_str(gpu(v)->name))
GET(arch, tirc_value_str(gpu(v)->arch))
GET(threads, tirc_value_int(gpu(v)->threads))
GET(warp, tirc_value_int(gpu(v)->warp))
GET(shared, tirc_value_int(gpu(v)->shared))
GET(shared_dyn, tirc_value_int(gpu(v)->shared_dyn))
GET(multiprocessors, tirc_value_int(gpu(v)->side.n))
GET(mma_sync, tirc_value_bool((gpu(v)->tensor_cores & MMA_16816) != 0))
GET(async_copies, tirc_value_bool((gpu(v)->tensor_cores & ASYNC_COPIES) != 0))
GET(tensor_cores, tensor_cores(sc, gpu(v)->tensor_cores))
GET(dp4a, tirc_value_bool(has_dp4a(gpu(v)->tensor_cores)))
GET(kind, tirc_script_object("TargetKind", "llvm"))
GET(kind_name, tirc_value_str(v.u.object))

const AttributeRow tirc_script_target_attributes[] = {
    {"Schedule", "target", get_target},
    {"Target", "kind", get_kind},
    {"Target", "name", get_name},
    {"Target", "mcpu", get_mcpu},
    {"Target", "mtriple", get_mtriple},
    {"Target", "mattr", get_features},
    {"Target", "isa", get_isa},
    {"Target", "keys", get_keys},
    {"Target", "attrs", get_attrs},
    {"Target", "num_cores", get_cores},
    {"Target", "vector_width", get_width}, /* in bits */
    {"Target", "vector_registers", get_registers},
    {"Target", "l1_cache_size_bytes", get_l1},
    {"Target", "l2_cache_size_bytes", get_l2},
    {"Target", "l3_cache_size_bytes", get_l3},
    {"GpuTarget", "kind", get_gpu_kind},
    {"GpuTarget", "name", get_gpu_name},
    {"GpuTarget", "arch", get_arch},
    {"GpuTarget", "keys", get_gpu_keys},
    {"GpuTarget", "attrs", get_gpu_attrs},
    {"GpuTarget", "max_threads_per_block", get_threads}, /* of a block, as what follows */
    {"GpuTarget", "max_shared_memory_per_block", get_shared},
    {"GpuTarget", "thread_warp_size", get_warp}, /* 1: unknown */
    {"GpuTarget", "tensor_cores", get_tensor_cores},
    {"GpuTarget", "has_dp4a", get_dp4a},
    {"GpuTarget", "max_dynamic_shared_memory_per_block", get_shared_dyn},
    {"GpuTarget", "multiprocessors", get_multiprocessors}, /* 0: unknown */
    {"GpuTarget", "has_mma_sync", get_mma_sync},
    {"GpuTarget", "has_async_copies", get_async_copies},
    {"TargetKind", "name", get_kind_name},
    {0},
};

/* The processors that code can be made for, and what a schedule computes tiles from. Names are
 * LLVM's; --target takes them. */
#ifndef TIRC_IR_CPU_H
#define TIRC_IR_CPU_H

#include "context.h"

typedef enum CpuArch { CPU_X86_64, CPU_AARCH64, CPU_APPLE } CpuArch;

typedef struct Cpu {
  const char *name;
  CpuArch arch;
  const char *llvm_name;
  const char *features;       /* "a,b,c"; entries of a native one have a + before them */
  int l1_kib, l2_kib, l3_kib; /* of one core; 0: none, or unknown */
  int cores;                  /* of this machine when it is native, otherwise 0 */
} Cpu;

/* What code is made for unless somebody says otherwise. */
#define CPU_DEFAULT "haswell"
static inline const char *tirc_cpu_or_default(const char *name) {
  return name ? name : CPU_DEFAULT;
}

/* NULL when there is none of that name; "native" is resolved by the code generator. */
const Cpu *tirc_cpu_find(const char *name);
const Cpu *tirc_cpu_number(int i); /* NULL behind the end of the table */
/* Throws "target", with the nearest names. */
_Noreturn void tirc_cpu_unknown(Tirc *c, const char *name);
bool tirc_cpu_has(const Cpu *cpu, const char *feature);
/* The processors that have one of two features, in words: "alderlake, arrowlake and 20 more"; b may
 * be NULL. */
const char *tirc_cpus_with(Tirc *c, const char *a, const char *b);
int tirc_cpu_vector_bits(const Cpu *cpu);
int tirc_cpu_vector_registers(const Cpu *cpu);
/* L1, L2 and L3 as one core that is busy alone sees them, and the cycles that a line takes to come
 * from below each; gives how many there are. */
enum { CPU_CACHES = 3, CPU_LINE = 64 };
typedef struct CpuCache {
  int64_t bytes, sets;
  double cycles;
} CpuCache;
int tirc_cpu_caches(const Cpu *cpu, CpuCache *out);
const char *tirc_cpu_isa(const Cpu *cpu);            /* of the vectors: "AVX2+FMA" */
const char *tirc_cpu_vector_feature(const Cpu *cpu); /* that they come with: "avx2"; or NULL */
/* The LLVM triple; for an x86 and a Linux aarch64 that of a Linux with glibc. */
const char *tirc_cpu_triple(const Cpu *cpu);
const char *tirc_cpu_arch_name(const Cpu *cpu); /* "x86_64", "aarch64" */
/* What tells gcc and clang to compile for it: "-march=haswell", "-mcpu=neoverse-n1". */
const char *tirc_cpu_c_flag(Tirc *c, const Cpu *cpu);
/* Whether "a,b,c" (entries perhaps with a + before them) holds the entry of n letters. */
bool tirc_has_feature(const char *list, const char *entry, size_t n);

#endif

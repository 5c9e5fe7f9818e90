/* The table of processors and the questions that it answers. Vector width, registers and the name
 * of the instruction set follow from the features, so that they cannot disagree with them. */
#include "cpu.h"
#include "nearest.h"

#include <string.h>

#define V2 "sse3,ssse3,sse4.1,sse4.2,popcnt"
#define V3 V2 ",lzcnt,bmi,bmi2,movbe,avx,avx2,fma,f16c"
#define V4 V3 ",avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
static const Cpu cpus[] = {
#define CPU(name, arch, llvm_name, features, l1, l2, l3)                                           \
  {name, arch, llvm_name, features, l1, l2, l3, 0},
#include "cpus.def"
#undef CPU
};
enum { N_CPUS = sizeof cpus / sizeof *cpus };

const Cpu *tirc_cpu_number(int i) { return i >= 0 && i < N_CPUS ? &cpus[i] : NULL; }

const Cpu *tirc_cpu_find(const char *name) {
  for (int i = 0; i < N_CPUS; i++)
    if (strcmp(cpus[i].name, name) == 0) return &cpus[i];
  return NULL;
}

bool tirc_has_feature(const char *list, const char *entry, size_t n) {
  for (const char *p = list; *p;) {
    size_t length = strcspn(p, ",");
    const char *name = *p == '+' ? p + 1 : p;
    if (length - (size_t)(name - p) == n && strncmp(name, entry, n) == 0) return true;
    p += length + (p[length] == ',');
  }
  return false;
}

bool tirc_cpu_has(const Cpu *cpu, const char *feature) {
  return tirc_has_feature(cpu->features, feature, strlen(feature));
}

const char *tirc_cpus_with(Tirc *c, const char *a, const char *b) {
  enum { NAMED = 6 };
  Text t = {.c = c};
  int n = 0;
  for (int i = 0; i < N_CPUS; i++) {
    if (!tirc_cpu_has(&cpus[i], a) && !(b && tirc_cpu_has(&cpus[i], b))) continue;
    if (n++ < NAMED) tirc_text_addf(&t, "%s%s", n > 1 ? ", " : "", cpus[i].name);
  }
  if (n > NAMED) tirc_text_addf(&t, " and %d more", n - NAMED);
  return t.at;
}

/* The best vectors first. SVE is not used: its registers have no fixed width, and LLVM makes NEON
 * of vectors that do. */
static const struct Vectors {
  const char *feature, *with, *isa; /* with: a second feature, or NULL */
  int bits, registers;
} vectors[] = {
    {"avx512f", NULL, "AVX-512", 512, 32}, {"avx2", "fma", "AVX2+FMA", 256, 16},
    {"avx", "fma4", "AVX+FMA4", 256, 16},  {"avx", NULL, "AVX", 256, 16},
    {"sse4.2", NULL, "SSE4.2", 128, 16},   {"neon", NULL, "NEON", 128, 32},
};

static const struct Vectors *vectors_of(const Cpu *cpu) {
  static const struct Vectors least = {NULL, NULL, "SSE2", 128, 16};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    if (tirc_cpu_has(cpu, vectors[i].feature) &&
        (!vectors[i].with || tirc_cpu_has(cpu, vectors[i].with)))
      return &vectors[i];
  return &least;
}

/* The names that LLVM has alone. */
static const struct {
  const char *name, *flag;
} own_flags[] = {
    {"generic", "-march=x86-64"},  {"skx", "-march=skylake-avx512"},
    {"slm", "-march=silvermont"},  {"penryn", "-march=core2 -msse4.1"},
    {"aarch64", "-march=armv8-a"},
};

const char *tirc_cpu_c_flag(Tirc *c, const Cpu *cpu) {
  const char *option = cpu->arch == CPU_X86_64 ? "march" : "mcpu";
  for (size_t i = 0; i < sizeof own_flags / sizeof *own_flags; i++)
    if (strcmp(own_flags[i].name, cpu->name) == 0) return own_flags[i].flag;
  return tirc_format(c, "-%s=%s", option, cpu->cores > 0 ? "native" : cpu->name);
}

int tirc_cpu_vector_bits(const Cpu *cpu) { return vectors_of(cpu)->bits; }
int tirc_cpu_vector_registers(const Cpu *cpu) { return vectors_of(cpu)->registers; }
/* The table has a core's part of a shared L3; what others leave is its as well. Cycles as on a
 * Zen 3, of lines that are read one after the other from the cache below, and from memory. */
int tirc_cpu_caches(const Cpu *cpu, CpuCache *out) {
  enum { SHARES = 8, USUAL_L1 = 32, USUAL_L2 = 256, WAYS = 8, L3_WAYS = 16 };
  static const double from_l2 = 2, from_l3 = 5, from_memory = 20;
  const int64_t l1 = cpu->l1_kib ? cpu->l1_kib : USUAL_L1,
                l2 = cpu->l2_kib ? cpu->l2_kib : USUAL_L2;
  const int64_t kib[] = {l1, l2, (int64_t)cpu->l3_kib * SHARES};
  const int n = cpu->l3_kib ? CPU_CACHES : CPU_CACHES - 1;
  for (int i = 0; i < n; i++) {
    const int ways = i < 2 ? WAYS : L3_WAYS;
    out[i] = (CpuCache){kib[i] * 1024, kib[i] * 1024 / (CPU_LINE * ways), i ? from_l3 : from_l2};
  }
  out[n - 1].cycles = from_memory;
  return n;
}

const char *tirc_cpu_isa(const Cpu *cpu) { return vectors_of(cpu)->isa; }
const char *tirc_cpu_vector_feature(const Cpu *cpu) { return vectors_of(cpu)->feature; }

const char *tirc_cpu_triple(const Cpu *cpu) {
  static const char *const triples[] = {[CPU_X86_64] = "x86_64-pc-linux-gnu",
                                        [CPU_AARCH64] = "aarch64-unknown-linux-gnu",
                                        [CPU_APPLE] = "arm64-apple-macosx11.0.0"};
  return triples[cpu->arch];
}

const char *tirc_cpu_arch_name(const Cpu *cpu) {
  return cpu->arch == CPU_X86_64 ? "x86_64" : "aarch64";
}

/* --- the nearest names ----------------------------------------------------------------------- */

enum { SHOWN = 3 };

/* 0 is the same; a name that begins or ends with the other is near. */
static int farness(const char *wanted, const char *name) {
  size_t n = strlen(wanted), m = strlen(name);
  if (n >= 2 && n < m && (strncmp(wanted, name, n) == 0 || strcmp(name + m - n, wanted) == 0))
    return 1;
  return tirc_name_distance(wanted, n, name, m);
}

_Noreturn void tirc_cpu_unknown(Tirc *c, const char *name) {
  int best[SHOWN], n = 0, limit = (int)strlen(name) / 2;
  for (int i = 0; i < N_CPUS && strlen(name) <= TIRC_LONGEST_NAME; i++) {
    int far = farness(name, cpus[i].name), at = n < SHOWN ? n : SHOWN;
    if (far > limit) continue;
    while (at > 0 && farness(name, cpus[best[at - 1]].name) > far) at--;
    if (at == SHOWN) continue;
    if (n < SHOWN) n++;
    for (int k = n - 1; k > at; k--) best[k] = best[k - 1];
    best[at] = i;
  }
  Text t = {.c = c};
  for (int i = 0; i < n; i++)
    tirc_text_addf(&t, "%s%s",
                   i == 0      ? "did you mean "
                   : i + 1 < n ? ", "
                               : " or ",
                   cpus[best[i]].name);
  if (n > 0) tirc_text_add(&t, "? ");
  tirc_text_add(&t, "native is this machine; --target=help lists all");
  tirc_fail(c, (Loc){0}, CODE_TARGET, t.at,
            "%s is not the name of a processor that code can be made for", name);
}

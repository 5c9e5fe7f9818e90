/* Targets: from a processor's name to LLVM's machine. Names are checked against the table of
 * ir/cpus.def, because LLVM answers an unknown one with a line on standard error and some known
 * ones with an abort. */
#include "gen.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* LLVM's own registry of targets is filled once; it takes no context. */
static void initialize(void) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeX86Disassembler();
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
  LLVMInitializeAArch64Disassembler();
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
}

void tirc_targets_ready(Tirc *c) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  tirc_llvm_load(c);
  pthread_once(&once, initialize);
}

static char *taken(Tirc *c, char *message) { /* an LLVM string, moved into the arena */
  char *s = tirc_strdup(c, message ? message : "");
  LLVMDisposeMessage(message);
  return s;
}

/* --- this machine ---------------------------------------------------------------------------- */

static bool runs_on(const Cpu *cpu, const char *triple) {
  if (cpu->arch == CPU_APPLE) return strncmp(triple, "arm64-apple", 11) == 0;
  const char *arch = tirc_cpu_arch_name(cpu);
  return strncmp(triple, arch, strlen(arch)) == 0 && !strstr(triple, "apple");
}

static int cache_kib(int name, int otherwise) {
  long bytes = sysconf(name);
  return bytes > 0 ? (int)(bytes / 1024) : otherwise;
}

/* The features and caches are this machine's own; the table helps where the system says nothing. */
static const Cpu *native(Tirc *c) {
  tirc_llvm_load(c);
  char *triple = taken(c, LLVMGetDefaultTargetTriple());
  const char *name = taken(c, LLVMGetHostCPUName());
  const Cpu *known = tirc_cpu_find(name);
  const char *basic = strncmp(triple, "x86_64", 6) == 0 ? "x86-64" : "aarch64";
  if (!known || !runs_on(known, triple)) known = tirc_cpu_find(basic);
  if (!runs_on(known, triple))
    tirc_fail(c, (Loc){0}, "target", "--target=help lists those there are",
              "there is no code for a machine of this kind, %s", triple);
  Cpu *cpu = tirc_new(c, Cpu);
  *cpu = *known;
  cpu->name = cpu->llvm_name = name;
  cpu->features = taken(c, LLVMGetHostCPUFeatures());
  cpu->l1_kib = cache_kib(_SC_LEVEL1_DCACHE_SIZE, known->l1_kib);
  cpu->l2_kib = cache_kib(_SC_LEVEL2_CACHE_SIZE, known->l2_kib);
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  cpu->cores = cores > 0 ? (int)cores : 1;
  cpu->l3_kib = cache_kib(_SC_LEVEL3_CACHE_SIZE, known->l3_kib * cpu->cores) / cpu->cores;
  return cpu;
}

const Cpu *tirc_llvm_cpu(Tirc *c, const char *name) {
  if (strcmp(name, "native") == 0) return native(c);
  const Cpu *cpu = tirc_cpu_find(name);
  if (!cpu) tirc_cpu_unknown(c, name);
  return cpu;
}

/* The first feature of the processor that this machine lacks; NULL when it can run the code. */
static const char *missing_feature(Tirc *c, const char *features, const char *host) {
  for (const char *p = features; *p;) {
    size_t n = strcspn(p, ",");
    if (!tirc_has_feature(host, p, n)) return tirc_strndup(c, p, n);
    p += n + (p[n] == ',');
  }
  return NULL;
}

void tirc_llvm_require_here(Tirc *c, const char *name) {
  const Cpu *cpu = tirc_llvm_cpu(c, name);
  if (cpu->cores > 0) return; /* it is this machine */
  tirc_llvm_load(c);
  const char *triple = taken(c, LLVMGetDefaultTargetTriple());
  if (!runs_on(cpu, triple))
    tirc_fail(c, (Loc){0}, "target", "tirc build --emit=obj makes code for other machines",
              "code for %s, an %s, cannot run on this machine, %s", cpu->name,
              tirc_cpu_arch_name(cpu), triple);
  const char *host = taken(c, LLVMGetHostCPUFeatures());
  const char *missing = missing_feature(c, cpu->features, host);
  if (missing)
    tirc_fail(c, (Loc){0}, "target", "native is this machine",
              "code for %s cannot run on this machine, which has no %s", cpu->name, missing);
}

/* --- the machine ----------------------------------------------------------------------------- */

Target *tirc_target_new(Tirc *c, const char *name, bool runs_here) {
  tirc_targets_ready(c);
  Target *t = tirc_new(c, Target);
  const Cpu *cpu = t->cpu = tirc_llvm_cpu(c, name);
  bool is_native = cpu->cores > 0;
  if (runs_here) tirc_llvm_require_here(c, name);
  t->triple = is_native ? taken(c, LLVMGetDefaultTargetTriple()) : tirc_cpu_triple(cpu);
  t->features = is_native ? cpu->features : "";
  t->f16c = cpu->arch != CPU_X86_64 || tirc_cpu_has(cpu, "f16c");
  LLVMTargetRef target;
  char *error = NULL;
  if (LLVMGetTargetFromTriple(t->triple, &target, &error))
    tirc_fail(c, (Loc){0}, "target", NULL, "LLVM has no target %s: %s", t->triple, taken(c, error));
  t->machine = LLVMCreateTargetMachine(target, t->triple, cpu->llvm_name, t->features,
                                       LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelDefault);
  if (!t->machine) tirc_fail(c, (Loc){0}, "target", NULL, "LLVM makes no code for %s", t->triple);
  LLVMTargetDataRef data = LLVMCreateTargetDataLayout(t->machine);
  t->layout = taken(c, LLVMCopyStringRepOfTargetData(data));
  LLVMDisposeTargetData(data);
  return t;
}

void tirc_target_free(Target *t) {
  if (t && t->machine) LLVMDisposeTargetMachine(t->machine);
}

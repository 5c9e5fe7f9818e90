/* Targets: the processor's name is checked here, because LLVM answers an unknown one with a line on
 * standard error and some known ones with an abort. */
#include "gen.h"

#include <pthread.h>
#include <stdlib.h>

#include <llvm-c/Target.h>

typedef struct Cpu {
  const char *name, *features;
} Cpu;

#define V2 "sse3,ssse3,sse4.1,sse4.2,popcnt"
#define V3 V2 ",lzcnt,bmi,bmi2,movbe,avx,avx2,fma,f16c"
#define V4 V3 ",avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
static const Cpu cpus[] = {
#define CPU(name, features) {name, features},
#include "cpus.def"
#undef CPU
};

/* LLVM's own registry of targets is filled once; it takes no context. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void initialize(void) {
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
}

/* Whether "a,b,c" (entries perhaps with a + before them) holds the entry. */
static bool has_feature(const char *list, const char *entry, size_t n) {
  for (const char *p = list; *p;) {
    size_t length = strcspn(p, ",");
    const char *name = *p == '+' ? p + 1 : p;
    if (length - (size_t)(name - p) == n && strncmp(name, entry, n) == 0) return true;
    p += length + (p[length] == ',');
  }
  return false;
}

/* The first feature of the processor that this machine lacks; NULL when it can run the code. */
static const char *missing_feature(Tirc *c, const char *features, const char *host) {
  for (const char *p = features; *p;) {
    size_t n = strcspn(p, ",");
    if (!has_feature(host, p, n)) return tirc_strndup(c, p, n);
    p += n + (p[n] == ',');
  }
  return NULL;
}

static const Cpu *find_cpu(const char *name) {
  for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
    if (strcmp(cpus[i].name, name) == 0) return &cpus[i];
  return NULL;
}

/* The longest common beginning decides what is shown as a likely meaning. */
static const char *nearest(const char *name) {
  size_t best = 2;
  const char *found = NULL;
  for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++) {
    size_t n = 0;
    while (name[n] && name[n] == cpus[i].name[n]) n++;
    if (n > best) {
      best = n;
      found = cpus[i].name;
    }
  }
  return found;
}

static char *taken(Tirc *c, char *message) { /* an LLVM string, moved into the arena */
  char *s = tirc_strdup(c, message ? message : "");
  LLVMDisposeMessage(message);
  return s;
}

static void choose_cpu(Tirc *c, Target *t, const char *cpu, bool runs_here) {
  char *host = taken(c, LLVMGetHostCPUFeatures());
  if (strcmp(cpu, "native") == 0) {
    t->cpu = taken(c, LLVMGetHostCPUName());
    t->features = host;
    t->f16c = has_feature(host, "f16c", 4);
    t->avx2 = has_feature(host, "avx2", 4);
    t->wide = has_feature(host, "avx512f", 7);
    return;
  }
  const Cpu *found = find_cpu(cpu);
  bool is_x86 = strncmp(t->triple, "x86_64", 6) == 0;
  if (!found || !is_x86) {
    const char *near = is_x86 ? nearest(cpu) : NULL;
    tirc_fail(c, (Loc){0}, "target",
              near ? tirc_format(c, "did you mean %s? native is this machine", near)
                   : "native is this machine; haswell, skylake, znver4, x86-64-v3 are some others",
              "%s is not the name of a processor that code can be made for", cpu);
  }
  t->cpu = tirc_strdup(c, found->name);
  t->features = tirc_strdup(c, "");
  t->f16c = has_feature(found->features, "f16c", 4);
  t->avx2 = has_feature(found->features, "avx2", 4);
  t->wide = has_feature(found->features, "avx512f", 7);
  const char *missing = runs_here ? missing_feature(c, found->features, host) : NULL;
  if (missing)
    tirc_fail(c, (Loc){0}, "target", "native is this machine",
              "code for %s cannot run on this machine, which has no %s", cpu, missing);
}

Target *tirc_target_new(Tirc *c, const char *cpu, bool runs_here) {
  pthread_once(&once, initialize);
  Target *t = tirc_new(c, Target);
  t->triple = taken(c, LLVMGetDefaultTargetTriple());
  choose_cpu(c, t, cpu, runs_here);
  LLVMTargetRef target;
  char *error = NULL;
  if (LLVMGetTargetFromTriple(t->triple, &target, &error))
    tirc_fail(c, (Loc){0}, "target", NULL, "LLVM has no target %s: %s", t->triple, taken(c, error));
  t->machine = LLVMCreateTargetMachine(target, t->triple, t->cpu, t->features,
                                       LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelDefault);
  if (!t->machine) tirc_fail(c, (Loc){0}, "target", NULL, "LLVM makes no code for %s", t->triple);
  LLVMTargetDataRef data = LLVMCreateTargetDataLayout(t->machine);
  char *layout = LLVMCopyStringRepOfTargetData(data);
  LLVMDisposeTargetData(data);
  t->layout = tirc_strdup(c, layout);
  LLVMDisposeMessage(layout);
  return t;
}

void tirc_target_free(Target *t) {
  if (t && t->machine) LLVMDisposeTargetMachine(t->machine);
}

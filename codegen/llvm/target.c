/* Targets: from a processor's name to LLVM's machine. Names are checked against the table of
 * ir/cpus.def, because LLVM answers an unknown one with a line on standard error and some known
 * ones with an abort. */
#include "cache.h"
#include "gen.h"
#include "ir/child.h"
#include "key.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* LLVM's own registry of targets is filled once; it takes no context. */
static void initialize(void) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeX86AsmParser(); /* of inline assembly */
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

/* What LLVM says of this machine. */
typedef struct Host {
  bool is_known;
  char triple[128], name[64], features[4096];
} Host;

static void keep_text(Tirc *c, char *to, size_t room, char *message) {
  const char *s = taken(c, message);
  if (strlen(s) >= room)
    tirc_fail(c, (Loc){0}, CODE_TARGET, NULL, "this machine has a long name: %s", s);
  strcpy(to, s);
}

static void ask_host(Tirc *c, void *self) {
  Host *h = self;
  tirc_llvm_load(c);
  keep_text(c, h->triple, sizeof h->triple, LLVMGetDefaultTargetTriple());
  keep_text(c, h->name, sizeof h->name, LLVMGetHostCPUName());
  keep_text(c, h->features, sizeof h->features, LLVMGetHostCPUFeatures());
  h->is_known = true;
}

static const char *key_of_host(Tirc *c) {
  const char *machine = tirc_key_of_machine(c);
  return machine ? tirc_format(c, "%sthis machine, as LLVM has it\n", machine) : NULL;
}

/* What an earlier process was told, or nothing. */
static Host kept_host(Tirc *c, const CodeCache *cache) {
  Host h = {0};
  const char *key = *cache->folder ? key_of_host(c) : NULL;
  const Kept kept = key ? tirc_cache_find(cache, key) : (Kept){0};
  if (kept.bytes && kept.n == sizeof h) memcpy(&h, kept.object, sizeof h);
  free(kept.bytes);
  return h;
}

static void keep_host(Tirc *c, const CodeCache *cache, const Host *h) {
  const char *key = *cache->folder ? key_of_host(c) : NULL;
  if (key) tirc_cache_keep(cache, key, (const char *)h, sizeof *h);
}

/* Asked once: a machine stays what it is. */
static Host host(Tirc *c, bool by_child) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static Host known;
  pthread_mutex_lock(&mutex);
  const Host before = known;
  pthread_mutex_unlock(&mutex);
  if (before.is_known) return before;
  const CodeCache cache = tirc_cache_open();
  Host now = kept_host(c, &cache);
  const bool was_kept = now.is_known;
  Host *asked = by_child && !was_kept ? tirc_shared_memory(sizeof *asked) : NULL;
  Trap trap;
  if (!TIRC_TRY(c, trap)) {
    tirc_shared_free(asked, sizeof *asked);
    tirc_throw(c);
  }
  if (asked && tirc_in_child(c, ask_host, asked, NULL)) now = *asked;
  TIRC_END(c, trap);
  tirc_shared_free(asked, sizeof *asked);
  if (!now.is_known) ask_host(c, &now);
  if (!was_kept) keep_host(c, &cache, &now);
  pthread_mutex_lock(&mutex);
  known = now;
  pthread_mutex_unlock(&mutex);
  return now;
}

void tirc_llvm_host_by_child(Tirc *c) { (void)host(c, true); }

/* The features and caches are this machine's own; the table helps where the system says nothing. */
static const Cpu *native(Tirc *c) {
  const Host h = host(c, false);
  const char *triple = tirc_strdup(c, h.triple), *name = tirc_strdup(c, h.name);
  const Cpu *known = tirc_cpu_find(name);
  const char *basic = strncmp(triple, "x86_64", 6) == 0 ? "x86-64" : "aarch64";
  if (!known || !runs_on(known, triple)) known = tirc_cpu_find(basic);
  if (!runs_on(known, triple))
    tirc_fail(c, (Loc){0}, CODE_TARGET, "--target=help lists the targets",
              "tirc cannot make code for this kind of machine, %s", triple);
  Cpu *cpu = tirc_new(c, Cpu);
  *cpu = *known;
  cpu->name = cpu->llvm_name = name;
  cpu->features = tirc_strdup(c, h.features);
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

/* The first feature of the processor that this machine lacks; NULL when it can run the code. Tiles
 * of AMX are asked for on entry by the functions that have them. */
static const char *missing_feature(Tirc *c, const char *features, const char *host) {
  for (const char *p = features; *p;) {
    size_t n = strcspn(p, ",");
    const bool is_asked = strncmp(p, "amx-", 4) == 0;
    if (!is_asked && !tirc_has_feature(host, p, n)) return tirc_strndup(c, p, n);
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
    tirc_fail(c, (Loc){0}, CODE_TARGET, "tirc build --emit=obj makes code for other machines",
              "code for %s, an %s, cannot run on this machine, %s", cpu->name,
              tirc_cpu_arch_name(cpu), triple);
  const char *host = taken(c, LLVMGetHostCPUFeatures());
  const char *missing = missing_feature(c, cpu->features, host);
  if (missing)
    tirc_fail(c, (Loc){0}, CODE_TARGET, "native is this machine",
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
    tirc_fail(c, (Loc){0}, CODE_TARGET, NULL, "LLVM has no target %s: %s", t->triple,
              taken(c, error));
  t->machine = LLVMCreateTargetMachine(target, t->triple, cpu->llvm_name, t->features,
                                       LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelDefault);
  if (!t->machine)
    tirc_fail(c, (Loc){0}, CODE_TARGET, NULL, "LLVM cannot make code for %s", t->triple);
  LLVMTargetDataRef data = LLVMCreateTargetDataLayout(t->machine);
  t->layout = taken(c, LLVMCopyStringRepOfTargetData(data));
  LLVMDisposeTargetData(data);
  return t;
}

void tirc_target_free(Target *t) {
  if (t && t->machine) LLVMDisposeTargetMachine(t->machine);
}

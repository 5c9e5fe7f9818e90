/* What code depends on, as the text under which the cache keeps it. None of it asks LLVM: a hit is
 * to do without its library. */
#define _GNU_SOURCE
#include "key.h"

#include "gen.h"
#include "ir/tree/annotations.h"
#include "ir/tree/print.h"

#include <inttypes.h>
#include <link.h>
#include <llvm/Config/llvm-config.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#if defined __x86_64__
#include <cpuid.h>
#endif

/* --- who makes it ----------------------------------------------------------------------------- */

/* A file that another one has taken the place of has another time or size. */
static const char *file_text(Tirc *c, const char *path) {
  struct stat s;
  if (stat(path, &s)) return NULL;
  return tirc_format(c, "%lld bytes of %lld.%09ld", (long long)s.st_size, (long long)s.st_mtime,
                     s.st_mtim.tv_nsec);
}

typedef struct Holder {
  uintptr_t code;
  char path[4096]; /* "": not found */
} Holder;

static int see_object(struct dl_phdr_info *info, size_t size, void *self) {
  Holder *h = self;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    if (info->dlpi_phdr[i].p_type != PT_LOAD || h->code < from ||
        h->code - from >= info->dlpi_phdr[i].p_memsz)
      continue;
    const char *name = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
    if (strlen(name) < sizeof h->path) strcpy(h->path, name);
    return 1;
  }
  return 0;
}

/* The file that this code is in, of the library or of a program that holds it. */
static const char *own_file(Tirc *c) {
  Holder h = {.code = (uintptr_t)&own_file};
  dl_iterate_phdr(see_object, &h);
  return *h.path ? file_text(c, h.path) : NULL;
}

/* --- where it runs ---------------------------------------------------------------------------- */

#if defined __x86_64__
/* What LLVM decides by, too: a leaf and a subleaf; of leaf 1 not EBX, which has the core's number.
 */
static const char *machine_text(Tirc *c) {
  static const unsigned leaves[][2] = {
      {0, 0},    {1, 0},    {7, 0},    {7, 1},          {0xd, 1},        {0x14, 0},
      {0x19, 0}, {0x1e, 1}, {0x24, 0}, {0x80000000, 0}, {0x80000001, 0}, {0x80000008, 0},
  };
  const char *s = "x86_64";
  unsigned a, b, d, e;
  for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
    if (!__get_cpuid_count(leaves[i][0], leaves[i][1], &a, &b, &e, &d)) a = b = d = e = 0;
    if (leaves[i][0] == 1) b = 0;
    if (leaves[i][0] == 0x80000008) a = d = e = 0; /* sizes of addresses, the number of cores */
    s = tirc_format(c, "%s %x,%x,%x,%x", s, a, b, e, d);
  }
  if (__get_cpuid(1, &a, &b, &e, &d) && e & bit_OSXSAVE) {
    __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0)); /* the registers that the system saves */
    s = tirc_format(c, "%s %x,%x", s, d, a);
  }
  return s;
}
#else
static const char *machine_text(Tirc *c) {
  return tirc_format(c, "%lx %lx %s", getauxval(AT_HWCAP), getauxval(AT_HWCAP2),
                     (const char *)getauxval(AT_PLATFORM));
}
#endif

/* --- keys ------------------------------------------------------------------------------------- */

const char *tirc_key_of_machine(Tirc *c) {
  const char *own = own_file(c), *llvm = file_text(c, LLVM_FOLDER "/libLLVM.so");
  if (!own) return NULL;
  return tirc_format(c, "tirc %s, %s\nLLVM %s, %s\n%s\n", TIRC_VERSION, own, LLVM_VERSION_STRING,
                     llvm ? llvm : "found by name", machine_text(c));
}

const char *tirc_key_of_code(Tirc *c, const char *machine, const Module *lowered, const char *cpu) {
  /* The text of a function does not say on which lines it stands. */
  if (!machine || tirc_attrs_get(lowered->attrs, tirc_key(KEY_DEBUG_LINES))) return NULL;
  size_t n = strlen(machine) + strlen(cpu) + 64;
  const char **texts = tirc_new_array(c, const char *, lowered->n_funcs);
  for (int i = 0; i < lowered->n_funcs; i++) {
    texts[i] = tirc_print_func(c, lowered->funcs[i], DIALECT_TIR);
    n += strlen(texts[i]) + 1;
  }
  char *key = tirc_alloc(c, n), *at = key;
  at = stpcpy(stpcpy(stpcpy(stpcpy(at, machine), "code for "), cpu), "\n");
  for (int i = 0; i < lowered->n_funcs; i++) at = stpcpy(stpcpy(at, texts[i]), "\n");
  return key;
}

/* What an instruction does, from its text: its name by the rows of mnemonics.def, then its
 * operands. A spill or reload is what LLVM's comment calls so: a stack slot alone may as well be a
 * buffer. */
#include "asm_code.h"
#include "ir/ascii.h"

#include <string.h>

const char *const tirc_asm_kind_names[ASM_KIND_COUNT] = {
#define ASM_KIND(id, name) name,
#include "asm_kinds.def"
#undef ASM_KIND
};

static const struct Mnemonic {
  CpuArch arch;
  const char *prefix;
  AsmKind kind;
} mnemonics[] = {
#define MNEMONIC(arch, prefix, kind) {arch, prefix, ASM_##kind},
#include "mnemonics.def"
#undef MNEMONIC
};

static AsmKind kind_of_name(CpuArch arch, const char *text) {
  if (arch == CPU_APPLE) arch = CPU_AARCH64;
  /* "b" alone is a branch, and no prefix of the others. */
  if (arch == CPU_AARCH64 && text[0] == 'b' && tirc_is_space(text[1])) return ASM_BRANCH;
  size_t i = 0;
  while (mnemonics[i].arch != arch ||
         strncmp(text, mnemonics[i].prefix, strlen(mnemonics[i].prefix)) != 0)
    i++; /* each architecture ends with the empty prefix */
  return mnemonics[i].kind;
}

/* Names without a v before them that work on vector registers. */
static bool names_vector(CpuArch arch, const char *operands) {
  if (arch == CPU_X86_64) return strstr(operands, "mm") != NULL;
  for (const char *p = operands; (p = strpbrk(p, "vqds")) != NULL; p++)
    if (tirc_is_digit(p[1]) && (p == operands || strchr(" \t,[{", p[-1]))) return true;
  return false;
}

static int widest(CpuArch arch, const char *operands) {
  if (arch != CPU_X86_64) return names_vector(arch, operands) ? 128 : 0;
  return strstr(operands, "%zmm")   ? 512
         : strstr(operands, "%ymm") ? 256
         : strstr(operands, "%xmm") ? 128
                                    : 0;
}

/* x86: what comes last is written. */
static bool writes_memory(const char *operands) {
  const char *close = strrchr(operands, ')');
  return close && !strchr(close, ',');
}

AsmInstruction tirc_asm_classify(CpuArch arch, const char *text, const char *comment) {
  const char *operands = text + strcspn(text, " \t");
  AsmInstruction r = {.kind = kind_of_name(arch, text), .vector_bits = widest(arch, operands)};
  if (comment && strstr(comment, "Folded Reload"))
    r.loads = true;
  else if (comment && strstr(comment, "Reload"))
    return r.kind = ASM_RELOAD, r;
  else if (comment && strstr(comment, "Spill"))
    return r.kind = ASM_SPILL, r;
  bool memory = arch == CPU_X86_64 && strchr(operands, '(');
  if (r.kind == ASM_MOVE && memory) r.kind = writes_memory(operands) ? ASM_STORE : ASM_LOAD;
  if (r.kind == ASM_INTEGER && r.vector_bits) r.kind = ASM_ARITH;
  if (r.kind == ASM_INTEGER || r.kind == ASM_PREFETCH) return r;
  if (memory && strncmp(text, "vextract", 8) == 0) r.kind = ASM_STORE;
  if (memory && r.kind != ASM_LOAD && r.kind != ASM_STORE && r.kind != ASM_BROADCAST)
    r.loads = true;
  return r;
}

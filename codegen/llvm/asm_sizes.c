/* The bytes of each loop: the object file's instructions, one by one, in the order of the
 * assembly's. What stands between them for alignment counts for no loop. */
#include "asm_code.h"
#include "calls.h"

#include <string.h>

typedef struct Bytes {
  const uint8_t *at;
  uint64_t n;
} Bytes;

/* From the function's first byte to the end of its section. */
static Bytes function_bytes(LLVMBinaryRef object, const char *name) {
  Bytes r = {0};
  LLVMSymbolIteratorRef s = LLVMObjectFileCopySymbolIterator(object);
  for (; !LLVMObjectFileIsSymbolIteratorAtEnd(object, s); LLVMMoveToNextSymbol(s)) {
    const char *symbol = LLVMGetSymbolName(s);
    if (!symbol || strcmp(symbol, name) != 0) continue;
    LLVMSectionIteratorRef section = LLVMObjectFileCopySectionIterator(object);
    LLVMMoveToContainingSection(section, s);
    if (!LLVMObjectFileIsSectionIteratorAtEnd(object, section)) {
      uint64_t offset = LLVMGetSymbolAddress(s) - LLVMGetSectionAddress(section);
      r.at = (const uint8_t *)LLVMGetSectionContents(section) + offset;
      r.n = LLVMGetSectionSize(section) - offset;
    }
    LLVMDisposeSectionIterator(section);
    break;
  }
  LLVMDisposeSymbolIterator(s);
  return r;
}

/* The size of the next instruction that is no padding; 0 when the bytes make none. */
static size_t next_size(LLVMDisasmContextRef d, Bytes *b) {
  char text[256];
  for (;;) {
    /* The disassembler does not change what it reads. */
    uint8_t *at = (uint8_t *)(uintptr_t)b->at;
    size_t n = LLVMDisasmInstruction(d, at, b->n, 0, text, sizeof text);
    b->at += n;
    b->n -= n;
    if (n == 0 || !strstr(text, "nop")) return n;
  }
}

void tirc_asm_sizes(AsmCode *code, const char *triple, const char *cpu, const char *features,
                    const void *object) {
  LLVMMemoryBufferRef memory = (LLVMMemoryBufferRef)(uintptr_t)object;
  char *message = NULL;
  LLVMBinaryRef binary = LLVMCreateBinary(memory, NULL, &message);
  LLVMDisasmContextRef d = LLVMCreateDisasmCPUFeatures(triple, cpu, features, NULL, 0, NULL, NULL);
  const char *func = NULL;
  Bytes bytes = {0};
  for (int i = 0; i < code->lines.n; i++) {
    const AsmLine *line = &code->lines.at[i];
    if (!line->is_instruction) continue;
    AsmLoop *l = &code->loops.at[line->loop];
    if (l->func != func) {
      func = l->func;
      bytes = binary ? function_bytes(binary, func) : (Bytes){0};
    }
    size_t n = bytes.n && d ? next_size(d, &bytes) : 0;
    l->bytes = n == 0 || l->bytes < 0 ? -1 : l->bytes + (int)n;
  }
  if (d) LLVMDisasmDispose(d);
  if (binary) LLVMDisposeBinary(binary);
  LLVMDisposeMessage(message);
}

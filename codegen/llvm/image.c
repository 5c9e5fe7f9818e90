/* A linker for one object file. The sections that a program needs lie one behind the other:
 *
 *     code | a jump for each symbol of the process || constants, data | an address for each symbol
 *
 * Code up to || can be run and not written, the rest can be written and not run. The addresses are
 * what GOTPCREL means and what the jumps go to, because libm may be further away than an
 * instruction reaches. Unwind tables are left out: no exception passes through a kernel. */
#define _GNU_SOURCE
#include "image.h"

#include <stdint.h>

#if defined __linux__ && defined __x86_64__
#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { JUMP = 8 }; /* bytes of one: jmp *address(%rip), and two that are not reached */

typedef struct Link {
  const char *object;
  size_t n;
  const Elf64_Shdr *sections;
  size_t n_sections;
  const Elf64_Sym *symbols;
  size_t n_symbols;
  const char *names;
  size_t names_size;
  size_t *place; /* of each section in the image; SIZE_MAX: it is not in it */
  size_t jumps, addresses, end, code_end;
  char *at;
} Link;

static bool is_inside(const Link *k, uint64_t from, uint64_t bytes) {
  return from <= k->n && bytes <= k->n - from;
}

static const char *name_at(const Link *k, uint64_t at) {
  return at < k->names_size && memchr(k->names + at, 0, k->names_size - at) ? k->names + at : NULL;
}

/* Each table is where the header says, and whole. */
static bool read_tables(Link *k) {
  const Elf64_Ehdr *h = (const void *)k->object;
  if (k->n < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_type != ET_REL ||
      h->e_machine != EM_X86_64 || h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shoff % 8 ||
      !is_inside(k, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
    return false;
  k->sections = (const void *)(k->object + h->e_shoff);
  k->n_sections = h->e_shnum;
  for (size_t i = 0; i < k->n_sections; i++) {
    const Elf64_Shdr *s = &k->sections[i];
    if (s->sh_type != SHT_NOBITS && !is_inside(k, s->sh_offset, s->sh_size)) return false;
    if (s->sh_type != SHT_SYMTAB) continue;
    if (s->sh_link >= k->n_sections || s->sh_offset % 8) return false;
    const Elf64_Shdr *names = &k->sections[s->sh_link];
    if (names->sh_type != SHT_STRTAB || !is_inside(k, names->sh_offset, names->sh_size))
      return false;
    k->symbols = (const void *)(k->object + s->sh_offset);
    k->n_symbols = s->sh_size / sizeof *k->symbols;
    k->names = k->object + names->sh_offset;
    k->names_size = names->sh_size;
  }
  return k->symbols != NULL;
}

static size_t aligned(size_t at, size_t to) { return (at + to - 1) / to * to; }

static bool place_sections(Link *k, bool code) {
  for (size_t i = 0; i < k->n_sections; i++) {
    const Elf64_Shdr *s = &k->sections[i];
    const size_t alignment = s->sh_addralign ? s->sh_addralign : 1;
    if (!(s->sh_flags & SHF_ALLOC) || s->sh_type == SHT_X86_64_UNWIND ||
        !(s->sh_flags & SHF_EXECINSTR) == code)
      continue;
    if (alignment > 4096 || s->sh_flags & SHF_TLS || s->sh_size > INT32_MAX / 2) return false;
    k->place[i] = aligned(k->end, alignment);
    k->end = k->place[i] + s->sh_size;
    if (k->end > INT32_MAX / 2) return false;
  }
  return true;
}

static bool lay_out(Link *k) {
  k->place = malloc(k->n_sections * sizeof *k->place);
  if (!k->place) return false;
  for (size_t i = 0; i < k->n_sections; i++) k->place[i] = SIZE_MAX;
  if (!place_sections(k, true)) return false;
  k->jumps = aligned(k->end, JUMP);
  k->end = k->code_end = aligned(k->jumps + JUMP * k->n_symbols, (size_t)sysconf(_SC_PAGESIZE));
  if (!place_sections(k, false)) return false;
  k->addresses = aligned(k->end, sizeof(void *));
  k->end = k->addresses + sizeof(void *) * k->n_symbols;
  return k->end <= INT32_MAX / 2;
}

/* NULL: it is nowhere. */
static char *address_of(const Link *k, const Elf64_Sym *s) {
  if (s->st_shndx == SHN_UNDEF) {
    const char *name = name_at(k, s->st_name);
    return name && *name ? dlsym(RTLD_DEFAULT, name) : NULL;
  }
  if (s->st_shndx >= k->n_sections || k->place[s->st_shndx] == SIZE_MAX) return NULL;
  return s->st_value <= k->sections[s->st_shndx].sh_size
             ? k->at + k->place[s->st_shndx] + s->st_value
             : NULL;
}

static void fill_tables(Link *k) {
  for (size_t i = 0; i < k->n_symbols; i++) {
    char *address = address_of(k, &k->symbols[i]);
    char *jump = k->at + k->jumps + JUMP * i, *slot = k->at + k->addresses + sizeof(void *) * i;
    const int32_t way = (int32_t)(slot - (jump + 6));
    memcpy(slot, &address, sizeof address);
    memcpy(jump, "\xff\x25", 2);
    memcpy(jump + 2, &way, sizeof way);
  }
}

static bool relocate(const Link *k, const Elf64_Rela *r, size_t section) {
  const size_t symbol = ELF64_R_SYM(r->r_info), size = k->sections[section].sh_size;
  const uint32_t type = ELF64_R_TYPE(r->r_info);
  const size_t bytes = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
  if (symbol >= k->n_symbols || r->r_offset > size || bytes > size - r->r_offset) return false;
  char *at = k->at + k->place[section] + r->r_offset, *to;
  memcpy(&to, k->at + k->addresses + sizeof(void *) * symbol, sizeof to);
  if (!to) return false;
  switch (type) {
  case R_X86_64_PLT32:
    if (k->symbols[symbol].st_shndx == SHN_UNDEF) to = k->at + k->jumps + JUMP * symbol;
    break;
  case R_X86_64_GOTPCREL:
  case R_X86_64_GOTPCRELX:
  case R_X86_64_REX_GOTPCRELX: to = k->at + k->addresses + sizeof(void *) * symbol; break;
  case R_X86_64_64:
  case R_X86_64_PC64:
  case R_X86_64_PC32: break;
  default: return false;
  }
  int64_t value = (int64_t)((uintptr_t)to + (uint64_t)r->r_addend);
  if (type != R_X86_64_64) value -= (int64_t)(uintptr_t)at;
  const int32_t low = (int32_t)value;
  if (bytes == 4 && low != value) return false;
  if (bytes == 4)
    memcpy(at, &low, sizeof low);
  else
    memcpy(at, &value, sizeof value);
  return true;
}

static bool relocate_all(const Link *k) {
  for (size_t i = 0; i < k->n_sections; i++) {
    const Elf64_Shdr *s = &k->sections[i];
    if (s->sh_type == SHT_REL) return false;
    if (s->sh_type != SHT_RELA || s->sh_info >= k->n_sections || k->place[s->sh_info] == SIZE_MAX)
      continue;
    if (s->sh_offset % 8) return false;
    const Elf64_Rela *all = (const void *)(k->object + s->sh_offset);
    for (size_t r = 0; r < s->sh_size / sizeof *all; r++)
      if (!relocate(k, &all[r], s->sh_info)) return false;
  }
  return true;
}

static bool link_into(Link *k) {
  for (size_t i = 0; i < k->n_sections; i++)
    if (k->place[i] != SIZE_MAX && k->sections[i].sh_type != SHT_NOBITS)
      memcpy(k->at + k->place[i], k->object + k->sections[i].sh_offset, k->sections[i].sh_size);
  fill_tables(k);
  return relocate_all(k) && mprotect(k->at, k->code_end, PROT_READ | PROT_EXEC) == 0;
}

bool tirc_image_load(Image *to, const char *object, size_t n) {
  Link k = {.object = object, .n = n};
  *to = (Image){0};
  bool ok = read_tables(&k) && lay_out(&k);
  if (ok) {
    k.at = mmap(NULL, k.end, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ok = k.at != MAP_FAILED;
    if (ok) *to = (Image){k.at, k.end};
  }
  ok = ok && link_into(&k);
  free(k.place);
  if (!ok) tirc_image_free(to);
  return ok;
}

void *tirc_image_find(const Image *image, const char *object, size_t n, const char *name) {
  Link k = {.object = object, .n = n, .at = image->at};
  void *found = NULL;
  if (!image->at || !read_tables(&k) || !lay_out(&k)) k.n_symbols = 0;
  for (size_t i = 0; i < k.n_symbols && !found; i++) {
    const Elf64_Sym *s = &k.symbols[i];
    const char *symbol = name_at(&k, s->st_name);
    if (s->st_shndx != SHN_UNDEF && ELF64_ST_BIND(s->st_info) == STB_GLOBAL && symbol &&
        strcmp(symbol, name) == 0)
      found = address_of(&k, s);
  }
  free(k.place);
  return found;
}

void tirc_image_functions(const Image *image, const char *object, size_t n,
                          void (*tell)(void *self, const char *name, const void *at, size_t size),
                          void *self) {
  Link k = {.object = object, .n = n, .at = image->at};
  if (!image->at || !read_tables(&k) || !lay_out(&k)) k.n_symbols = 0;
  for (size_t i = 0; i < k.n_symbols; i++) {
    const Elf64_Sym *s = &k.symbols[i];
    const char *name = name_at(&k, s->st_name), *at = address_of(&k, s);
    if (s->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s->st_info) == STT_FUNC && name && at)
      tell(self, name, at, s->st_size);
  }
  free(k.place);
}

void tirc_image_free(Image *image) {
  if (image->at) munmap(image->at, image->size);
  *image = (Image){0};
}
#else
bool tirc_image_load(Image *to, const char *object, size_t n) {
  (void)object, (void)n;
  *to = (Image){0};
  return false;
}
void *tirc_image_find(const Image *image, const char *object, size_t n, const char *name) {
  (void)image, (void)object, (void)n, (void)name;
  return NULL;
}
void tirc_image_functions(const Image *image, const char *object, size_t n,
                          void (*tell)(void *self, const char *name, const void *at, size_t size),
                          void *self) {
  (void)image, (void)object, (void)n, (void)tell, (void)self;
}
void tirc_image_free(Image *image) { *image = (Image){0}; }
#endif

/* A libcuda.so.1 without a GPU: one device, whose memory is the process's, and which interprets the
 * PTX that it is given, threads one after the other between barriers and shuffles. For tests of
 * what tirc asks of the driver and of what its PTX computes. Each PTX instruction that it does not
 * know is an error, with its text in the log of the load.
 *
 * FAKE_CUDA_LOG names a file to which each call adds a line; FAKE_CUDA_REFUSES=1 refuses all PTX;
 * FAKE_CUDA_DEVICES=0 says that there is none; FAKE_CUDA_HANGS=1 has kernels that do not end. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  OK = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  INVALID_PTX = 218,
  NOT_FOUND = 500,
  LAUNCH_FAILED = 719,
  MOST_OPERANDS = 12,
  MOST_SHARED = 166912,
  WARP = 32
};
#define MEMORY (UINT64_C(1) << 26)

static void logged(const char *format, ...) {
  const char *path = getenv("FAKE_CUDA_LOG");
  FILE *f = path ? fopen(path, "a") : NULL;
  va_list args;
  if (!f) return;
  va_start(args, format);
  vfprintf(f, format, args);
  va_end(args);
  fputc('\n', f);
  fclose(f);
}

/* --- PTX ------------------------------------------------------------------------------------- */

typedef enum Kind { REG, IMMEDIATE, SYMBOL, SPECIAL, PARAM } Kind;
typedef struct Operand {
  Kind kind;
  int index;      /* of a register, symbol, parameter, or special register */
  uint64_t value; /* an immediate; what is added to an address */
} Operand;
typedef struct Ins {
  char op[48]; /* "fma.rn.f32" */
  int guard;   /* register, or -1 */
  bool negated;
  int n, target; /* operands; of a branch */
  bool unpacks;  /* mov.b64 {%r1, %r2}, %rd1 */
  Operand at[MOST_OPERANDS];
  char label[64];
} Ins;
typedef struct Symbol {
  char name[128];
  size_t bytes, at;
  char space; /* 's' of a block, 'l' of a thread, 'd' the array whose size a launch says */
} Symbol;
typedef struct Kernel {
  char name[128];
  int n_params, n_regs, n_ins, n_symbols;
  size_t param_bytes[256];
  char (*regs)[24];
  Ins *ins;
  Symbol *symbols;
  int attribute_dynamic;
} Kernel;
typedef struct Module {
  char *text;
  int n_kernels, n_globals;
  Kernel kernels[256];
  Symbol globals[256];
} Module;

static char problem[512];

static int reg_of(Kernel *k, const char *name) {
  for (int i = 0; i < k->n_regs; i++)
    if (strcmp(k->regs[i], name) == 0) return i;
  k->regs = realloc(k->regs, (size_t)(k->n_regs + 1) * sizeof *k->regs);
  snprintf(k->regs[k->n_regs], sizeof *k->regs, "%s", name);
  return k->n_regs++;
}

static int symbol_of(const Module *m, const Kernel *k, const char *name) {
  for (int i = 0; i < k->n_symbols; i++)
    if (strcmp(k->symbols[i].name, name) == 0) return i;
  for (int i = 0; i < m->n_globals; i++)
    if (strcmp(m->globals[i].name, name) == 0) return 1000 + i;
  return -1;
}

static bool read_operand(const Module *m, Kernel *k, char *s, Operand *o) {
  static const char *const specials[] = {"%tid.x",   "%tid.y",    "%tid.z",    "%ctaid.x",
                                         "%ctaid.y", "%ctaid.z",  "%ntid.x",   "%ntid.y",
                                         "%ntid.z",  "%nctaid.x", "%nctaid.y", "%nctaid.z"};
  *o = (Operand){0};
  char *plus = strchr(s, '+');
  if (plus && !isdigit((unsigned char)*s)) *plus = 0, o->value = strtoull(plus + 1, NULL, 0);
  const size_t n = strlen(k->name);
  for (int i = 0; i < 12; i++)
    if (strcmp(s, specials[i]) == 0) return o->kind = SPECIAL, o->index = i, true;
  if (*s == '%') return o->kind = REG, o->index = reg_of(k, s), true;
  if (s[0] == '0' && (s[1] == 'f' || s[1] == 'd'))
    return o->kind = IMMEDIATE, o->value = strtoull(s + 2, NULL, 16), true;
  if (*s == '-') return o->kind = IMMEDIATE, o->value = (uint64_t)strtoll(s, NULL, 0), true;
  if (isdigit((unsigned char)*s)) return o->kind = IMMEDIATE, o->value = strtoull(s, NULL, 0), true;
  if (strncmp(s, k->name, n) == 0 && strncmp(s + n, "_param_", 7) == 0)
    return o->kind = PARAM, o->index = atoi(s + n + 7), true;
  o->kind = SYMBOL;
  o->index = symbol_of(m, k, s);
  return o->index >= 0;
}

/* ".shared .align 16 .b8 name[64];" and ".reg" lines; gives whether it was a declaration. */
static bool read_declaration(const char *line, Symbol *s) {
  char type[16] = "b8", word[160];
  int n = 0;
  if (strncmp(line, ".reg", 4) == 0) return s->space = 0, true;
  if (*line != '.' || (!strstr(line, ".shared") && strncmp(line, ".local", 6) != 0)) return false;
  *s = (Symbol){.space = strncmp(line, ".local", 6) == 0    ? 'l'
                         : strncmp(line, ".extern", 7) == 0 ? 'd'
                                                            : 's'};
  for (const char *at = line; sscanf(at, " %150[^ \t;]%n", word, &n) == 1; at += n) {
    if (*word == '.') snprintf(type, sizeof type, "%.12s", word + 1);
    if (*word == '.' || isdigit((unsigned char)*word)) continue;
    const char *bracket = strchr(word, '[');
    snprintf(s->name, sizeof s->name, "%.*s", (int)strcspn(word, "["), word);
    s->bytes = (size_t)atoi(type + 1) / 8 * (bracket ? strtoull(bracket + 1, NULL, 10) : 1);
    return true;
  }
  return false;
}

static bool read_instruction(const Module *m, Kernel *k, char *line) {
  Ins i = {.guard = -1, .target = -1};
  char *s = line, word[128];
  if (*s == '@') {
    s++;
    if (*s == '!') i.negated = true, s++;
    if (sscanf(s, "%127s", word) != 1) return false;
    i.guard = reg_of(k, word);
    s += strlen(word);
  }
  if (sscanf(s, " %47[^ \t;]", i.op) != 1) return false;
  s = strstr(s, i.op) + strlen(i.op);
  i.unpacks = s[strspn(s, " \t")] == '{';
  if (strncmp(i.op, "bra", 3) == 0) {
    if (sscanf(s, " %63[^; \t]", i.label) != 1) return false;
  } else {
    for (char *t = strtok(s, " \t,;[]{}|"); t; t = strtok(NULL, " \t,;[]{}|"))
      if (i.n == MOST_OPERANDS || !read_operand(m, k, t, &i.at[i.n++])) return false;
  }
  k->ins = realloc(k->ins, (size_t)(k->n_ins + 1) * sizeof *k->ins);
  k->ins[k->n_ins++] = i;
  return true;
}

static bool knows(const char *op) {
  static const char *const ops[] = {
      "ld",  "st",   "mov", "cvta",  "cvt",  "add",        "sub",      "mul",  "mad",  "fma",
      "div", "rem",  "min", "max",   "abs",  "neg",        "and",      "or",   "xor",  "not",
      "shl", "shr",  "shf", "setp",  "selp", "bra",        "ret",      "bar",  "shfl", "sqrt",
      "rcp", "popc", "clz", "bfe",   "bfi",  "activemask", "copysign", "prmt", "dp4a", "atom",
      "red", "ex2",  "lg2", "rsqrt", "tanh", NULL};
  const size_t n = strcspn(op, ".");
  for (int i = 0; ops[i]; i++)
    if (strlen(ops[i]) == n && strncmp(ops[i], op, n) == 0) return true;
  return false;
}

static size_t size_of(const char *type) { /* the last part: "u64" */
  const char *dot = strrchr(type, '.');
  const int bits = dot && strlen(dot) > 2 ? atoi(dot + 2) : 0;
  return bits ? (size_t)bits / 8 : 1;
}

/* Labels become instructions of their own, which do nothing. */
static bool read_module(Module *m) {
  Kernel *k = NULL;
  bool in_body = false;
  char *save = NULL, kept[300];
  for (char *line = strtok_r(m->text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
    line += strspn(line, " \t");
    char *comment = strstr(line, "//");
    if (comment) *comment = 0;
    Symbol s = {0};
    snprintf(kept, sizeof kept, "%s", line);
    if (!*line || strcmp(line, "(") == 0 || strcmp(line, ")") == 0) continue;
    if (!k && read_declaration(line, &s)) {
      if (s.space) m->globals[m->n_globals++] = s;
    } else if (strstr(line, ".entry ")) {
      k = &m->kernels[m->n_kernels++];
      if (sscanf(strstr(line, ".entry ") + 7, "%127[^( ]", k->name) != 1) return false;
    } else if (k && !in_body && strncmp(line, ".param", 6) == 0) {
      char type[32] = "";
      (void)sscanf(line, ".param %31s", type);
      k->param_bytes[k->n_params++] = size_of(type);
    } else if (k && strcmp(line, "{") == 0) {
      in_body = true;
    } else if (k && strcmp(line, "}") == 0) {
      k = NULL, in_body = false;
    } else if (k && in_body) {
      if (read_declaration(line, &s)) {
        if (!s.space) continue;
        k->symbols = realloc(k->symbols, (size_t)(k->n_symbols + 1) * sizeof s);
        k->symbols[k->n_symbols++] = s;
        continue;
      }
      /* half of a register, as LLVM writes it */
      char half[2][24] = {"", ""};
      if (sscanf(line, "{ .reg .b16 tmp; mov.b32 {tmp, %23[^}]}, %23[^;]", half[0], half[1]) == 2)
        snprintf(line = kept, sizeof kept, "shr.u32 %s, %s, 16;", half[0], half[1]);
      else if (sscanf(line, "{ .reg .b16 tmp; mov.b32 {%23[^,], tmp}, %23[^;]", half[0], half[1]) ==
               2)
        snprintf(line = kept, sizeof kept, "cvt.u16.u32 %s, %s;", half[0], half[1]);
      char *colon = strchr(line, ':');
      if (*line == '$' && colon) {
        Ins label = {.op = "label", .guard = -1, .target = -1};
        *colon = 0;
        snprintf(label.label, sizeof label.label, "%.60s", line);
        k->ins = realloc(k->ins, (size_t)(k->n_ins + 1) * sizeof *k->ins);
        k->ins[k->n_ins++] = label;
      } else if (!read_instruction(m, k, line) || !knows(k->ins[k->n_ins - 1].op)) {
        snprintf(problem, sizeof problem, "%s", kept);
        return false;
      }
    }
  }
  for (int i = 0; i < m->n_kernels; i++)
    for (int j = 0; j < m->kernels[i].n_ins; j++)
      for (int t = 0; t < m->kernels[i].n_ins; t++) {
        Ins *a = &m->kernels[i].ins[j], *b = &m->kernels[i].ins[t];
        if (strncmp(a->op, "bra", 3) == 0 && strcmp(b->op, "label") == 0 &&
            strcmp(a->label, b->label) == 0)
          a->target = t;
      }
  return true;
}

/* --- a thread -------------------------------------------------------------------------------- */

typedef enum State { RUNS, AT_BARRIER, AT_SHUFFLE, DONE } State;
typedef struct Thread {
  uint64_t *regs;
  char *local;
  int at;
  State state;
  unsigned special[12];
} Thread;
typedef struct Block {
  const Module *m;
  const Kernel *k;
  void **params;
  char *shared, *dynamic;
  size_t *shared_at; /* of symbols, then of globals */
} Block;

typedef union Bits {
  uint64_t u;
  int64_t s;
  double d;
  struct {
    float f;
    uint32_t high;
  };
} Bits;

static uint64_t address(const Block *b, const Thread *t, const Operand *o) {
  if (o->kind == PARAM) return (uint64_t)(uintptr_t)b->params[o->index] + o->value;
  if (o->kind == REG) return t->regs[o->index] + o->value;
  if (o->kind != SYMBOL) return o->value;
  const bool global = o->index >= 1000;
  const Symbol *s = global ? &b->m->globals[o->index - 1000] : &b->k->symbols[o->index];
  const char *base = s->space == 'l' ? t->local : s->space == 'd' ? b->dynamic : b->shared;
  const size_t at =
      s->space == 'd' ? 0 : b->shared_at[global ? b->k->n_symbols + o->index - 1000 : o->index];
  return (uint64_t)(uintptr_t)(base + at) + o->value;
}

static uint64_t value(const Block *b, const Thread *t, const Operand *o) {
  if (o->kind == REG) return t->regs[o->index];
  if (o->kind == SPECIAL) return t->special[o->index];
  return o->kind == IMMEDIATE ? o->value : address(b, t, o);
}

static int bits_of(const char *type) {
  return strcmp(type, "pred") == 0 ? 1 : isdigit((unsigned char)type[1]) ? atoi(type + 1) : 64;
}

static uint64_t cut(uint64_t v, int bits) {
  return bits >= 64 ? v : v & ((UINT64_C(1) << bits) - 1);
}
static int64_t with_sign(uint64_t v, int bits) {
  return bits >= 64 ? (int64_t)v : (int64_t)(v << (64 - bits)) >> (64 - bits);
}

static double of_half(unsigned h) {
  const int e = (int)(h >> 10 & 31), m = (int)(h & 1023);
  const double a = e == 31 ? m ? (double)NAN : (double)INFINITY
                   : e     ? ldexp(1024 + m, e - 25)
                           : ldexp(m, -24);
  return h & 0x8000 ? -a : a;
}

static uint16_t to_half(double d) { /* to nearest, ties to even */
  const unsigned sign = signbit(d) ? 0x8000 : 0;
  const double a = fabs(d);
  unsigned bits;
  if (isnan(a))
    bits = 0x7e00;
  else if (a >= 65520)
    bits = 0x7c00;
  else if (a < 0x1p-14)
    bits = (unsigned)nearbyint(ldexp(a, 24));
  else
    bits = (unsigned)((ilogb(a) + 15) << 10) + (unsigned)nearbyint(ldexp(a, 10 - ilogb(a))) - 1024;
  return (uint16_t)(sign | bits);
}

static double as_double(uint64_t v, const char *type) {
  Bits b = {.u = v};
  if (strcmp(type, "f64") == 0) return b.d;
  if (strcmp(type, "f32") == 0) return (double)b.f;
  if (strcmp(type, "f16") == 0) return of_half((unsigned)v & 65535);
  return *type == 's' ? (double)with_sign(v, bits_of(type)) : (double)cut(v, bits_of(type));
}

static uint64_t of_float(double d, const char *type) {
  Bits b = {.u = 0};
  if (strcmp(type, "f64") == 0) {
    b.d = d;
  } else if (strcmp(type, "f32") == 0) {
    b.f = (float)d;
  } else {
    return to_half(d);
  }
  return b.u;
}

static bool has(const char *op, const char *part) {
  const size_t n = strlen(part);
  for (const char *s = strstr(op, part); s; s = strstr(s + 1, part))
    if (s[-1] == '.' && (s[n] == '.' || !s[n])) return true;
  return false;
}

static const char *last(const char *op) { return strrchr(op, '.') + 1; }

static uint64_t float_arith(const char *op, const char *type, int n, const uint64_t *x) {
  const bool wide = strcmp(type, "f64") == 0;
  double a = as_double(x[0], type), b = n > 1 ? as_double(x[1], type) : 0;
  double c = n > 2 ? as_double(x[2], type) : 0, r = 0;
  if (strncmp(op, "add", 3) == 0) r = wide ? a + b : (double)((float)a + (float)b);
  if (strncmp(op, "sub", 3) == 0) r = wide ? a - b : (double)((float)a - (float)b);
  if (strncmp(op, "mul", 3) == 0) r = wide ? a * b : (double)((float)a * (float)b);
  if (strncmp(op, "div", 3) == 0) r = wide ? a / b : (double)((float)a / (float)b);
  if (strncmp(op, "rcp", 3) == 0) r = wide ? 1 / a : (double)(1.0f / (float)a);
  if (strncmp(op, "sqrt", 4) == 0) r = wide ? sqrt(a) : (double)sqrtf((float)a);
  if (strncmp(op, "ex2", 3) == 0) r = exp2(a);
  if (strncmp(op, "lg2", 3) == 0) r = log2(a);
  if (strncmp(op, "rsqrt", 5) == 0) r = 1 / sqrt(a);
  if (strncmp(op, "tanh", 4) == 0) r = tanh(a);
  if (strncmp(op, "fma", 3) == 0)
    r = wide ? fma(a, b, c) : (double)fmaf((float)a, (float)b, (float)c);
  if (strncmp(op, "min", 3) == 0) r = fmin(a, b);
  if (strncmp(op, "max", 3) == 0) r = fmax(a, b);
  if (strncmp(op, "abs", 3) == 0) r = fabs(a);
  if (strncmp(op, "neg", 3) == 0) r = -a;
  if (strncmp(op, "copysign", 8) == 0) r = copysign(b, a);
  return of_float(r, type);
}

static uint64_t int_arith(const char *op, const char *type, int n, const uint64_t *x) {
  const int bits = bits_of(type);
  const bool is_signed = *type == 's';
  const uint64_t a = cut(x[0], bits), b = n > 1 ? cut(x[1], bits) : 0;
  const int64_t sa = with_sign(a, bits), sb = with_sign(b, bits);
  const bool is_mul = strncmp(op, "mul", 3) == 0 || strncmp(op, "mad", 3) == 0;
  if (is_mul && has(op, "wide")) {
    const uint64_t p = is_signed ? (uint64_t)(sa * sb) : a * b;
    return cut(n > 2 ? p + x[2] : p, 2 * bits);
  }
  if (is_mul && has(op, "hi")) {
    const __int128 p = is_signed ? (__int128)sa * sb : (__int128)((unsigned __int128)a * b);
    return cut((uint64_t)(p >> bits), bits);
  }
  uint64_t r = 0;
  if (is_mul) r = a * b + (n > 2 ? x[2] : 0);
  if (strncmp(op, "add", 3) == 0) r = a + b;
  if (strncmp(op, "sub", 3) == 0) r = a - b;
  if (strncmp(op, "div", 3) == 0)
    r = b == 0 ? ~UINT64_C(0) : is_signed ? (uint64_t)(sa / sb) : a / b;
  if (strncmp(op, "rem", 3) == 0) r = b == 0 ? a : is_signed ? (uint64_t)(sa % sb) : a % b;
  if (strncmp(op, "min", 3) == 0) r = is_signed ? (uint64_t)(sa < sb ? sa : sb) : a < b ? a : b;
  if (strncmp(op, "max", 3) == 0) r = is_signed ? (uint64_t)(sa > sb ? sa : sb) : a > b ? a : b;
  if (strncmp(op, "abs", 3) == 0) r = (uint64_t)(sa < 0 ? -sa : sa);
  if (strncmp(op, "neg", 3) == 0) r = (uint64_t)-sa;
  if (strncmp(op, "and", 3) == 0) r = a & b;
  if (strncmp(op, "or", 2) == 0) r = a | b;
  if (strncmp(op, "xor", 3) == 0) r = a ^ b;
  if (strncmp(op, "not", 3) == 0) r = ~a;
  if (strncmp(op, "popc", 4) == 0) r = (uint64_t)__builtin_popcountll(a);
  if (strncmp(op, "clz", 3) == 0) r = (uint64_t)(a ? __builtin_clzll(a) - (64 - bits) : bits);
  const uint64_t by = n > 1 ? (uint32_t)x[1] : 0;
  if (strncmp(op, "shl", 3) == 0) r = by >= (uint64_t)bits ? 0 : a << by;
  if (strncmp(op, "shr", 3) == 0)
    r = is_signed              ? (uint64_t)(sa >> (by >= (uint64_t)bits ? bits - 1 : (int)by))
        : by >= (uint64_t)bits ? 0
                               : a >> by;
  if (strncmp(op, "shf", 3) == 0) {
    const uint64_t both = (x[1] & UINT32_MAX) << 32 | (x[0] & UINT32_MAX);
    const unsigned k = (unsigned)x[2] & 31;
    r = has(op, "l") ? (both << k) >> 32 : both >> k;
  }
  if (strncmp(op, "bfe", 3) == 0) {
    const int from = (int)(x[1] & 255), len = (int)(x[2] & 255);
    r = len ? cut(a >> from, len) : 0;
    if (is_signed && len) r = (uint64_t)with_sign(r, len);
  }
  if (strncmp(op, "dp4a", 4) == 0) { /* dp4a.atype.btype */
    r = x[2];
    for (int i = 0; i < 4; i++) {
      const uint64_t p = x[0] >> (8 * i) & 255, q = x[1] >> (8 * i) & 255;
      r += (uint64_t)((op[5] == 's' ? with_sign(p, 8) : (int64_t)p) *
                      (op[9] == 's' ? with_sign(q, 8) : (int64_t)q));
    }
  }
  if (strncmp(op, "prmt", 4) == 0) {
    const uint64_t both = (x[1] & UINT32_MAX) << 32 | (x[0] & UINT32_MAX);
    for (int i = 0; i < 4; i++) {
      const unsigned pick = (unsigned)(x[2] >> (4 * i)) & 15;
      uint64_t byte = both >> (8 * (pick & 7)) & 255;
      if (pick & 8) byte = byte & 128 ? 255 : 0;
      r |= byte << (8 * i);
    }
  }
  return cut(r, bits);
}

/* setp.lt.f32, setp.neu.f32, setp.nan.f32 ... */
static bool compares(const char *op, const char *type, uint64_t x, uint64_t y) {
  const char *c = op + strlen("setp.");
  if (*type == 'f') {
    const double a = as_double(x, type), b = as_double(y, type);
    const bool unordered = isnan(a) || isnan(b);
    if (strncmp(c, "nan", 3) == 0) return unordered;
    if (strncmp(c, "num", 3) == 0) return !unordered;
    if (unordered) return c[2] == 'u';
    if (strncmp(c, "eq", 2) == 0) return a == b;
    if (strncmp(c, "ne", 2) == 0) return a != b;
    if (strncmp(c, "lt", 2) == 0) return a < b;
    if (strncmp(c, "le", 2) == 0) return a <= b;
    return strncmp(c, "gt", 2) == 0 ? a > b : a >= b;
  }
  const int bits = bits_of(type);
  const bool is_signed = *type == 's';
  const uint64_t a = cut(x, bits), b = cut(y, bits);
  const int64_t sa = with_sign(a, bits), sb = with_sign(b, bits);
  const int order = is_signed ? (sa > sb) - (sa < sb) : (a > b) - (a < b);
  if (strncmp(c, "eq", 2) == 0) return order == 0;
  if (strncmp(c, "ne", 2) == 0) return order != 0;
  if (strncmp(c, "lt", 2) == 0 || strncmp(c, "lo", 2) == 0) return order < 0;
  if (strncmp(c, "le", 2) == 0 || strncmp(c, "ls", 2) == 0) return order <= 0;
  return strncmp(c, "gt", 2) == 0 || strncmp(c, "hi", 2) == 0 ? order > 0 : order >= 0;
}

/* cvt.rzi.s32.f32: the result's type, then the operand's */
static uint64_t convert(const char *op, uint64_t x) {
  char to[8] = "", from[8] = "";
  const char *dot = last(op) - 1, *before = dot;
  snprintf(from, sizeof from, "%s", dot + 1);
  while (*--before != '.') continue;
  snprintf(to, sizeof to, "%.*s", (int)(dot - before - 1), before + 1);
  const int bits = bits_of(to);
  if (*from != 'f' && *to != 'f')
    return cut(*from == 's' ? (uint64_t)with_sign(x, bits_of(from)) : cut(x, bits_of(from)), bits);
  if (*from != 'f') {
    Bits b = {.u = 0};
    const bool is_signed = *from == 's', wide = strcmp(to, "f64") == 0;
    const int64_t s = with_sign(x, bits_of(from));
    const uint64_t u = cut(x, bits_of(from));
    if (wide)
      b.d = is_signed ? (double)s : (double)u;
    else
      b.f = is_signed ? (float)s : (float)u;
    return b.u;
  }
  double d = as_double(x, from);
  if (has(op, "rmi")) d = floor(d);
  if (has(op, "rpi")) d = ceil(d);
  if (has(op, "rzi")) d = trunc(d);
  if (has(op, "rni")) d = nearbyint(d);
  if (*to == 'f') return of_float(d, to);
  if (isnan(d)) return 0;
  if (*to == 's') {
    const double most = ldexp(1, bits - 1);
    const int64_t r = d >= most   ? with_sign(cut(~UINT64_C(0), bits - 1), 64)
                      : d < -most ? -(INT64_C(1) << (bits - 1))
                                  : (int64_t)d;
    return cut((uint64_t)r, bits);
  }
  return d <= 0 ? 0 : d >= ldexp(1, bits) ? cut(~UINT64_C(0), bits) : (uint64_t)d;
}

static void move_memory(const Block *b, Thread *t, const Ins *i, bool is_load) {
  const char *type = last(i->op);
  const size_t size = (size_t)bits_of(type) / 8;
  const Operand *place = &i->at[is_load ? i->n - 1 : 0];
  char *at = (char *)(uintptr_t)address(b, t, place);
  for (int k = 0; k < i->n - 1; k++) {
    const Operand *reg = &i->at[is_load ? k : k + 1];
    uint64_t v = 0;
    if (is_load) {
      memcpy(&v, at + (size_t)k * size, size);
      t->regs[reg->index] = *type == 's' ? (uint64_t)with_sign(v, (int)size * 8) : v;
    } else {
      v = value(b, t, reg);
      memcpy(at + (size_t)k * size, &v, size);
    }
  }
}

/* mov.b32 %r, {%lo, %hi}; mov.b64 {%lo, %hi}, %rd */
static void move_value(const Block *b, Thread *t, const Ins *i) {
  const int bits = bits_of(last(i->op));
  if (i->n == 2) {
    t->regs[i->at[0].index] = value(b, t, &i->at[1]);
    return;
  }
  const int parts = i->n - 1, each = bits / parts;
  if (!i->unpacks) {
    uint64_t v = 0;
    for (int k = 0; k < parts; k++) v |= cut(value(b, t, &i->at[1 + k]), each) << (each * k);
    t->regs[i->at[0].index] = v;
  } else {
    const uint64_t v = value(b, t, &i->at[parts]);
    for (int k = 0; k < parts; k++) t->regs[i->at[k].index] = cut(v >> (each * k), each);
  }
}

/* atom.global.add.u32 %r, [at], %x; red... without %r; atom...cas.b32 %r, [at], compare, %x */
static void update_memory(const Block *b, Thread *t, const Ins *i) {
  const char *type = last(i->op);
  const int first = *i->op == 'a', bits = bits_of(type);
  char *at = (char *)(uintptr_t)address(b, t, &i->at[first]);
  uint64_t x[2] = {0, value(b, t, &i->at[first + 1])}, now;
  memcpy(&x[0], at, (size_t)bits / 8);
  const uint64_t was = x[0];
  if (has(i->op, "cas"))
    now = cut(was, bits) == cut(x[1], bits) ? value(b, t, &i->at[first + 2]) : was;
  else if (*type == 'f')
    now = float_arith("add", type, 2, x);
  else {
    static const char *const ops[] = {"add", "min", "max", "and", "or", NULL};
    int k = 0;
    while (ops[k + 1] && !has(i->op, ops[k])) k++;
    now = int_arith(ops[k], type, 2, x);
  }
  memcpy(at, &now, (size_t)bits / 8);
  if (first) t->regs[i->at[0].index] = was;
}

static void step(const Block *b, Thread *t, const Ins *i) {
  const char *op = i->op;
  uint64_t x[MOST_OPERANDS];
  if (strncmp(op, "ld.", 3) == 0 || strncmp(op, "st.", 3) == 0) {
    move_memory(b, t, i, *op == 'l');
    return;
  }
  if (strncmp(op, "atom", 4) == 0 || strncmp(op, "red", 3) == 0) {
    update_memory(b, t, i);
    return;
  }
  if (strncmp(op, "mov", 3) == 0) {
    move_value(b, t, i);
    return;
  }
  for (int k = 1; k < i->n; k++) x[k - 1] = value(b, t, &i->at[k]);
  uint64_t *r = &t->regs[i->at[0].index];
  const char *type = strchr(op, '.') ? last(op) : "";
  if (strncmp(op, "cvta", 4) == 0)
    *r = x[0];
  else if (strncmp(op, "cvt", 3) == 0)
    *r = convert(op, x[0]);
  else if (strncmp(op, "setp", 4) == 0)
    *r = compares(op, type, x[0], x[1]);
  else if (strncmp(op, "selp", 4) == 0)
    *r = x[2] & 1 ? x[0] : x[1];
  else if (strncmp(op, "activemask", 10) == 0)
    *r = UINT32_MAX;
  else if (strncmp(op, "bfi", 3) == 0) {
    const int from = (int)(x[2] & 255), len = (int)(x[3] & 255), bits = bits_of(type);
    const uint64_t mask = cut(cut(~UINT64_C(0), len) << from, bits);
    *r = (x[1] & ~mask) | (x[0] << from & mask);
  } else if (strcmp(type, "f16x2") == 0) {
    uint64_t low[3], high[3];
    for (int k = 0; k < 3 && k < i->n - 1; k++) low[k] = x[k] & 65535, high[k] = x[k] >> 16 & 65535;
    *r = float_arith(op, "f16", i->n - 1, low) | float_arith(op, "f16", i->n - 1, high) << 16;
  } else if (*type == 'f')
    *r = float_arith(op, type, i->n - 1, x);
  else
    *r = int_arith(op, type, i->n - 1, x);
}

static void run_thread(const Block *b, Thread *t) {
  while (t->state == RUNS) {
    if (t->at >= b->k->n_ins) {
      t->state = DONE;
      return;
    }
    const Ins *i = &b->k->ins[t->at];
    const bool runs = i->guard < 0 || (t->regs[i->guard] & 1) != i->negated;
    if (!runs || strcmp(i->op, "label") == 0)
      t->at++;
    else if (strncmp(i->op, "bra", 3) == 0)
      t->at = i->target;
    else if (strncmp(i->op, "ret", 3) == 0)
      t->state = DONE;
    else if (strncmp(i->op, "bar.warp", 8) == 0)
      t->at++;
    else if (strncmp(i->op, "bar", 3) == 0)
      t->state = AT_BARRIER, t->at++;
    else if (strncmp(i->op, "shfl", 4) == 0)
      t->state = AT_SHUFFLE;
    else
      step(b, t, i), t->at++;
  }
}

/* shfl.sync.down.b32 %r, %value, %lane, %clamp, %mask, by all threads of a warp that are there. */
static bool shuffle(const Block *b, Thread *warp, int n) {
  uint64_t got[WARP];
  for (int k = 0; k < n; k++) {
    if (warp[k].state != AT_SHUFFLE) return false;
    const Ins *i = &b->k->ins[warp[k].at];
    const int lane = (int)value(b, &warp[k], &i->at[2]) & 31,
              c = (int)value(b, &warp[k], &i->at[3]);
    const int segment = c >> 8 & 31, most = c & 31, first = k & segment;
    const int end = (k & segment) | (most & ~segment);
    int from = has(i->op, "up")     ? k - lane
               : has(i->op, "down") ? k + lane
                                    : first | (lane & ~segment);
    const bool inside = has(i->op, "up") ? from >= end : from <= end;
    if (!inside || from >= n || from < 0) from = k;
    got[k] = value(b, &warp[from], &b->k->ins[warp[from].at].at[1]);
  }
  for (int k = 0; k < n; k++) {
    warp[k].regs[b->k->ins[warp[k].at].at[0].index] = got[k];
    warp[k].at++;
    warp[k].state = RUNS;
  }
  return true;
}

static bool run_block(const Block *b, Thread *threads, int n) {
  for (;;) {
    int done = 0, waiting = 0;
    bool moved = false;
    for (int i = 0; i < n; i++) run_thread(b, &threads[i]);
    for (int w = 0; w < n; w += WARP)
      moved = shuffle(b, threads + w, n - w < WARP ? n - w : WARP) || moved;
    for (int i = 0; i < n; i++) {
      done += threads[i].state == DONE;
      waiting += threads[i].state == AT_BARRIER;
    }
    if (done == n) return true;
    if (!moved && waiting == n) {
      for (int i = 0; i < n; i++) threads[i].state = RUNS;
    } else if (!moved) {
      return false;
    }
  }
}

/* --- the driver ------------------------------------------------------------------------------ */

#define API __attribute__((visibility("default"))) int
static uint64_t used;

API cuInit(unsigned flags) { return logged("cuInit"), flags ? INVALID_VALUE : OK; }
API cuDriverGetVersion(int *v) { return *v = 12040, OK; }
API cuGetErrorName(int e, const char **s) {
  *s = e == INVALID_PTX     ? "CUDA_ERROR_INVALID_PTX"
       : e == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
       : e == NOT_FOUND     ? "CUDA_ERROR_NOT_FOUND"
       : e == LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED"
                            : "CUDA_ERROR_INVALID_VALUE";
  return OK;
}
API cuGetErrorString(int e, const char **s) {
  *s = e == INVALID_PTX ? "a PTX JIT compilation failed" : "as its name says";
  return OK;
}
API cuDeviceGetCount(int *n) {
  const char *s = getenv("FAKE_CUDA_DEVICES");
  return *n = s ? atoi(s) : 1, OK;
}
API cuDeviceGet(int *d, int i) { return *d = i, OK; }
API cuDeviceGetName(char *s, int n, int d) {
  (void)d;
  return snprintf(s, (size_t)n, "Fake GPU"), OK;
}
API cuDeviceTotalMem_v2(size_t *n, int d) { return (void)d, *n = MEMORY, OK; }
API cuDeviceGetAttribute(int *v, int which, int d) {
  (void)d;
  *v = which == 1    ? 1024
       : which == 16 ? 2
       : which == 75 ? 8
       : which == 76 ? 0
       : which == 97 ? MOST_SHARED
                     : 0;
  return OK;
}
API cuDevicePrimaryCtxRetain(void **c, int d) { return (void)d, *c = &used, OK; }
API cuDevicePrimaryCtxRelease_v2(int d) { return (void)d, logged("cuDevicePrimaryCtxRelease"), OK; }
API cuCtxSetCurrent(void *c) { return c ? OK : INVALID_VALUE; }
API cuCtxSynchronize(void) {
  logged("cuCtxSynchronize");
  while (getenv("FAKE_CUDA_HANGS")) sleep(1000);
  return OK;
}

API cuModuleLoadDataEx(Module **to, const void *image, unsigned n, int *options, void **values) {
  Module *m = calloc(1, sizeof *m);
  m->text = strdup(image);
  const bool refuses = getenv("FAKE_CUDA_REFUSES") != NULL;
  *problem = 0;
  const bool good = !refuses && read_module(m);
  logged("cuModuleLoadDataEx %d kernels", m->n_kernels);
  if (good) return *to = m, OK;
  for (unsigned i = 0; i < n; i++)
    if (options[i] == 5)
      snprintf(values[i], 200, "ptxas error: %.150s", refuses ? "it refuses all" : problem);
  free(m->text);
  free(m);
  return INVALID_PTX;
}
API cuModuleUnload(Module *m) {
  for (int i = 0; i < m->n_kernels; i++)
    free(m->kernels[i].regs), free(m->kernels[i].ins), free(m->kernels[i].symbols);
  free(m->text);
  free(m);
  return logged("cuModuleUnload"), OK;
}

typedef struct Function {
  Module *m;
  Kernel *k;
} Function;

API cuModuleGetFunction(Function **to, Module *m, const char *name) {
  static Function functions[4096];
  static int n;
  for (int i = 0; i < m->n_kernels; i++)
    if (strcmp(m->kernels[i].name, name) == 0) {
      functions[n % 4096] = (Function){m, &m->kernels[i]};
      return *to = &functions[n++ % 4096], OK;
    }
  return NOT_FOUND;
}
API cuFuncGetAttribute(int *v, int which, Function *f) {
  return (void)which, (void)f, *v = 1024, OK;
}
API cuFuncSetAttribute(Function *f, int which, int v) {
  logged("cuFuncSetAttribute %s %d %d", f->k->name, which, v);
  if (v > MOST_SHARED) return INVALID_VALUE;
  return f->k->attribute_dynamic = v, OK;
}
API cuMemAlloc_v2(uint64_t *to, size_t n) {
  if (used + n > MEMORY) return OUT_OF_MEMORY;
  size_t *p = aligned_alloc(256, (n + 511) / 256 * 256);
  logged("cuMemAlloc %zu", n);
  return *to = (uint64_t)(uintptr_t)p, OK;
}
API cuMemFree_v2(uint64_t p) { return free((void *)(uintptr_t)p), logged("cuMemFree"), OK; }
API cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n) {
  logged("cuMemcpyHtoD %zu", n);
  return memcpy((void *)(uintptr_t)to, from, n), OK;
}
API cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n) {
  logged("cuMemcpyDtoH %zu", n);
  return memcpy(to, (const void *)(uintptr_t)from, n), OK;
}
API cuEventCreate(double **e, unsigned flags) {
  return (void)flags, *e = calloc(1, sizeof **e), OK;
}
API cuEventDestroy_v2(double *e) { return free(e), OK; }
API cuEventRecord(double *e, void *stream) {
  struct timespec t;
  (void)stream;
  clock_gettime(CLOCK_MONOTONIC, &t);
  logged("cuEventRecord");
  return *e = (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6, OK;
}
API cuEventElapsedTime(float *ms, const double *from, const double *to) {
  return *ms = (float)(*to - *from), OK;
}

static void place_symbols(Block *b, size_t *shared, size_t *local) {
  const int n = b->k->n_symbols, all = n + b->m->n_globals;
  *shared = *local = 0;
  for (int i = 0; i < all; i++) {
    const Symbol *s = i < n ? &b->k->symbols[i] : &b->m->globals[i - n];
    size_t *sum = s->space == 'l' ? local : shared;
    b->shared_at[i] = *sum;
    if (s->space != 'd') *sum += (s->bytes + 15) / 16 * 16;
  }
}

API cuLaunchKernel(Function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned dynamic, void *stream, void **args, void **extra) {
  const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
  const int n = (int)(bx * by * bz);
  size_t shared, local;
  (void)stream, (void)extra;
  logged("cuLaunchKernel %s grid %u %u %u block %u %u %u shared %u", f->k->name, gx, gy, gz, bx, by,
         bz, dynamic);
  if (n > 1024 || !n || !gx || !gy || !gz) return INVALID_VALUE;
  if (dynamic > 49152 && (int)dynamic > f->k->attribute_dynamic) return INVALID_VALUE;
  Block b = {.m = f->m, .k = f->k, .params = args};
  b.shared_at = calloc((size_t)(f->k->n_symbols + f->m->n_globals + 1), sizeof *b.shared_at);
  place_symbols(&b, &shared, &local);
  b.shared = aligned_alloc(16, shared + 16);
  b.dynamic = aligned_alloc(16, (dynamic + 31) / 16 * 16);
  Thread *threads = calloc((size_t)n, sizeof *threads);
  const size_t regs = (size_t)f->k->n_regs + 1;
  uint64_t *values = calloc((size_t)n * regs, sizeof *values);
  char *locals = aligned_alloc(16, (size_t)n * (local + 16));
  bool good = true;
  for (unsigned g = 0; good && g < gx * gy * gz; g++) {
    memset(b.shared, 0xa5, shared);
    memset(b.dynamic, 0xa5, dynamic);
    for (int i = 0; i < n; i++) {
      const unsigned u = (unsigned)i;
      threads[i] = (Thread){values + (size_t)i * regs,
                            locals + (size_t)i * (local + 16),
                            0,
                            RUNS,
                            {u % bx, u / bx % by, u / bx / by, g % gx, g / gx % gy, g / gx / gy,
                             block[0], block[1], block[2], grid[0], grid[1], grid[2]}};
    }
    good = run_block(&b, threads, n);
  }
  free(locals), free(values), free(threads), free(b.shared), free(b.dynamic), free(b.shared_at);
  return good ? OK : LAUNCH_FAILED;
}

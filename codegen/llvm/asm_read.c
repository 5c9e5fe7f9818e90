/* Reads LLVM's commented assembly. Each basic block says in a comment which loop it is in:
 *   .LBB0_2:   # =>This Inner Loop Header: Depth=2        it starts a loop
 *   # %bb.3:   #   in Loop: Header=BB0_2 Depth=2          it is in that one
 * and .loc directives say which loop of the program (the line is its number) an instruction was
 * made for. LLVM moves instructions out of loops, so a loop of the code goes to the mark of most of
 * its instructions that do no address arithmetic. */
#include "asm_code.h"
#include "ir/ascii.h"

#include <stdlib.h>
#include <string.h>

typedef struct Reader {
  Tirc *c;
  AsmCode *code;
  const char *func; /* NULL outside of functions */
  int outside;      /* the loop record of what is in no loop of func */
  int loop;         /* of the block being read */
  bool fresh;       /* no instruction of the block was read yet: comments may still say its loop */
  int line;         /* of the last .loc */
  bool skip;        /* inside of a section that only serves debuggers */
  VEC(int) votes;   /* loop * n_marks + mark */
} Reader;

static int n_marks(const Reader *r) { return r->code->marks.list.n; }

static int new_loop(Reader *r, const char *label, int depth) {
  vec_push(r->c, r->code->loops,
           ((AsmLoop){.func = r->func, .label = label, .depth = depth, .innermost = depth > 0}));
  for (int i = 0; i < n_marks(r); i++) vec_push(r->c, r->votes, 0);
  return r->code->loops.n - 1;
}

static int find_loop(Reader *r, const char *label, int depth) {
  for (int i = r->code->loops.n - 1; i >= 0; i--) {
    AsmLoop *l = &r->code->loops.at[i];
    if (l->func == r->func && l->label && strcmp(l->label, label) == 0) {
      l->depth = depth;
      return i;
    }
  }
  return new_loop(r, label, depth);
}

/* "BB0_2" of "... Header=BB0_2 Depth=1" or of the label ".LBB0_2:". */
static const char *block_name(Reader *r, const char *at) {
  const char *p = strstr(at, "BB");
  return p ? tirc_strndup(r->c, p, 2 + strspn(p + 2, "0123456789_")) : "";
}

static int depth_in(const char *comment) {
  const char *p = strstr(comment, "Depth=");
  return p ? atoi(p + 6) : 0;
}

/* A comment at the start of a block. `label` is the block's. */
static void place_block(Reader *r, const char *label, const char *comment) {
  const char *in = strstr(comment, "in Loop: Header=");
  if (strstr(comment, "Loop Header: Depth=")) {
    r->loop = find_loop(r, block_name(r, label), depth_in(strstr(comment, "Loop Header")));
    r->code->loops.at[r->loop].innermost = strstr(comment, "Inner Loop") != NULL;
  } else if (in) {
    r->loop = find_loop(r, block_name(r, in), depth_in(in));
  }
}

static void add_line(Reader *r, const char *text, bool is_instruction) {
  vec_push(r->c, r->code->lines, ((AsmLine){text, r->func ? r->loop : -1, is_instruction}));
}

static void start_function(Reader *r, const char *name) {
  r->func = name;
  r->outside = r->loop = new_loop(r, NULL, 0);
  r->line = 0;
}

static void count(Reader *r, const char *text, const char *comment) {
  AsmInstruction i = tirc_asm_classify(r->code->cpu->arch, text, comment);
  AsmLoop *l = &r->code->loops.at[r->loop];
  l->instructions++;
  l->counts[i.kind]++;
  if (i.loads) l->counts[ASM_LOAD]++;
  if (i.vector_bits > l->vector_bits) l->vector_bits = i.vector_bits;
  bool votes = i.kind != ASM_INTEGER && i.kind != ASM_MOVE && i.kind != ASM_BRANCH;
  if (r->line < n_marks(r)) r->votes.at[r->loop * n_marks(r) + r->line] += votes ? 100 : 1;
}

static bool starts(const char *s, const char *prefix) {
  return strncmp(s, prefix, strlen(prefix)) == 0;
}

static void directive(Reader *r, const char *line, const char *text) {
  static const char *const dropped[] = {".loc",   ".file",    ".cfi",        ".size",
                                        ".ident", ".addrsig", ".subsections"};
  if (starts(text, ".section")) r->skip = strstr(text, "debug") || strstr(text, "GNU-stack");
  if (starts(text, ".text")) r->skip = false;
  if (starts(text, ".loc\t") || starts(text, ".loc ")) {
    char *end;
    strtol(text + 5, &end, 10);
    r->line = (int)strtol(end, NULL, 10);
  }
  for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
    if (starts(text, dropped[i])) return;
  if (!r->skip) add_line(r, line, false);
}

/* A label: of a function, of a block, of something else. */
static void label(Reader *r, const char *name, const char *comment) {
  bool is_local = starts(name, ".L") || (r->code->cpu->arch == CPU_APPLE && *name == 'L') ||
                  starts(name, "ltmp");
  bool is_block = is_local && strstr(name, "BB") != NULL;
  if (strstr(name, "func_end")) r->func = NULL;
  if (strstr(name, "Lfunc_") || strstr(name, "Ltmp") || starts(name, "ltmp")) return;
  if (is_block) {
    r->loop = r->outside;
    r->fresh = true;
    place_block(r, name, comment);
  } else if (!is_local && !r->skip) {
    start_function(r, tirc_strndup(r->c, name, strcspn(name, ":")));
  }
  if (!r->skip) add_line(r, name, false);
}

static void read_line(Reader *r, const char *line, const char **block) {
  const char *text = line + strspn(line, " \t");
  const char *sign = strstr(text, r->code->comment);
  const char *comment = sign ? sign : "";
  size_t n = sign ? (size_t)(sign - text) : strlen(text);
  while (n > 0 && tirc_is_space(text[n - 1])) n--;
  char *code = tirc_strndup(r->c, text, n);
  if (n == 0) { /* a comment alone: the start of a block that nothing jumps to, or more about one */
    if (strstr(comment, "%bb.")) {
      r->loop = r->outside;
      r->fresh = true;
      *block = "";
    }
    if (r->func && r->fresh) {
      place_block(r, *block, comment);
      AsmLine *last = &r->code->lines.at[r->code->lines.n - 1];
      if (**block && !last->is_instruction) last->loop = r->loop; /* the block's label */
    }
  } else if (*line != ' ' && *line != '\t') {
    label(r, code, comment);
    *block = code;
  } else if (*code == '.') {
    directive(r, line, code);
  } else if (r->func && !r->skip) {
    count(r, code, comment);
    add_line(r, line, true);
    r->fresh = false;
  } else if (!r->skip) {
    add_line(r, line, false);
  }
}

static void settle_marks(Reader *r) {
  for (int i = 0; i < r->code->loops.n; i++) {
    AsmLoop *l = &r->code->loops.at[i];
    if (l->depth == 0) continue;
    int best = 0, most = 0;
    for (int m = 1; m < n_marks(r); m++)
      if (r->votes.at[i * n_marks(r) + m] > most) most = r->votes.at[i * n_marks(r) + (best = m)];
    l->mark = best;
  }
}

void tirc_asm_read(Tirc *c, AsmCode *code, const char *text, size_t n) {
  Reader r = {.c = c, .code = code};
  const char *block = "";
  for (const char *p = text, *end = text + n; p < end;) {
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    if (!stop) stop = end;
    read_line(&r, tirc_strndup(c, p, (size_t)(stop - p)), &block);
    p = stop + 1;
  }
  settle_marks(&r);
}

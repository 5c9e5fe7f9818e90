/* Products of tiles (ir/tree/amx.h) by x86's AMX. LLVM chooses the tiles and configures them; k is
 * in steps of 64 bytes of a row of A, over which C stays in its tile. */
#include "ir/tree/amx.h"
#include "gen.h"

static LLVMValueRef call(Gen *g, const char *name, unsigned n, LLVMValueRef *args) {
  const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef fn = LLVMGetIntrinsicDeclaration(g->module, id, NULL, 0);
  return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(fn), fn, args, n, "");
}

static LLVMValueRef words(Gen *g, int n) { return tirc_gen_int(g, tirc_gen_int_type(g, 16, 1), n); }

static LLVMValueRef further(Gen *g, LLVMValueRef at, LLVMValueRef bytes) {
  return LLVMBuildGEP2(g->b, tirc_gen_int_type(g, 8, 1), at, &bytes, 1, "");
}

static LLVMValueRef load(Gen *g, int rows, int bytes, LLVMValueRef at, LLVMValueRef stride) {
  return call(g, "llvm.x86.tileloadd64.internal", 4,
              (LLVMValueRef[]){words(g, rows), words(g, bytes), at, stride});
}

/* What a product's tiles are: bytes of a row, and from one row to the next. */
typedef struct Tiles {
  Gen *g;
  int m, columns; /* rows of C, and bytes of its rows */
  LLVMValueRef p[6];
  LLVMValueRef sums[AMX_SIDE][AMX_SIDE];
} Tiles;

static int bytes_of(const Tiles *t, int j) { return 4 * tirc_amx_rows(t->columns / 4, j); }

/* A tile of C. */
static LLVMValueRef place_of(Tiles *t, int i, int j) {
  LLVMTypeRef i64 = tirc_gen_int_type(t->g, 64, 1);
  LLVMValueRef rows = LLVMBuildMul(t->g->b, t->p[1], tirc_gen_int(t->g, i64, i * AMX_ROWS), "");
  return further(t->g, further(t->g, t->p[0], rows), tirc_gen_int(t->g, i64, j * AMX_ROW_BYTES));
}

/* The step from byte `at` of a row of A on: what the tiles of a row, or of a column, share is read
 * once. */
static void write_step(Tiles *t, const char *name, int at, int bytes) {
  Gen *g = t->g;
  LLVMTypeRef i64 = tirc_gen_int_type(g, 64, 1);
  LLVMValueRef a[AMX_SIDE], b[AMX_SIDE];
  const int rows = tirc_amx_tiles(t->m), columns = tirc_amx_tiles(t->columns / 4);
  for (int i = 0; i < rows; i++) {
    LLVMValueRef row = LLVMBuildMul(g->b, t->p[3], tirc_gen_int(g, i64, i * AMX_ROWS), "");
    LLVMValueRef from = further(g, further(g, t->p[2], row), tirc_gen_int(g, i64, at));
    a[i] = load(g, tirc_amx_rows(t->m, i), bytes, from, t->p[3]);
  }
  LLVMValueRef row = LLVMBuildMul(g->b, t->p[5], tirc_gen_int(g, i64, at / 4), "");
  for (int j = 0; j < columns; j++)
    b[j] = load(g, bytes / 4, bytes_of(t, j),
                further(g, further(g, t->p[4], row), tirc_gen_int(g, i64, j * AMX_ROW_BYTES)),
                t->p[5]);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++)
      t->sums[i][j] =
          call(g, name, 6,
               (LLVMValueRef[]){words(g, tirc_amx_rows(t->m, i)), words(g, bytes_of(t, j)),
                                words(g, bytes), t->sums[i][j], a[i], b[j]});
}

/* The product of three places, each with the bytes from one of its rows to the next. */
static void write_product(Gen *g, const Amx *x, LLVMValueRef fn) {
  Tiles t = {.g = g, .m = x->m, .columns = 4 * x->n};
  LLVMGetParams(fn, t.p);
  const int all = x->k * x->a.bytes, rows = tirc_amx_tiles(x->m), columns = tirc_amx_tiles(x->n);
  const char *name = tirc_format(g->c, "llvm.x86.%s.internal", x->name);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++)
      t.sums[i][j] = load(g, tirc_amx_rows(x->m, i), bytes_of(&t, j), place_of(&t, i, j), t.p[1]);
  for (int at = 0; at < all; at += AMX_ROW_BYTES)
    write_step(&t, name, at, all - at < AMX_ROW_BYTES ? all - at : AMX_ROW_BYTES);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++)
      call(g, "llvm.x86.tilestored64.internal", 5,
           (LLVMValueRef[]){words(g, tirc_amx_rows(x->m, i)), words(g, bytes_of(&t, j)),
                            place_of(&t, i, j), t.p[1], t.sums[i][j]});
  LLVMBuildRetVoid(g->b);
}

/* A function of its own: LLVM configures and releases tiles where a function begins and ends, and
 * one that asks for permission must touch none before. */
static LLVMValueRef function_of(Gen *g, const Amx *x, LLVMTypeRef type) {
  const char *name = tirc_format(g->c, "tirc_%s_%dx%dx%d", x->name, x->m, x->n, x->k);
  LLVMValueRef fn = LLVMGetNamedFunction(g->module, name);
  if (fn) return fn;
  fn = LLVMAddFunction(g->module, name, type);
  LLVMSetLinkage(fn, LLVMInternalLinkage);
  tirc_gen_attribute(g, fn, ON_FUNCTION, "noinline");
  tirc_gen_attribute(g, fn, ON_FUNCTION, "nounwind");
  LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
  LLVMMetadataRef mark = LLVMGetCurrentDebugLocation2(g->b);
  LLVMSetCurrentDebugLocation2(g->b, NULL);
  LLVMPositionBuilderAtEnd(g->b, LLVMAppendBasicBlockInContext(g->context, fn, ""));
  write_product(g, x, fn);
  LLVMPositionBuilderAtEnd(g->b, here);
  LLVMSetCurrentDebugLocation2(g->b, mark);
  return fn;
}

void tirc_gen_amx(Gen *g, Stmt s) {
  const Amx x = tirc_amx_of(g->c, s);
  const Cpu *cpu = g->target->cpu;
  if (!tirc_cpu_has(cpu, x.feature))
    tirc_fail(
        g->c, g->loc, CODE_CODEGEN,
        tirc_format(g->c,
                    "choose a --target that has it: %s; --emit=c writes loops for other targets",
                    tirc_cpus_with(g->c, x.feature, NULL)),
        "\"%s\" needs %s, which %s does not have", x.name, x.feature, cpu->name);
  LLVMTypeRef p = LLVMPointerTypeInContext(g->context, 0), i64 = tirc_gen_int_type(g, 64, 1);
  LLVMTypeRef types[6] = {p, i64, p, i64, p, i64};
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(g->context), types, 6, false);
  const AmxPlace places[3] = {x.c, x.a, x.b};
  LLVMValueRef args[6];
  for (int i = 0; i < 3; i++) {
    LLVMValueRef rows = tirc_gen_index_expr(g, places[i].stride);
    args[2 * i] = tirc_gen_address(g, places[i].first);
    args[2 * i + 1] = LLVMBuildMul(g->b, rows, tirc_gen_int(g, i64, places[i].bytes), "");
  }
  LLVMBuildCall2(g->b, type, function_of(g, &x, type), args, 6, "");
  tirc_marks_store(g, x.c.first->u.buffer);
}

/* arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) of Linux: asked once, it holds for the
 * process. */
LLVMValueRef tirc_gen_amx_permitted(Gen *g) {
  static const char line[] = "syscall",
                    constraints[] = "={rax},{rax},{rdi},{rsi},~{rcx},~{r11},~{memory}";
  enum { ARCH_PRCTL = 158, REQUEST = 0x1023, TILES = 18 };
  LLVMTypeRef i64 = tirc_gen_int_type(g, 64, 1), types[3] = {i64, i64, i64};
  LLVMValueRef args[3] = {tirc_gen_int(g, i64, ARCH_PRCTL), tirc_gen_int(g, i64, REQUEST),
                          tirc_gen_int(g, i64, TILES)};
  if (g->target->cpu->arch != CPU_X86_64) return tirc_gen_int(g, tirc_gen_int_type(g, 1, 1), 1);
  LLVMTypeRef fn = LLVMFunctionType(i64, types, 3, false);
  LLVMValueRef f = LLVMGetInlineAsm(fn, line, sizeof line - 1, constraints, sizeof constraints - 1,
                                    true, false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef r = LLVMBuildCall2(g->b, fn, f, args, 3, "");
  return LLVMBuildICmp(g->b, LLVMIntEQ, r, tirc_gen_int(g, i64, 0), "");
}

/* Kernels for NVIDIA's GPUs, as PTX: a function whose threads are special registers. Expressions
 * and statements are those of processors. Memory of a block is a global in LLVM's address space 3,
 * and the program's arrays are addresses in space 1. */
#include "codegen/dot.h"
#include "codegen/signature.h"
#include "codegen/wmma.h"
#include "gen.h"
#include "ir/tree/annotations.h"

#include <stdlib.h>

enum {
  GLOBAL_SPACE = 1,
  SHARED_SPACE = 3,
  PTX_KERNEL = 71 /* LLVM's CallingConv */
};

/* --- the target ------------------------------------------------------------------------------ */

/* PTX of a version that has what kernels use: shuffles that name their threads came with 6.0, masks
 * of active threads with 6.2. */
static const char *ptx_version(const char *arch) {
  const int number = (int)strtol(arch + strlen("sm_"), NULL, 10);
  return number < 75 ? "+ptx63" : "";
}

Target *tirc_gpu_target(Tirc *c, const Gpu *gpu) {
  static const char triple[] = "nvptx64-nvidia-cuda";
  LLVMTargetRef target;
  char *error = NULL;
  if (gpu->kind != GPU_CUDA || strncmp(gpu->arch, "sm_", 3) != 0)
    tirc_fail(c, (Loc){0}, CODE_TARGET,
              "choose one such as sm_75, sm_80 or sm_90; --target=help lists all",
              "LLVM cannot make PTX for the architecture %s", gpu->arch);
  tirc_targets_ready(c);
  Target *t = tirc_new(c, Target);
  Cpu *cpu = tirc_new(c, Cpu);
  *cpu = (Cpu){.name = gpu->name, .arch = CPU_AARCH64, .llvm_name = gpu->arch, .features = ""};
  *t = (Target){.cpu = cpu,
                .triple = triple,
                .features = ptx_version(gpu->arch),
                .f16c = true,
                .is_gpu = true};
  if (LLVMGetTargetFromTriple(triple, &target, &error)) {
    const char *words = tirc_strdup(c, error);
    LLVMDisposeMessage(error);
    tirc_fail(c, (Loc){0}, CODE_TARGET, NULL, "this LLVM cannot make PTX: %s", words);
  }
  t->machine = LLVMCreateTargetMachine(target, triple, cpu->llvm_name, t->features,
                                       LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelDefault);
  if (!t->machine)
    tirc_fail(c, (Loc){0}, CODE_TARGET, NULL, "LLVM cannot make PTX for the architecture %s",
              gpu->arch);
  LLVMTargetDataRef data = LLVMCreateTargetDataLayout(t->machine);
  char *layout = LLVMCopyStringRepOfTargetData(data);
  t->layout = tirc_strdup(c, layout);
  LLVMDisposeMessage(layout);
  LLVMDisposeTargetData(data);
  return t;
}

/* --- a kernel -------------------------------------------------------------------------------- */

static LLVMTypeRef param_type(Gen *g, const Param *p) {
  if (p->buffer) return LLVMPointerTypeInContext(g->context, 0);
  const DType t = p->var->dtype;
  return tirc_gen_is_small_float(t) ? tirc_gen_float_type(g, 32, 1) : tirc_gen_memory_type(g, t);
}

static void bind_array(Gen *g, const Param *p, LLVMValueRef fn, unsigned i) {
  static const char *const facts[] = {"nocapture", "noalias", "readonly"};
  const bool holds[] = {true, p->is_apart, !p->is_written};
  for (size_t k = 0; k < sizeof facts / sizeof *facts; k++)
    if (holds[k]) tirc_gen_attribute(g, fn, i + 1, facts[k]);
  LLVMTypeRef global = LLVMPointerTypeInContext(g->context, GLOBAL_SPACE);
  LLVMValueRef v = LLVMGetParam(fn, i);
  LLVMSetParamAlignment(v, GPU_ALIGNMENT);
  tirc_map_set(g->c, &g->f.vars, p->buffer->data, LLVMBuildAddrSpaceCast(g->b, v, global, ""));
}

static void bind_scalar(Gen *g, const Param *p, LLVMValueRef v) {
  const DType t = p->var->dtype;
  if (t.code == TYPE_BOOL) v = LLVMBuildICmp(g->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
  if (tirc_gen_is_small_float(t)) v = tirc_gen_narrow(g, v, t);
  tirc_map_set(g->c, &g->f.vars, p->var, v);
}

typedef struct Threads {
  int64_t n[3];
  bool known;
  int64_t blocks; /* at the same time on a multiprocessor; 0: nothing is asked */
} Threads;

static bool find_axis(Visitor *v, Stmt s) {
  Threads *t = v->self;
  if (s->kind == STMT_FOR && tirc_is_thread_axis(s->u.loop.axis) &&
      !tirc_const_int(s->u.loop.extent, &t->n[s->u.loop.axis - AXIS_THREAD_X]))
    t->known = false;
  if (s->kind == STMT_FOR) tirc_gpu_blocks_at_once(&s->u.loop, &t->blocks);
  return true;
}

/* !nvvm.annotations: how many threads a block has, where it is known. */
static void annotate(Gen *g, LLVMValueRef fn, const char *what, int64_t n) {
  LLVMMetadataRef row[3] = {
      LLVMValueAsMetadata(fn),
      LLVMMDStringInContext2(g->context, what, strlen(what)),
      LLVMValueAsMetadata(tirc_gen_int(g, tirc_gen_int_type(g, 32, 1), n)),
  };
  LLVMMetadataRef node = LLVMMDNodeInContext2(g->context, row, 3);
  LLVMAddNamedMetadataOperand(g->module, "nvvm.annotations", LLVMMetadataAsValue(g->context, node));
}

static void annotate_threads(Gen *g, const Func *f, LLVMValueRef fn) {
  static const char *const names[3] = {"maxntidx", "maxntidy", "maxntidz"};
  Threads t = {{1, 1, 1}, true, 0};
  tirc_visit_stmts(f->body, find_axis, &t);
  annotate(g, fn, "kernel", 1);
  for (int i = 0; t.known && i < 3; i++) annotate(g, fn, names[i], t.n[i]);
  if (t.known && t.blocks) annotate(g, fn, "minctasm", t.blocks);
}

void tirc_gen_kernel(Gen *g, const Func *f, const char *symbol) {
  Signature s = tirc_signature(g->c, f);
  LLVMTypeRef *types = tirc_new_array(g->c, LLVMTypeRef, s.n + 1);
  Frame outer;
  g->func = f;
  g->symbol = symbol;
  g->loc = f->loc;
  g->restrict_data = s.restrict_data;
  if (s.n != f->n_params)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL,
              "the kernel %s uses %s, which is not one of its parameters", symbol,
              s.params[f->n_params].var->u.s);
  for (int i = 0; i < s.n; i++) types[i] = param_type(g, &s.params[i]);
  LLVMTypeRef none = LLVMVoidTypeInContext(g->context);
  LLVMValueRef fn =
      LLVMAddFunction(g->module, symbol, LLVMFunctionType(none, types, (unsigned)s.n, false));
  LLVMSetFunctionCallConv(fn, PTX_KERNEL);
  tirc_gen_begin(g, fn, &outer);
  g->f.in_parallel = true; /* a thread starts no others */
  for (int i = 0; i < s.n; i++) {
    if (s.params[i].buffer)
      bind_array(g, &s.params[i], fn, (unsigned)i);
    else
      bind_scalar(g, &s.params[i], LLVMGetParam(fn, (unsigned)i));
  }
  annotate_threads(g, f, fn);
  g->f.fragments = tirc_wmma_fragments(g->c, f->body);
  tirc_gen_stmt(g, f->body);
  LLVMBuildRetVoid(g->b);
  tirc_gen_end(g, &outer);
}

/* --- memory of a block ----------------------------------------------------------------------- */

static LLVMValueRef global_in_block(Gen *g, LLVMTypeRef t, const char *name) {
  LLVMValueRef p = LLVMAddGlobalInAddressSpace(g->module, t, name, SHARED_SPACE);
  LLVMSetAlignment(p, GPU_ALIGNMENT);
  return p;
}

/* A part of the one array whose size the launch says. */
static LLVMValueRef dynamic(Gen *g, int64_t bytes) {
  static const char name[] = "tirc_shared";
  LLVMTypeRef i8 = tirc_gen_int_type(g, 8, 1);
  LLVMValueRef p = LLVMGetNamedGlobal(g->module, name);
  if (!p) p = global_in_block(g, LLVMArrayType2(i8, 0), name);
  LLVMValueRef at = tirc_gen_int(g, tirc_gen_int_type(g, 64, 1), g->f.dynamic_bytes);
  g->f.dynamic_bytes += tirc_gpu_end_behind(bytes, 0);
  return LLVMBuildInBoundsGEP2(g->b, i8, p, &at, 1, "");
}

LLVMValueRef tirc_gen_shared(Gen *g, Buffer b, int64_t bytes) {
  const DType one = tirc_dtype_lanes(b->dtype, 1);
  const int64_t count = bytes / tirc_dtype_bytes(one);
  if (b->storage == STORAGE_SHARED_DYN) return dynamic(g, bytes);
  LLVMTypeRef t = LLVMArrayType2(tirc_gen_memory_type(g, one), (uint64_t)(count > 0 ? count : 1));
  LLVMValueRef p = global_in_block(g, t, tirc_format(g->c, "%s_%s", g->symbol, b->name));
  LLVMSetLinkage(p, LLVMInternalLinkage);
  LLVMSetInitializer(p, LLVMGetUndef(t));
  return p;
}

/* --- threads --------------------------------------------------------------------------------- */

/* A call to an LLVM intrinsic that is not overloaded. */
static LLVMValueRef call(Gen *g, const char *name, int n, LLVMValueRef *args) {
  const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef fn = LLVMGetIntrinsicDeclaration(g->module, id, NULL, 0);
  return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(fn), fn, args, (unsigned)n, "");
}

void tirc_gen_axis(Gen *g, const For *loop) {
  static const char *const registers[GPU_AXES] = {"ctaid.x", "ctaid.y", "ctaid.z",
                                                  "tid.x",   "tid.y",   "tid.z"};
  const DType t = loop->var->dtype;
  if ((int)loop->axis >= GPU_AXES)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL,
              "a GPU has no thread axis %s, to which the loop %s is bound",
              loop->thread ? loop->thread : "?", loop->var->u.s);
  LLVMValueRef v =
      call(g, tirc_format(g->c, "llvm.nvvm.read.ptx.sreg.%s", registers[loop->axis]), 0, NULL);
  v = tirc_gen_cast(g, v, DT_INT32, t);
  if (!tirc_is_int(loop->min, 0)) {
    LLVMValueRef min = tirc_gen_cast(g, tirc_gen_expr(g, loop->min), loop->min->dtype, t);
    v = LLVMBuildNSWAdd(g->b, min, v, "");
  }
  tirc_map_set(g->c, &g->f.vars, loop->var, v);
  tirc_gen_stmt(g, loop->body);
  tirc_map_remove(&g->f.vars, loop->var);
}

LLVMValueRef tirc_gen_barrier(Gen *g, Expr e) {
  const char *scope = e->n == 1 && e->args[0]->op == OP_STRING ? e->args[0]->u.s : "shared";
  LLVMValueRef all = tirc_gen_int(g, tirc_gen_int_type(g, 32, 1), -1);
  if (tirc_storage_of(scope) == STORAGE_WARP) return call(g, "llvm.nvvm.bar.warp.sync", 1, &all);
  if (tirc_owner(tirc_storage_of(scope)) != OWNER_BLOCK)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "PTX has no T.tvm_storage_sync(\"%s\")", scope);
  return call(g, "llvm.nvvm.barrier0", 0, NULL);
}

static LLVMValueRef shuffle_bits(Gen *g, const char *name, LLVMValueRef *args) {
  return call(g, name, 4, args);
}

/* T.tvm_warp_shuffle(mask, value, lane, width, warp size): 32 bits at a time. */
LLVMValueRef tirc_gen_shuffle(Gen *g, Expr e) {
  const bool is_up = tirc_calls(e, CALL_TVM_WARP_SHUFFLE_UP);
  const bool is_down = tirc_calls(e, CALL_TVM_WARP_SHUFFLE_DOWN);
  const char *name = is_up     ? "llvm.nvvm.shfl.sync.up.i32"
                     : is_down ? "llvm.nvvm.shfl.sync.down.i32"
                               : "llvm.nvvm.shfl.sync.idx.i32";
  const DType t = e->dtype;
  if (e->n != 5 || t.lanes != 1)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "T.%s takes five values, and one is a scalar",
              tirc_called(e));
  LLVMTypeRef i32 = tirc_gen_int_type(g, 32, 1), own = tirc_gen_type(g, t);
  LLVMValueRef v = tirc_gen_cast(g, tirc_gen_expr(g, e->args[1]), e->args[1]->dtype, t);
  LLVMValueRef width = tirc_gen_expr(g, e->args[3]);
  LLVMValueRef rest = LLVMBuildSub(g->b, tirc_gen_int(g, i32, 32), width, "");
  LLVMValueRef clamp = LLVMBuildShl(g->b, rest, tirc_gen_int(g, i32, 8), "");
  if (!is_up) clamp = LLVMBuildOr(g->b, clamp, tirc_gen_int(g, i32, 31), "");
  LLVMValueRef mask = LLVMBuildIntCast2(g->b, tirc_gen_expr(g, e->args[0]), i32, false, "");
  LLVMValueRef args[4] = {mask, NULL, tirc_gen_expr(g, e->args[2]), clamp};
  const bool is_float = tirc_dtype_is_float(t) && !tirc_gen_is_small_float(t);
  const int bits = t.code == TYPE_BOOL ? 1 : t.bits;
  LLVMTypeRef whole = tirc_gen_int_type(g, bits, 1);
  if (is_float) v = LLVMBuildBitCast(g->b, v, whole, "");
  if (bits <= 32) {
    args[1] = LLVMBuildIntCast2(g->b, v, i32, false, "");
    v = LLVMBuildIntCast2(g->b, shuffle_bits(g, name, args), whole, false, "");
  } else {
    LLVMValueRef k32 = tirc_gen_int(g, whole, 32), half[2];
    for (int i = 0; i < 2; i++) {
      args[1] = LLVMBuildTrunc(g->b, i ? LLVMBuildLShr(g->b, v, k32, "") : v, i32, "");
      half[i] = LLVMBuildZExt(g->b, shuffle_bits(g, name, args), whole, "");
    }
    v = LLVMBuildOr(g->b, half[0], LLVMBuildShl(g->b, half[1], k32, ""), "");
  }
  return is_float ? LLVMBuildBitCast(g->b, v, own, "") : v;
}

LLVMValueRef tirc_gen_active_mask(Gen *g, Expr e) {
  static const char text[] = "activemask.b32 $0;", out[] = "=r";
  LLVMTypeRef type = LLVMFunctionType(tirc_gen_int_type(g, 32, 1), NULL, 0, false);
  LLVMValueRef mask = LLVMGetInlineAsm(type, text, sizeof text - 1, out, sizeof out - 1, true,
                                       false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef v = LLVMBuildCall2(g->b, type, mask, NULL, 0, "");
  return LLVMBuildIntCast2(g->b, v, tirc_gen_type(g, e->dtype), false, "");
}

LLVMValueRef tirc_gen_dot(Gen *g, Expr e) {
  static const char places[] = "=r,r,r,r";
  DotOfBytes d;
  if (!tirc_find_dot(g->c, g->func, e, g->loc, &d)) return NULL;
  LLVMTypeRef i32 = tirc_gen_int_type(g, 32, 1);
  const char *line = tirc_format(g->c, "%s $0, $1, $2, $3;", d.ptx);
  LLVMValueRef args[3] = {LLVMBuildBitCast(g->b, tirc_gen_expr(g, d.a), i32, ""),
                          LLVMBuildBitCast(g->b, tirc_gen_expr(g, d.b), i32, ""),
                          d.sum ? tirc_gen_expr(g, d.sum) : tirc_gen_int(g, i32, 0)};
  LLVMTypeRef type = LLVMFunctionType(i32, (LLVMTypeRef[]){i32, i32, i32}, 3, false);
  LLVMValueRef dot = LLVMGetInlineAsm(type, line, strlen(line), places, sizeof places - 1, false,
                                      false, LLVMInlineAsmDialectATT, false);
  return LLVMBuildCall2(g->b, type, dot, args, 3, "");
}

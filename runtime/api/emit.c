/* Code for a module: in all kinds, of functions alone or with the one function of a model, whose
 * weights are parameters, a block beside the code, or a block within it. */
#include "api.h"
#include "asm_report.h"
#include "call_notes.h"
#include "entry.h"
#include "kernel_notes.h"
#include "local_notes.h"
#include "on_device.h"
#include "weights.h"

#include "codegen/c/c.h"
#include "codegen/gpu/gpu.h"
#include "codegen/hoist.h"
#include "codegen/llvm/llvm.h"
#include "codegen/symbols.h"
#include "ir/number.h"
#include "passes/lower/lower.h"
#include "passes/lower/packing.h"
#include "passes/module/pipeline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int find_function(const Module *m, const char *name) {
  int i = 0;
  while (i < m->n_funcs && strcmp(m->funcs[i]->name, name) != 0) i++;
  return i < m->n_funcs ? i : -1;
}

static const Module *rename_main(Tirc *c, const Module *m, const char *name) {
  int i = name ? find_function(m, "main") : -1;
  if (i < 0 || strcmp(name, "main") == 0) return m;
  Func *f = tirc_new(c, Func);
  *f = *m->funcs[i];
  f->name = tirc_strdup(c, name);
  while (find_function(m, f->name) >= 0) f->name = tirc_format(c, "%s_main", f->name);
  return tirc_module_with_func(c, m, i, f);
}

/* The module as its code names it, before it is lowered. */
static const Module *for_code(Tirc *c, const tirc_module *from, const char *main_name) {
  const Module *m = tirc_has_kernels(from->m) ? from->m : rename_main(c, from->m, main_name);
  if (m->n_graphs && !from->lowered) return tirc_finish_module(c, m, from->unscheduled);
  return from->lowered ? m : tirc_split_packing(c, m);
}

typedef struct Emission {
  const tirc_module *from;
  tirc_emit_kind kind;
  tirc_emit_options options;
  const char *path;
  int64_t bytes;
  Code code;
  const tirc_schedule_options *checked; /* or NULL */
  struct HeardWarnings *heard;
} Emission;

static EntryWeights place_of(Tirc *c, const tirc_emit_options *o) {
  static const EntryWeights places[] = {WEIGHTS_PARAMS, WEIGHTS_BESIDE, WEIGHTS_INSIDE};
  if (o->place < TIRC_WEIGHTS_PARAMS || o->place > TIRC_WEIGHTS_INSIDE)
    tirc_fail(c, (Loc){0}, CODE_ARGUMENT, NULL, "there is no tirc_weights_place %d", (int)o->place);
  return places[o->place];
}

/* --- the block of weights --------------------------------------------------------------------- */

static _Noreturn void fail_file(Tirc *c, const char *path, int error) {
  tirc_fail(c, (Loc){path, 0, 0}, CODE_FILE, NULL, "cannot write '%s': %s", path,
            tirc_error_text(error));
}

/* A file that is mapped while it is filled: the system writes it, and memory holds it once. */
typedef struct MappedFile {
  Tirc *c;
  const char *path;
  int file;
  char *at;
  size_t n;
} MappedFile;

static void close_mapped(MappedFile *f) {
  if (f->at) munmap(f->at, f->n);
  if (f->file >= 0) close(f->file);
}

static char *open_mapped(void *self) {
  MappedFile *f = self;
  f->file = open(f->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  int error = f->file < 0 ? errno : f->n ? posix_fallocate(f->file, 0, (off_t)f->n) : 0;
  if (error) fail_file(f->c, f->path, error);
  void *at = f->n ? mmap(NULL, f->n, PROT_READ | PROT_WRITE, MAP_SHARED, f->file, 0) : NULL;
  if (at == MAP_FAILED) fail_file(f->c, f->path, errno);
  return f->at = at;
}

static void write_block(Tirc *c, const char *path, const ModelEntry *e, const Module *lowered,
                        const tirc_weights *weights) {
  MappedFile *f = tirc_new(c, MappedFile);
  *f = (MappedFile){.c = c, .path = path, .file = -1, .n = (size_t)e->weights};
  Trap trap;
  if (!TIRC_TRY(c, trap)) {
    close_mapped(f);
    tirc_throw(c);
  }
  tirc_fill_weights(c, e, lowered, weights, open_mapped, f);
  if (f->n && msync(f->at, f->n, MS_ASYNC)) fail_file(c, path, errno);
  TIRC_END(c, trap);
  close_mapped(f);
}

static void emit_weights(Tirc *c, void *self) {
  Emission *p = self;
  const Module *m = for_code(c, p->from, p->options.main_name);
  const Module *lowered = p->from->lowered ? m : tirc_lower(c, m, NULL, NULL);
  const EntryWeights place = place_of(c, &p->options);
  if (!m->n_graphs || place == WEIGHTS_PARAMS)
    tirc_fail(c, (Loc){m->file, 0, 0}, CODE_ARGUMENT, NULL,
              m->n_graphs ? "weights that are parameters have no file"
                          : "a block of weights is for a model, and this is not one");
  const ModelEntry *e = tirc_model_entry(c, m, p->from->unscheduled, &lowered, p->options.main_name,
                                         place, INT64_MAX);
  p->bytes = e->weights;
  write_block(c, p->path, e, lowered, p->options.weights);
}

tirc_status tirc_module_emit_weights(const tirc_module *m, const tirc_emit_options *options,
                                     const char *path, int64_t *bytes, tirc_error **error) {
  NEED(m, options, path);
  NEED(options->weights);
  Emission p = {.from = m, .options = *options, .path = path};
  const tirc_status status = tirc_api_scratch(emit_weights, &p, &m->sources, error);
  if (status == TIRC_OK && bytes) *bytes = p.bytes;
  return status;
}

/* --- code ------------------------------------------------------------------------------------- */

static char *same(void *self) { return self; }

/* In C the block is text, too. */
static const ModelEntry *with_block(Tirc *c, const ModelEntry *e, const Module *lowered,
                                    const tirc_weights *weights) {
  enum { ALIGNMENT = 64, MOST = 4 << 20 };
  ModelEntry *to = tirc_copy(c, e, 1);
  if (!weights)
    tirc_fail(c, (Loc){0}, CODE_ARGUMENT, NULL, "the weights for the C source are missing");
  if (e->weights > MOST) return to; /* it is refused, and not made */
  char *room = tirc_new_array(c, char, e->weights + ALIGNMENT);
  room += (ALIGNMENT - (uintptr_t)room % ALIGNMENT) % ALIGNMENT;
  tirc_fill_weights(c, e, lowered, weights, same, room);
  to->block = room;
  return to;
}

/* C source and headers. */
typedef struct KindOfC {
  tirc_emit_kind kind;
  bool is_header, is_portable, is_no_alloc, has_runtime;
} KindOfC;

static const KindOfC *kind_of_c(tirc_emit_kind kind) {
  static const KindOfC kinds[] = {{.kind = TIRC_EMIT_HEADER, .is_header = true},
                                  {.kind = TIRC_EMIT_C},
                                  {.kind = TIRC_EMIT_PORTABLE_C, .is_portable = true},
                                  {TIRC_EMIT_NO_ALLOC_C, false, true, true, false},
                                  {TIRC_EMIT_NO_ALLOC_HEADER, true, true, true, false},
                                  {TIRC_EMIT_C_WITH_RUNTIME, false, false, false, true},
                                  {TIRC_EMIT_PORTABLE_C_WITH_RUNTIME, false, true, false, true}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].kind == kind) return &kinds[i];
  return NULL;
}

/* What one array may take of a small machine's stack. */
enum { SMALL_STACK = 1 << 10 };

/* Functions that take all their memory from who calls them; a model's entry moves it, and lays it
 * out. */
static const Module *without_alloc(Tirc *c, const Module *lowered, bool of_model) {
  lowered = tirc_for_one_thread(c, lowered);
  if (of_model) return lowered;
  Hoisted *hoisted = tirc_new_array(c, Hoisted, lowered->n_funcs);
  return tirc_hoist_memory(c, lowered, NULL, SMALL_STACK, hoisted);
}

static const ModelEntry *entry_of(Tirc *c, const Emission *p, const Module *m,
                                  const Module **lowered) {
  const KindOfC *as_c = kind_of_c(p->kind);
  const ModelEntry *e = tirc_model_entry(c, m, p->from->unscheduled, lowered, p->options.main_name,
                                         place_of(c, &p->options),
                                         as_c && as_c->is_no_alloc ? SMALL_STACK : INT64_MAX);
  if (as_c && !as_c->is_header && e->place == WEIGHTS_INSIDE)
    e = with_block(c, e, *lowered, p->options.weights);
  return e;
}

/* Source for GPUs. */
typedef struct SourceOfKernels {
  tirc_emit_kind kind;
  GpuKind gpu;
  const Language *language;
} SourceOfKernels;

static const SourceOfKernels *source_of_kernels(tirc_emit_kind kind) {
  static const SourceOfKernels sources[] = {{TIRC_EMIT_OPENCL, GPU_OPENCL, &tirc_opencl_c},
                                            {TIRC_EMIT_CUDA, GPU_CUDA, &tirc_cuda_c},
                                            {TIRC_EMIT_CUDA_HEADER, GPU_CUDA, &tirc_cuda_c},
                                            {TIRC_EMIT_PTX, GPU_CUDA, &tirc_cuda_c}};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
    if (sources[i].kind == kind) return &sources[i];
  return NULL;
}

static const char *gpu_of(const SourceOfKernels *s, const char *target) {
  return target ? target : tirc_gpu_default_target(s->gpu);
}

/* Whose language is WGSL, where others have OpenCL C. */
static bool is_for_webgpu(const char *target) {
  const Gpu *gpu = target ? tirc_gpu_find(target) : NULL;
  return gpu && gpu->kind == GPU_WEBGPU;
}

static const char *write_kernels(Tirc *c, const SourceOfKernels *s, const Module *lowered,
                                 const Module *m, const char *target) {
  if (s->kind == TIRC_EMIT_CUDA_HEADER) return tirc_gpu_header(c, lowered, m);
  if (s->kind == TIRC_EMIT_OPENCL && is_for_webgpu(target)) return tirc_wgsl_source(c, lowered);
  if (s->kind != TIRC_EMIT_PTX) return tirc_gpu_source(c, s->language, lowered, m);
  return tirc_llvm_ptx(c, lowered, tirc_gpu_find(gpu_of(s, target)),
                       tirc_gpu_symbols(c, s->language, lowered))
      .bytes;
}

static const bool *called_by(Tirc *c, const ModelEntry *e, const Module *lowered) {
  bool *called = tirc_new_array(c, bool, lowered->n_funcs + 1);
  for (int i = tirc_entry_prepares(e) ? 0 : e->n_prepare; i < e->n_calls; i++)
    if (e->calls[i].func >= 0) called[e->calls[i].func] = true;
  if (e->n_extents) called[e->sizes] = true;
  return called;
}

static const char *c_text(Tirc *c, const KindOfC *kind, const Module *m, const Module *lowered,
                          const ModelEntry *entry, const Cpu *cpu) {
  const char *flag = tirc_cpu_c_flag(c, cpu);
  if (kind->is_header) return tirc_c_header(c, lowered, entry, kind->is_no_alloc, flag);
  return tirc_c_source(
      c, &(CSource){.lowered = lowered,
                    .scheduled = m,
                    .called = entry ? called_by(c, entry, lowered) : NULL,
                    .is_no_alloc = kind->is_no_alloc,
                    .has_runtime = kind->has_runtime,
                    .vector_bytes = kind->is_portable ? 0 : tirc_cpu_vector_bits(cpu) / 8,
                    .flag = flag});
}

static Code machine_code(Tirc *c, const Emission *p, const Module *lowered, const ModelEntry *entry,
                         EmitKind kind) {
  const char *cpu = tirc_cpu_or_default(p->options.target);
  NameList in_frame = {0};
  const Code code =
      tirc_llvm_emit_model(c, lowered, entry, cpu, kind, p->checked ? &in_frame : NULL);
  if (!p->checked) return code;
  tirc_call_notes(c, lowered, tirc_api_hear, p->heard);
  tirc_local_notes_of(c, lowered, cpu, &in_frame, tirc_api_hear, p->heard);
  tirc_api_tell_heard(p->heard, p->checked);
  return code;
}

static void emit(Tirc *c, void *self) {
  static const EmitKind kinds[] = {EMIT_LLVM, EMIT_ASM, EMIT_OBJ};
  Emission *p = self;
  const char *main_name = p->options.main_name;
  if (p->checked) p->heard = tirc_api_heard(c);
  if (p->kind < TIRC_EMIT_LLVM || p->kind > TIRC_EMIT_PORTABLE_C_WITH_RUNTIME)
    tirc_fail(c, (Loc){0}, CODE_ARGUMENT, NULL, "there is no tirc_emit_kind %d", (int)p->kind);
  const Module *m = for_code(c, p->from, main_name);
  const SourceOfKernels *kernels = source_of_kernels(p->kind);
  const Module *lowered =
      kernels ? tirc_lower_for_device(c, m, gpu_of(kernels, p->options.target), kernels->gpu, NULL,
                                      NULL)
      : p->from->lowered ? m
                         : tirc_lower(c, m, p->checked ? tirc_api_look_at_lanes : NULL, p->heard);
  const char *cpu = tirc_cpu_or_default(p->options.target), *text = NULL;
  const KindOfC *as_c = kind_of_c(p->kind);
  if (as_c && as_c->has_runtime && m->n_graphs)
    tirc_fail(c, (Loc){0}, CODE_UNSUPPORTED, "--emit=obj has it, for a model, too",
              "C source of a model has no NAME__rt, because its loops use OpenMP");
  if (as_c && as_c->is_no_alloc) lowered = without_alloc(c, lowered, m->n_graphs);
  const ModelEntry *entry = NULL; /* of what is linked; LLVM's text and assembly are read */
  if (m->n_graphs && (as_c || p->kind == TIRC_EMIT_OBJECT)) entry = entry_of(c, p, m, &lowered);
  if (as_c) text = c_text(c, as_c, m, lowered, entry, tirc_llvm_cpu(c, cpu));
  if (kernels) text = write_kernels(c, kernels, lowered, m, p->options.target);
  if (text && entry)
    text = tirc_c_entry(c, text, entry, lowered, as_c->is_header, as_c->is_no_alloc);
  if (p->kind == TIRC_EMIT_ANNOTATED || p->kind == TIRC_EMIT_ANNOTATIONS)
    text = tirc_asm_report(c, m, tirc_llvm_annotate(c, lowered, cpu),
                           p->kind == TIRC_EMIT_ANNOTATIONS);
  if (text)
    p->code = (Code){text, strlen(text)};
  else
    p->code = machine_code(c, p, lowered, entry, kinds[p->kind]);
  p->code.bytes = tirc_api_copy(c, p->code.bytes, p->code.n);
}

static void check_sizes(Tirc *c, void *self) {
  const tirc_module *m = self;
  tirc_require_sizes(c, m->m);
}

tirc_status tirc_module_check_sizes(const tirc_module *m, tirc_error **error) {
  NEED(m);
  return tirc_api_scratch(check_sizes, (void *)(uintptr_t)m, &m->sources, error);
}

/* --- warnings of kernels ---------------------------------------------------------------------- */

typedef struct CheckedKernels {
  Tirc *c;
  const tirc_module *from;
  tirc_emit_kind kind;
  const tirc_schedule_options *options;
  struct HeardWarnings *heard;
} CheckedKernels;

/* The pass behind it is InjectSoftwarePipeline. */
static void look_before_pipelines(void *self, const char *pass, const Module *m) {
  const CheckedKernels *k = self;
  if (strcmp(pass, "LowerMatchBuffer") == 0) tirc_pipeline_notes(k->c, m, tirc_api_hear, k->heard);
}

/* A header's launchers refuse what the host computes. */
static void check_kernels(Tirc *c, void *self) {
  CheckedKernels *k = self;
  const SourceOfKernels *s = source_of_kernels(k->kind);
  k->c = c;
  k->heard = tirc_api_heard(c);
  if (!s)
    tirc_fail(c, (Loc){0}, CODE_ARGUMENT, NULL, "code of kind %d has no kernels", (int)k->kind);
  const char *target = gpu_of(s, k->options->target);
  const Module *m = for_code(c, k->from, NULL);
  const Module *lowered = tirc_lower_for_device(c, m, target, s->gpu, look_before_pipelines, k);
  const char *const *symbols = tirc_gpu_symbols(c, s->language, lowered);
  tirc_copy_notes(c, lowered, tirc_api_hear, k->heard);
  if (s->kind != TIRC_EMIT_CUDA_HEADER)
    tirc_host_notes(c, lowered, symbols, tirc_api_hear, k->heard);
  if (s->kind == TIRC_EMIT_PTX)
    tirc_local_notes_of_kernels(c, lowered, tirc_gpu_find(target), symbols, tirc_api_hear,
                                k->heard);
  tirc_api_tell_heard(k->heard, k->options);
}

tirc_status tirc_module_check_kernels(const tirc_module *m, tirc_emit_kind kind,
                                      const tirc_schedule_options *options, tirc_error **error) {
  NEED(m);
  const tirc_schedule_options none = {0};
  CheckedKernels k = {.from = m, .kind = kind, .options = options ? options : &none};
  return tirc_api_scratch(check_kernels, &k, &m->sources, error);
}

tirc_status tirc_module_emit_checked(const tirc_module *m, tirc_emit_kind kind,
                                     const tirc_emit_options *options,
                                     const tirc_schedule_options *checked, char **bytes, size_t *n,
                                     tirc_error **error) {
  NEED(m, bytes, n);
  Emission p = {.from = m, .kind = kind, .checked = checked};
  if (options) p.options = *options;
  tirc_status status = tirc_api_scratch(emit, &p, &m->sources, error);
  if (status != TIRC_OK) return status;
  *bytes = (char *)(uintptr_t)p.code.bytes;
  *n = p.code.n;
  return status;
}

tirc_status tirc_module_emit_model(const tirc_module *m, tirc_emit_kind kind,
                                   const tirc_emit_options *options, char **bytes, size_t *n,
                                   tirc_error **error) {
  NEED(m, bytes, n);
  return tirc_module_emit_checked(m, kind, options, NULL, bytes, n, error);
}

tirc_status tirc_module_emit(const tirc_module *m, tirc_emit_kind kind, const char *target,
                             const char *main_name, char **bytes, size_t *n, tirc_error **error) {
  const tirc_emit_options options = {.target = target, .main_name = main_name};
  NEED(m, bytes, n);
  return tirc_module_emit_model(m, kind, &options, bytes, n, error);
}

typedef struct EmittedNames {
  const tirc_module *from;
  const char *main_name;
  void (*tell)(void *self, const char *func, const char *symbol);
  void *self;
} EmittedNames;

static void tell_names(Tirc *c, void *self) {
  EmittedNames *p = self;
  const Module *m = for_code(c, p->from, p->main_name);
  const char *const *symbols = tirc_symbols(c, m);
  int at = p->main_name ? find_function(p->from->m, "main") : -1;
  const char *now = at < 0 ? "" : rename_main(c, p->from->m, p->main_name)->funcs[at]->name;
  for (int i = 0; i < m->n_funcs; i++)
    p->tell(p->self, strcmp(m->funcs[i]->name, now) == 0 ? "main" : m->funcs[i]->name, symbols[i]);
  if (m->n_graphs) p->tell(p->self, "main", tirc_entry_name(c, m, p->main_name));
}
tirc_status tirc_module_emitted_names(const tirc_module *m, const char *main_name,
                                      void (*tell)(void *self, const char *func,
                                                   const char *symbol),
                                      void *self, tirc_error **error) {
  NEED(m, tell);
  EmittedNames p = {m, main_name, tell, self};
  return tirc_api_scratch(tell_names, &p, &m->sources, error);
}

/* `tirc build`: code in one of several forms. */
#include "command.h"
#include "depfile.h"
#include "ir/ascii.h"
#include "ir/gpu.h"
#include "link.h"

#include <errno.h>
#include <string.h>

static const struct {
  const char *name;
  tirc_emit_kind kind;
} kinds[] = {{"llvm", TIRC_EMIT_LLVM},
             {"asm", TIRC_EMIT_ASM},
             {"obj", TIRC_EMIT_OBJECT},
             {"lib", TIRC_EMIT_OBJECT}, /* linked afterwards */
             {"header", TIRC_EMIT_HEADER},
             {"c", TIRC_EMIT_C},
             {"opencl", TIRC_EMIT_OPENCL},
             {"cuda", TIRC_EMIT_CUDA},
             {"cuda-header", TIRC_EMIT_CUDA_HEADER},
             {"ptx", TIRC_EMIT_PTX},
             {"wgsl", TIRC_EMIT_OPENCL}}; /* for the target webgpu */
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* As a name in C: what stands for no letter or digit becomes "_", and it must not be main again. */
static char *symbol_name(const char *stem) {
  bool plain = !tirc_is_digit(*stem) && strcmp(stem, "main") != 0;
  char *name = tirc_format(memory, "%s%s", plain ? "" : "k_", stem);
  for (char *p = name; *p; p++)
    if (!tirc_is_letter_or_digit(*p)) *p = '_';
  return name;
}

static char *object_name(const char *stem, const char *ending) {
  size_t n = strlen(stem) + strlen(ending) + 1;
  char *name = tirc_alloc(memory, n);
  if (name) snprintf(name, n, "%s%s", stem, ending);
  return name;
}

/* What is built: code of a program, or of a model with its weights. */
typedef struct Building {
  const BuildOptions *o;
  const tirc_module *m;
  tirc_emit_options how;
  const tirc_schedule_options *checked; /* NULL: it was checked before */
  char *block;                          /* what the code of a model calls its weights */
} Building;

/* A function that is called otherwise than in the program; main is what the file is called. */
static void note_name(void *self, const char *func, const char *symbol) {
  Building *b = self;
  const char *wanted = strcmp(func, "main") == 0 ? b->how.main_name : func;
  if (strcmp(symbol, wanted) != 0)
    fprintf(stderr, "%s: note: %s is called %s in the code: the name %s is C's, or taken\n",
            b->o->make.from.args.at[0], func, symbol, wanted);
  if (strcmp(func, "main") != 0) return;
  b->block = object_name(symbol, "_weights");
}

static int write_weights(void *self, const char *path) {
  const Building *b = self;
  tirc_error *e = NULL;
  return tirc_module_emit_weights(b->m, &b->how, path, NULL, &e) ? report(e) : DONE;
}

static int link_built(const Building *b, bool is_lib, const char *bytes, size_t n,
                      const char *path) {
  const bool inside = b->how.place == TIRC_WEIGHTS_INSIDE;
  return link_code(&(Linking){.object = bytes,
                              .n = n,
                              .is_shared = is_lib,
                              .soname = b->o->soname,
                              .keeps_lines = b->o->make.lines,
                              .block = inside ? b->block : NULL,
                              .write_block = write_weights,
                              .self = (void *)(uintptr_t)b},
                   path);
}

static int emit(const Building *b, tirc_emit_kind kind, const char *path) {
  tirc_error *e = NULL;
  char *bytes = NULL;
  size_t n = 0;
  if (tirc_module_emit_checked(b->m, kind, &b->how, b->checked, &bytes, &n, &e)) return report(e);
  const bool is_lib = b->o->emit && strcmp(b->o->emit, "lib") == 0;
  const bool inside = kind == TIRC_EMIT_OBJECT && b->how.place == TIRC_WEIGHTS_INSIDE;
  const int status =
      is_lib || inside ? link_built(b, is_lib, bytes, n, path) : write_output(path, bytes, n);
  tirc_string_free(bytes);
  return status;
}

/* The code, and with --weights-out what it reads, which is in its place when both are there. */
static int emit_with_weights(const Building *b, tirc_emit_kind kind, const char *path) {
  const char *beside = b->o->weights_out;
  if (!beside) return emit(b, kind, path);
  char *part = part_of(beside);
  int status = write_weights((void *)(uintptr_t)b, part);
  if (status == DONE) status = emit(b, kind, path);
  if (status == DONE && !put_part(part, beside))
    status = complain(NULL, "cannot write '%s': %s", beside, strerror(errno));
  drop_part(part);
  return status;
}

/* --annotate: the text goes where assembly goes, the figures to --figures FILE. If that is standard
 * output, the text only goes to -o. */
static int emit_annotated(const Building *b) {
  const BuildOptions *o = b->o;
  bool json_alone = o->figures && strcmp(o->figures, "-") == 0 && !o->make.from.output;
  int status = o->figures ? emit(b, TIRC_EMIT_ANNOTATIONS, o->figures) : DONE;
  if (status == DONE && !json_alone) status = emit(b, TIRC_EMIT_ANNOTATED, o->make.from.output);
  return status;
}

/* Weights that are known go into one block: beside the code, or within it. */
static int take_weights(Building *b, const tirc_module *m, tirc_weights **weights) {
  const BuildOptions *o = b->o;
  tirc_error *e = NULL;
  const char *asked = o->weights_out      ? "--weights-out"
                      : o->weights_inside ? "--weights-inside"
                                          : NULL;
  if (o->weights_out && o->weights_inside)
    return complain("leave one of them out",
                    "weights are beside the code (--weights-out) or within it (--weights-inside)");
  if (!tirc_module_has_graph(m))
    return asked || o->make.weights ? complain("leave it out", "%s is about a model, and not '%s'",
                                               asked ? asked : "--weights", o->make.from.args.at[0])
                                    : DONE;
  if (o->make.weights ? tirc_weights_open(o->make.weights, weights, &e)
                      : tirc_module_weights(m, weights, &e))
    return report(e);
  if (asked && !*weights)
    return complain("--weights FILE.safetensors gives them", "%s: the weights are not known",
                    asked);
  b->how.weights = *weights;
  b->how.place = o->weights_inside ? TIRC_WEIGHTS_INSIDE
                 : *weights        ? TIRC_WEIGHTS_BESIDE
                                   : TIRC_WEIGHTS_PARAMS;
  return o->weights_out ? check_output(o->weights_out) : DONE;
}

/* --header FILE beside the code. */
static int emit_header(const Building *b) {
  tirc_error *e = NULL;
  char *text = NULL;
  size_t n = 0;
  const tirc_emit_kind kind = b->o->no_alloc ? TIRC_EMIT_NO_ALLOC_HEADER : TIRC_EMIT_HEADER;
  if (!b->o->header) return DONE;
  if (tirc_module_emit_model(b->m, kind, &b->how, &text, &n, &e)) return report(e);
  const int status = write_output(b->o->header, text, n);
  tirc_string_free(text);
  return status;
}

static int emit_depfile(const Building *b, const tirc_module *loaded, const char *path) {
  const char *all[] = {path, b->o->header, b->o->weights_out};
  List made = {0};
  if (!b->o->depfile) return DONE;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i] && strcmp(all[i], "-") != 0) add_to_list(&made, all[i]);
  return write_depfile(b->o, loaded, &made);
}

static bool is_for_gpu(tirc_emit_kind kind) {
  return kind >= TIRC_EMIT_OPENCL && kind <= TIRC_EMIT_PTX;
}

static bool is_header(tirc_emit_kind kind) {
  return kind == TIRC_EMIT_HEADER || kind == TIRC_EMIT_NO_ALLOC_HEADER;
}

/* The one function of a model. */
static bool makes_entry(tirc_emit_kind kind) {
  return kind == TIRC_EMIT_OBJECT || is_header(kind) || kind == TIRC_EMIT_C ||
         kind == TIRC_EMIT_PORTABLE_C || kind == TIRC_EMIT_NO_ALLOC_C;
}

static int build(Building *b, tirc_emit_kind kind, const char *path) {
  const BuildOptions *o = b->o;
  tirc_module *m = NULL, *scheduled = NULL;
  tirc_weights *weights = NULL;
  tirc_error *e = NULL;
  int status = load_checked(&o->make, &m);
  if (status == DONE) status = emit_depfile(b, m, path);
  if (status == DONE) status = take_weights(b, m, &weights);
  if (status == DONE && makes_entry(kind) && tirc_module_check_sizes(m, &e)) status = report(e);
  if (status == DONE)
    status = schedule_loaded(&o->make, m, NULL, &scheduled);
  else
    tirc_module_free(m);
  b->m = scheduled;
  /* Machine code is checked where it is made. */
  const tirc_schedule_options checked = schedule_options(&o->make);
  if (kind <= TIRC_EMIT_OBJECT && !o->annotate)
    b->checked = &checked;
  else if (status == DONE && !is_header(kind))
    status = check_code(&o->make, scheduled, kind);
  if (status == DONE && !is_for_gpu(kind))
    (void)tirc_module_emitted_names(scheduled, b->how.main_name, note_name, b, NULL);
  if (status == DONE) status = o->annotate ? emit_annotated(b) : emit_with_weights(b, kind, path);
  if (status == DONE) status = emit_header(b);
  tirc_weights_close(weights);
  tirc_module_free(scheduled);
  return status;
}

/* What goes with what is built: a header, a list of what it was made from, a name for loaders. */
static int check_beside(const BuildOptions *o, tirc_emit_kind kind, const char *wanted,
                        const char *path) {
  if (o->header && (is_for_gpu(kind) || is_header(kind)))
    return complain("--emit=obj, lib or c with --header FILE",
                    "--header is about code for processors, and not about %s", wanted);
  if (o->soname && strcmp(wanted, "lib") != 0)
    return complain("--emit=lib", "--soname is about shared objects, and not about %s", wanted);
  if (o->depfile && (!path || strcmp(path, "-") == 0))
    return complain("give -o FILE",
                    "--depfile says what a file was made from, and none is written");
  int status = o->header ? check_output(o->header) : DONE;
  return status == DONE && o->depfile ? check_output(o->depfile) : status;
}

int cmd_build(BuildOptions *o) {
  Loading *from = &o->make.from;
  const char *wanted = o->emit ? o->emit : o->annotate ? "asm" : "llvm";
  int k = 0;
  while (k < N_KINDS && strcmp(kinds[k].name, wanted) != 0) k++;
  if (k == N_KINDS)
    return complain(NULL,
                    "--emit is llvm, asm, obj, lib, c, header, opencl, cuda, cuda-header, ptx or "
                    "wgsl, not '%s'",
                    wanted);
  tirc_emit_kind kind = kinds[k].kind;
  if (o->portable && kind != TIRC_EMIT_C)
    return complain("--emit=c --portable", "--portable is about C source, and not about %s",
                    wanted);
  if (o->no_alloc && kind != TIRC_EMIT_C && kind != TIRC_EMIT_HEADER)
    return complain("--emit=c --no-alloc, and --emit=header --no-alloc",
                    "--no-alloc is about C source, and not about %s", wanted);
  if (o->runtime && (kind != TIRC_EMIT_C || o->no_alloc))
    return complain("--emit=c --runtime; objects and shared objects have NAME__rt in any case",
                    "--runtime is about C source with an allocator, and not about %s%s", wanted,
                    o->no_alloc ? " --no-alloc" : "");
  if (o->no_alloc)
    kind = kind == TIRC_EMIT_C ? TIRC_EMIT_NO_ALLOC_C : TIRC_EMIT_NO_ALLOC_HEADER;
  else if (o->runtime)
    kind = o->portable ? TIRC_EMIT_PORTABLE_C_WITH_RUNTIME : TIRC_EMIT_C_WITH_RUNTIME;
  else if (o->portable)
    kind = TIRC_EMIT_PORTABLE_C;
  if (strcmp(wanted, "wgsl") == 0 && from->target && strcmp(from->target, "webgpu") != 0)
    return complain("--target webgpu, or none", "WGSL is for the target webgpu, not for %s",
                    from->target);
  if (strcmp(wanted, "wgsl") == 0) from->target = "webgpu";
  if (is_for_gpu(kind) && !from->target)
    from->target = tirc_gpu_default_target(kind == TIRC_EMIT_OPENCL ? GPU_OPENCL : GPU_CUDA);
  if (o->make.fast_math && !(is_for_gpu(kind) && kind != TIRC_EMIT_OPENCL))
    return complain("--emit=cuda --fast-math, or ptx or cuda-header",
                    "--fast-math is about CUDA C and PTX, and not about %s", wanted);
  if (o->annotate && kind != TIRC_EMIT_ASM)
    return complain("leave --emit out", "--annotate is for assembly, not for %s", wanted);
  if (o->figures && !o->annotate)
    return complain("tirc build PROG SCHED --annotate --figures FILE",
                    "--figures keeps the figures of --annotate");
  char *base = path_stem(from->args.at[0]), *symbol = symbol_name(base), *name = NULL;
  if (!from->output && kind == TIRC_EMIT_OBJECT)
    name = object_name(base, strcmp(wanted, "lib") == 0 ? ".so" : ".o");
  Building b = {.o = o, .how = {.target = from->target, .main_name = symbol}};
  const char *path = from->output ? from->output : name;
  const int status = check_beside(o, kind, wanted, path);
  return status == DONE ? build(&b, kind, path) : status;
}

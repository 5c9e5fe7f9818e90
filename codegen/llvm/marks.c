/* Debug lines. Either marks: every instruction carries the number of the loop that it was made for
 * as its line, so that the assembly tells what became of each loop. Or the lines of the program,
 * for debuggers: then each function says which file it is of. Neither changes the code. */
#include "asm_code.h"
#include "gen.h"
#include "ir/tree/annotations.h"
#include "ir/tree/print.h"

static void set_location(Gen *g) {
  LLVMMetadataRef at = NULL;
  const int line = g->marks ? g->f.mark : g->loc.line;
  if (g->f.scope)
    at = LLVMDIBuilderCreateDebugLocation(g->context, (unsigned)line, 0, g->f.scope, NULL);
  LLVMSetCurrentDebugLocation2(g->b, at);
}

/* "dir/prog.tir" as what debuggers open: a name and a folder. */
static LLVMMetadataRef file_of(Gen *g, const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  const char *folder = slash == path ? "/"
                       : slash       ? tirc_strndup(g->c, path, (size_t)(slash - path))
                                     : ".";
  return LLVMDIBuilderCreateFile(g->debug, name, strlen(name), folder, strlen(folder));
}

static const char *path_of(const Module *m) {
  for (int i = 0; i < m->n_funcs; i++)
    if (m->funcs[i]->loc.file) return m->funcs[i]->loc.file;
  return m->file ? m->file : "program";
}

void tirc_marks_begin(Gen *g, const Module *m) {
  g->lines = !g->marks && tirc_attrs_get(m->attrs, tirc_key(KEY_DEBUG_LINES));
  if (!g->marks && !g->lines) return;
  if (g->marks) vec_push(g->c, g->marks->list, (LoopMark){0});
  LLVMDIBuilderRef d = g->debug = LLVMCreateDIBuilder(g->module);
  g->debug_file =
      g->marks ? LLVMDIBuilderCreateFile(d, "loops", 5, ".", 1) : file_of(g, path_of(m));
  const LLVMDWARFEmissionKind kind =
      g->marks ? LLVMDWARFEmissionLineTablesOnly : LLVMDWARFEmissionFull;
  LLVMDIBuilderCreateCompileUnit(d, LLVMDWARFSourceLanguageC, g->debug_file, "tirc", 4, true, "", 0,
                                 0, "", 0, kind, 0, false, false, "", 0, "", 0);
  LLVMValueRef version =
      LLVMConstInt(LLVMInt32TypeInContext(g->context), LLVMDebugMetadataVersion(), false);
  LLVMAddModuleFlag(g->module, LLVMModuleFlagBehaviorWarning, "Debug Info Version", 18,
                    LLVMValueAsMetadata(version));
}

void tirc_marks_end(Gen *g) {
  if (!g->debug) return;
  LLVMDIBuilderFinalize(g->debug);
  LLVMDisposeDIBuilder(g->debug);
  g->debug = NULL;
}

void tirc_marks_function(Gen *g) {
  if (!g->debug) return;
  size_t n;
  const char *name = LLVMGetValueName2(g->f.fn, &n);
  LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(g->debug, g->debug_file, NULL, 0, 0);
  const LLVMMetadataRef file = g->lines && g->loc.file ? file_of(g, g->loc.file) : g->debug_file;
  const unsigned line = g->lines ? (unsigned)g->loc.line : 0;
  g->f.scope = LLVMDIBuilderCreateFunction(g->debug, file, name, n, name, n, file, line, type, true,
                                           true, line, 0, true);
  LLVMSetSubprogram(g->f.fn, g->f.scope);
  set_location(g);
}

void tirc_marks_statement(Gen *g) {
  if (g->lines) set_location(g);
}

void tirc_marks_resume(Gen *g) {
  if (g->debug) set_location(g);
}

int tirc_marks_enter(Gen *g, const For *loop) {
  int outer = g->f.mark;
  if (!g->marks) return outer;
  LoopMark m = {.name = loop->var->u.s,
                .extent = tirc_print_expr(g->c, loop->extent),
                .kind = tirc_loop_kind_name(loop->kind),
                .parent = outer};
  vec_push(g->c, g->marks->list, m);
  g->f.mark = g->marks->list.n - 1;
  set_location(g);
  return outer;
}

void tirc_marks_leave(Gen *g, int outer) {
  if (!g->marks) return;
  g->f.mark = outer;
  set_location(g);
}

void tirc_marks_store(Gen *g, Buffer b) {
  if (!g->marks) return;
  LoopMark *m = &g->marks->list.at[g->f.mark];
  for (int i = 0; i < m->stores.n; i++)
    if (strcmp(m->stores.at[i], b->data->u.s) == 0) return;
  vec_push(g->c, m->stores, b->data->u.s);
}

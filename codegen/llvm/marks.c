/* Marks: every instruction carries the number of the loop that it was made for as its debug line,
 * so that the assembly tells what became of each loop. They do not change the code. */
#include "asm_code.h"
#include "gen.h"
#include "ir/tree/print.h"

static void set_location(Gen *g) {
  LLVMMetadataRef at = NULL;
  if (g->f.scope)
    at = LLVMDIBuilderCreateDebugLocation(g->context, (unsigned)g->f.mark, 0, g->f.scope, NULL);
  LLVMSetCurrentDebugLocation2(g->b, at);
}

void tirc_marks_begin(Gen *g) {
  if (!g->marks) return;
  vec_push(g->c, g->marks->list, (LoopMark){0});
  LLVMDIBuilderRef d = g->debug = LLVMCreateDIBuilder(g->module);
  g->debug_file = LLVMDIBuilderCreateFile(d, "loops", 5, ".", 1);
  LLVMDIBuilderCreateCompileUnit(d, LLVMDWARFSourceLanguageC, g->debug_file, "tirc", 4, true, "", 0,
                                 0, "", 0, LLVMDWARFEmissionLineTablesOnly, 0, false, false, "", 0,
                                 "", 0);
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
  g->f.scope = LLVMDIBuilderCreateFunction(g->debug, g->debug_file, name, n, name, n, g->debug_file,
                                           0, type, true, true, 0, 0, true);
  LLVMSetSubprogram(g->f.fn, g->f.scope);
  set_location(g);
}

void tirc_marks_resume(Gen *g) {
  if (g->debug) set_location(g);
}

int tirc_marks_enter(Gen *g, const For *loop) {
  int outer = g->f.mark;
  if (!g->debug) return outer;
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
  if (!g->debug) return;
  g->f.mark = outer;
  set_location(g);
}

void tirc_marks_store(Gen *g, Buffer b) {
  if (!g->debug) return;
  LoopMark *m = &g->marks->list.at[g->f.mark];
  for (int i = 0; i < m->stores.n; i++)
    if (strcmp(m->stores.at[i], b->data->u.s) == 0) return;
  vec_push(g->c, m->stores, b->data->u.s);
}

/* Functions of many nests. Much of what LLVM does costs more than in proportion to the size of a
 * function, so that a program of a thousand loop nests would take minutes. Where there are more
 * than a few, each becomes a function of its own:
 *
 *   int NAME.nest0(captured values..., rt)     different data never alias here either
 *
 * and the function of the program allocates and calls. Programs of few nests stay in one piece. */
#include "gen.h"

enum { MANY = 64 };

/* Loops that are not inside of others; no more than MANY are counted. */
static int count_nests(Stmt s) {
  int n = s->kind == STMT_FOR;
  Stmt below;
  for (int i = 0; s->kind != STMT_WHILE && n < MANY && (below = tirc_below(s, i)); i++)
    n += count_nests(below);
  return n;
}

bool tirc_gen_has_many_nests(Stmt body) { return count_nests(body) >= MANY; }

/* --- one nest -------------------------------------------------------------------------------- */

/* What the caller knows of the memory that it passes. */
static void parameter_facts(Gen *g, LLVMValueRef fn, unsigned index, LLVMValueRef value) {
  if (g->restrict_data) tirc_gen_attribute(g, fn, index, "noalias");
  if (!LLVMIsAAllocaInst(value)) return;
  const unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
  LLVMAddAttributeAtIndex(fn, index,
                          LLVMCreateEnumAttribute(g->context, kind, LLVMGetAlignment(value)));
}

void tirc_gen_nest(Gen *g, Stmt loop, void (*build)(Gen *g, Stmt loop)) {
  Expr const *vars;
  const int n = tirc_gen_captures(g, loop, &vars);
  LLVMValueRef *args = tirc_new_array(g->c, LLVMValueRef, n + 1);
  LLVMTypeRef *params = tirc_new_array(g->c, LLVMTypeRef, n + 1);
  for (int i = 0; i < n; i++) args[i] = tirc_map_get(&g->f.vars, vars[i]);
  args[n] = g->f.rt;
  for (int i = 0; i <= n; i++) params[i] = LLVMTypeOf(args[i]);
  LLVMTypeRef i32 = LLVMInt32TypeInContext(g->context);
  LLVMTypeRef type = LLVMFunctionType(i32, params, (unsigned)n + 1, false);
  const char *name = tirc_format(g->c, "%s.nest%d", g->func->name, g->n_outlined++);
  LLVMValueRef fn = LLVMAddFunction(g->module, name, type);
  LLVMSetLinkage(fn, LLVMInternalLinkage);
  tirc_gen_attribute(g, fn, ON_FUNCTION, "noinline");
  Frame outer;
  tirc_gen_begin(g, fn, &outer);
  g->f.mark = outer.mark;
  tirc_marks_resume(g);
  g->f.rt = LLVMGetParam(fn, (unsigned)n);
  for (int i = 0; i < n; i++) {
    LLVMValueRef p = LLVMGetParam(fn, (unsigned)i);
    LLVMSetValueName2(p, vars[i]->u.s, strlen(vars[i]->u.s));
    tirc_map_set(g->c, &g->f.vars, vars[i], p);
    if (vars[i]->dtype.code == TYPE_HANDLE) parameter_facts(g, fn, (unsigned)i + 1, args[i]);
  }
  build(g, loop);
  LLVMBuildRet(g->b, LLVMConstNull(i32));
  const bool may_fail = g->f.may_fail;
  tirc_gen_end(g, &outer);
  LLVMValueRef status = LLVMBuildCall2(g->b, type, fn, args, (unsigned)n + 1, "");
  if (may_fail) tirc_gen_leave_if(g, LLVMBuildIsNotNull(g->b, status, ""), status);
}

/* The block of weights that the code of a model reads: what its calls take of the weights as they
 * are, and what calls of weights alone make of them, run here once. */
#include "entry.h"
#include "weights.h"

#include "codegen/llvm/llvm.h"
#include "ir/tree/graph.h"

typedef struct Filling {
  Tirc *c;
  const ModelEntry *e;
  const Module *lowered;
  const void **params; /* of the weights, by their number among main's parameters */
  char *block;
  char *between; /* what is made on the way, and not read by the model */
} Filling;

static void *address(const Filling *k, EntryValue *v) {
  switch (v->place) {
  case ENTRY_PARAM: return (void *)(uintptr_t)k->params[v->at];
  case ENTRY_CONST: return (void *)(uintptr_t)k->e->consts[v->at].data;
  case ENTRY_WEIGHTS: return k->block + v->at;
  case ENTRY_WORKSPACE: /* what has no bytes */
  case ENTRY_PREPARED: return k->between + v->at;
  case ENTRY_SIZE: /* of extents, which calls that prepare have not */
  case ENTRY_WORKSPACE_SIZE:
  case ENTRY_NUMBER: break;
  }
  return &v->at; /* integers of any width: the lowest byte comes first */
}

/* The functions of the calls that prepare, in a module of their own. */
static const Module *preparing(const Filling *k) {
  const Func **funcs = tirc_new_array(k->c, const Func *, k->lowered->n_funcs);
  bool *used = tirc_new_array(k->c, bool, k->lowered->n_funcs);
  Module *m = tirc_copy(k->c, k->lowered, 1);
  for (int i = 0; i < k->e->n_prepare; i++)
    if (k->e->calls[i].func >= 0) used[k->e->calls[i].func] = true;
  m->n_funcs = m->n_graphs = 0;
  m->funcs = funcs;
  for (int i = 0; i < k->lowered->n_funcs; i++)
    if (used[i]) funcs[m->n_funcs++] = k->lowered->funcs[i];
  return m;
}

static void run_call(const Filling *k, Jit *jit, const EntryCall *call) {
  EntryValue *values = tirc_copy(k->c, call->args, call->n);
  void **args = tirc_new_array(k->c, void *, call->n);
  for (int i = 0; i < call->n; i++) args[i] = address(k, &values[i]);
  if (call->func < 0) {
    memcpy(args[1], args[0], (size_t)call->bytes);
    return;
  }
  const Func *f = k->lowered->funcs[call->func];
  const PackedFunc run = tirc_jit_find(jit, f->name);
  const int status = run ? run(args, NULL) : -1;
  if (status)
    tirc_fail(k->c, f->loc, CODE_CALL, NULL,
              "%s, which prepares weights, failed with the status %d", f->name, status);
}

/* The block is asked for when there is code: nothing is open while LLVM works. */
static void fill(Filling *k, char *(*block)(void *self), void *self) {
  const Module *m = preparing(k);
  Jit *jit = m->n_funcs ? tirc_jit_new(k->c, m, "native") : NULL;
  Trap trap;
  if (!TIRC_TRY(k->c, trap)) {
    tirc_jit_free(jit);
    tirc_throw(k->c);
  }
  k->block = block(self);
  for (int i = 0; i < k->e->n_parts; i++) {
    const EntryPart *part = &k->e->parts[i];
    const void *from = part->param >= 0 ? k->params[part->param] : part->data;
    if (from) memcpy(k->block + part->at, from, (size_t)part->bytes);
  }
  for (int i = 0; i < k->e->n_prepare; i++) run_call(k, jit, &k->e->calls[i]);
  TIRC_END(k->c, trap);
  tirc_jit_free(jit);
}

static const void *weight(Tirc *c, const tirc_weights *from, Buffer b) {
  const Tensor *t = tirc_weights_find(c, from, b->name);
  bool same = tirc_dtype_equal(t->dtype, b->dtype) && t->ndim == b->ndim;
  for (int d = 0; same && d < b->ndim; d++) same = tirc_is_int(b->shape[d], t->shape[d]);
  if (!same)
    tirc_fail(c, (Loc){from->file->path, 0, 0}, CODE_WEIGHTS, NULL,
              "the weight '%s' does not fit the model, which takes %s", b->name,
              tirc_info_words(c, tirc_info_tensor(c, b->dtype, b->ndim, b->shape)));
  /* An address that the elements' type does not have is no place to compute from. */
  const bool aligned = (uintptr_t)t->data % (uintptr_t)tirc_dtype_bytes(t->dtype) == 0;
  return aligned ? t->data : tirc_tensor_clone(c, t)->data;
}

void tirc_fill_weights(Tirc *c, const ModelEntry *e, const Module *lowered,
                       const tirc_weights *weights, char *(*block)(void *self), void *self) {
  enum { ALIGNMENT = 64 };
  Filling k = {.c = c, .e = e, .lowered = lowered};
  k.params = tirc_new_array(c, const void *, e->n_inputs + e->n_weights);
  for (int i = e->n_inputs; i < e->n_inputs + e->n_weights; i++)
    k.params[i] = weight(c, weights, e->params[i]);
  k.between = tirc_new_array(c, char, e->prepared + ALIGNMENT);
  k.between += (ALIGNMENT - (uintptr_t)k.between % ALIGNMENT) % ALIGNMENT;
  fill(&k, block, self);
}

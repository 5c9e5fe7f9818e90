/* Weights: arrays that are views of a mapped .safetensors file. */
#include "weights.h"

#include "ir/nearest.h"

#include <stdlib.h>

typedef struct Opening {
  const char *path;
  tirc_weights *result;
} Opening;

static void open_file(Tirc *c, void *self) {
  Opening *p = self;
  tirc_weights *w = tirc_new(c, tirc_weights);
  *w = (tirc_weights){c, tirc_safetensors_map(c, p->path)};
  p->result = w;
}

tirc_status tirc_weights_open(const char *path, tirc_weights **out, tirc_error **error) {
  NEED(path, out);
  Opening p = {.path = path};
  Tirc *c = tirc_context_new();
  if (!c) return tirc_api_no_memory(error);
  const tirc_status status = tirc_api_guard(c, open_file, &p, NULL, error);
  if (status == TIRC_OK)
    *out = p.result;
  else
    tirc_context_release(c);
  return status;
}

void tirc_weights_close(tirc_weights *w) {
  if (!w) return;
  tirc_safetensors_unmap(w->file);
  tirc_context_release(w->c);
}

typedef struct Finding {
  const tirc_weights *w;
  const char *name;
  tirc_array *result;
} Finding;

static void delete_view(DLManagedTensor *self) { free(self); }

/* What there is instead, the first few. */
static const char *some_of(Tirc *c, int n, const char *const *names) {
  enum { MOST = 8 };
  Text text = {.c = c};
  tirc_text_addf(&text, "weights have the names of main's parameters; it has %d", n);
  for (int i = 0; i < n && i < MOST; i++) tirc_text_addf(&text, "%s%s", i ? ", " : ": ", names[i]);
  if (n > MOST) tirc_text_add(&text, " ...");
  return text.at;
}

const Tensor *tirc_weights_find(Tirc *c, const tirc_weights *w, const char *name) {
  const StoredTensor *stored = tirc_safetensors_find(w->file, name);
  if (stored) return &stored->tensor;
  const int n = w->file->n;
  const char **names = tirc_new_array(c, const char *, n);
  for (int i = 0; i < n; i++) names[i] = w->file->at[i].name;
  const char *nearest = tirc_nearest(c, name, n, names);
  tirc_fail(c, (Loc){w->file->path, 0, 0}, CODE_NAME, nearest ? nearest : some_of(c, n, names),
            "there is no weight '%s' in it", name);
}

static void find_array(Tirc *c, void *self) {
  Finding *p = self;
  const Tensor *t = tirc_weights_find(c, p->w, p->name);
  /* An address that the elements' type does not have is no place to compute from. */
  const bool aligned = (uintptr_t)t->data % (uintptr_t)tirc_dtype_bytes(t->dtype) == 0;
  if (!aligned) {
    p->result = tirc_api_array(c, tirc_tensor_clone(c, t));
    return;
  }
  DLManagedTensor *owner = calloc(1, sizeof *owner);
  Tensor *view = calloc(1, sizeof *view);
  if (!owner || !view) {
    free(owner);
    free(view);
    tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  }
  *view = *t;
  owner->deleter = delete_view;
  p->result = tirc_api_array(c, view);
  p->result->managed = owner;
}

tirc_status tirc_weights_array(const tirc_weights *w, const char *name, tirc_array **out,
                               tirc_error **error) {
  NEED(w, name, out);
  Finding p = {.w = w, .name = name};
  const tirc_status status = tirc_api_scratch(find_array, &p, NULL, error);
  if (status == TIRC_OK) *out = p.result;
  return status;
}

typedef struct Saving {
  const tirc_weights *w;
  const char *path;
} Saving;

static void save(Tirc *c, void *self) {
  Saving *p = self;
  tirc_safetensors_write(c, p->path, p->w->file->n, p->w->file->at);
}

tirc_status tirc_weights_save(const tirc_weights *w, const char *path, tirc_error **error) {
  NEED(w, path);
  Saving p = {w, path};
  return tirc_api_scratch(save, &p, NULL, error);
}

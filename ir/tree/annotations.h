/* The keys of annotations that something reads: annotations.def has them. */
#ifndef TIRC_IR_ANNOTATIONS_H
#define TIRC_IR_ANNOTATIONS_H

#include <stdint.h>

typedef enum AnnotationKey {
#define ANNOTATION(id, key, where, value, help) KEY_##id,
#include "annotations.def"
#undef ANNOTATION
  N_ANNOTATION_KEYS
} AnnotationKey;

typedef struct AnnotationRow {
  const char *key, *where, *value, *help;
} AnnotationRow;
extern const AnnotationRow tirc_annotation_rows[N_ANNOTATION_KEYS];

/* The GPU that a function's attribute says its kernels are for, T.target("sm_80") or "sm_80"; NULL:
 * it does not say, or says what is in no table. */
struct Func;
const struct Gpu *tirc_gpu_of(const struct Func *f);

/* How many blocks a loop over blocks or threads asks a multiprocessor to run at the same time;
 * *blocks stays where it asks for none. */
struct For;
void tirc_gpu_blocks_at_once(const struct For *loop, int64_t *blocks);

/* The number that a loop is annotated with; 0: with none. */
int64_t tirc_loop_number(const struct For *loop, AnnotationKey key);

static inline const char *tirc_key(AnnotationKey k) { return tirc_annotation_rows[k].key; }

#endif

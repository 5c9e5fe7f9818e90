/* The table of annotations. */
#include "annotations.h"

const AnnotationRow tirc_annotation_rows[N_ANNOTATION_KEYS] = {
#define ANNOTATION(id, key, where, value, help) {key, where, value, help},
#include "annotations.def"
#undef ANNOTATION
};

/* Boosted trees that learn from what was measured: how slow a program is (the cost model of the
 * search), or what the best schedules of a shape do (`tirc learn`). They are XGBoost's (Chen and
 * Guestrin, 2016), whose library is loaded when the first model is made; without it there is none.
 */
#ifndef TIRC_SEARCH_MODEL_H
#define TIRC_SEARCH_MODEL_H

#include <stdbool.h>
#include <stddef.h>

void *tirc_model_library(void); /* XGBoost's, or NULL */

typedef struct Model Model;
typedef enum ModelKind {
  MODEL_COST,   /* many rows of many features; labels are logarithms of times */
  MODEL_NUMBER, /* a few rows, down to two; labels are any numbers */
  MODEL_CLASS   /* the same; labels are 0 or 1, predictions the probability of 1 */
} ModelKind;
/* NULL: the library is not installed, or memory is out. */
Model *tirc_model_new(ModelKind kind);
void tirc_model_free(Model *m);
/* Learns anew, from n rows of `width` features. False: it failed, and predicts nothing. */
bool tirc_model_train(Model *m, int n, int width, const float *rows, const float *labels);
bool tirc_model_is_trained(const Model *m);
bool tirc_model_predict(const Model *m, int n, int width, const float *rows, float *out);
/* As bytes, which are good until the model changes; and back. */
bool tirc_model_save(const Model *m, const void **bytes, size_t *n);
bool tirc_model_load(Model *m, const void *bytes, size_t n);

#endif

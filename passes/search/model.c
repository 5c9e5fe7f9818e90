#include "model.h"

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 60 };

typedef void *Handle;
typedef uint64_t Length; /* bst_ulong */

/* Of xgboost/c_api.h; each gives 0, or -1 when it failed. */
#define FUNCTIONS(F)                                                                               \
  F(XGDMatrixCreateFromMat, (const float *, Length rows, Length columns, float missing, Handle *)) \
  F(XGDMatrixSetFloatInfo, (Handle, const char *field, const float *, Length))                     \
  F(XGDMatrixFree, (Handle))                                                                       \
  F(XGBoosterCreate, (const Handle *, Length, Handle *))                                           \
  F(XGBoosterSetParam, (Handle, const char *name, const char *value))                              \
  F(XGBoosterUpdateOneIter, (Handle, int round, Handle matrix))                                    \
  F(XGBoosterPredict,                                                                              \
    (Handle, Handle matrix, int options, unsigned trees, int training, Length *, const float **))  \
  F(XGBoosterSaveModelToBuffer, (Handle, const char *config, Length *, const char **))             \
  F(XGBoosterLoadModelFromBuffer, (Handle, const void *, Length))                                  \
  F(XGBoosterFree, (Handle))

struct Model {
  ModelKind kind;
  void *library;
  Handle booster;
  bool trained;
#define DECLARE(name, parameters) int(*name) parameters;
  FUNCTIONS(DECLARE)
#undef DECLARE
};

void *tirc_model_library(void) {
  static const char *const names[] = {"libxgboost.so.0", "libxgboost.so"};
  void *library = NULL;
  for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  return library;
}

static bool find_functions(Model *m) {
#define FIND(name, parameters)                                                                     \
  {                                                                                                \
    void *at = dlsym(m->library, #name);                                                           \
    if (!at) return false;                                                                         \
    memcpy(&m->name, &at, sizeof at);                                                              \
  }
  FUNCTIONS(FIND)
#undef FIND
  return true;
}

/* one thread: others would still spin when the next candidate is timed */
#define COMMON                                                                                     \
  {"nthread", "1"}, {"verbosity", "0"}, { "seed", "1" }
/* A few rows of a few features: a leaf may be one row, and nothing is left out at random. */
#define FEW                                                                                        \
  {"max_depth", "4"}, {"eta", "0.3"}, { "lambda", "0.1" }
static const char *const settings[][10][2] = {
    [MODEL_COST] = {COMMON,
                    {"objective", "reg:squarederror"},
                    {"max_depth", "6"},
                    {"eta", "0.15"},
                    {"min_child_weight", "1"},
                    {"colsample_bytree", "0.7"},
                    {"subsample", "0.9"}},
    [MODEL_NUMBER] = {COMMON, FEW, {"objective", "reg:squarederror"}, {"min_child_weight", "1"}},
    /* of a class, a row weighs at most 1/4, and less the surer the trees are of it */
    [MODEL_CLASS] = {COMMON, FEW, {"objective", "binary:logistic"}, {"min_child_weight", "0.01"}},
};

/* matrix: what it will be trained with, or NULL. */
static bool new_booster(Model *m, Handle matrix) {
  if (m->booster) m->XGBoosterFree(m->booster);
  m->booster = NULL;
  m->trained = false;
  if (m->XGBoosterCreate(&matrix, matrix ? 1 : 0, &m->booster)) return false;
  for (const char *const(*set)[2] = settings[m->kind]; (*set)[0]; set++)
    if (m->XGBoosterSetParam(m->booster, (*set)[0], (*set)[1])) return false;
  return true;
}

Model *tirc_model_new(ModelKind kind) {
  Model *m = calloc(1, sizeof *m);
  if (!m) return NULL;
  m->kind = kind;
  m->library = tirc_model_library();
  if (m->library && find_functions(m)) return m;
  tirc_model_free(m);
  return NULL;
}

void tirc_model_free(Model *m) {
  if (m && m->booster) m->XGBoosterFree(m->booster);
  /* the library stays: threads that it may have begun are in it */
  free(m);
}

bool tirc_model_is_trained(const Model *m) { return m && m->trained; }

bool tirc_model_train(Model *m, int n, int width, const float *rows, const float *labels) {
  Handle matrix = NULL;
  m->trained = false;
  if (m->XGDMatrixCreateFromMat(rows, (Length)n, (Length)width, NAN, &matrix)) return false;
  bool ok = !m->XGDMatrixSetFloatInfo(matrix, "label", labels, (Length)n) && new_booster(m, matrix);
  for (int i = 0; ok && i < ROUNDS; i++) ok = !m->XGBoosterUpdateOneIter(m->booster, i, matrix);
  m->XGDMatrixFree(matrix);
  return m->trained = ok;
}

bool tirc_model_predict(const Model *m, int n, int width, const float *rows, float *out) {
  Handle matrix = NULL;
  Length count = 0;
  const float *result = NULL;
  if (!m->trained) return false;
  if (m->XGDMatrixCreateFromMat(rows, (Length)n, (Length)width, NAN, &matrix)) return false;
  const bool ok =
      !m->XGBoosterPredict(m->booster, matrix, 0, 0, 0, &count, &result) && count == (Length)n;
  if (ok) memcpy(out, result, (size_t)n * sizeof *out);
  m->XGDMatrixFree(matrix);
  return ok;
}

bool tirc_model_save(const Model *m, const void **bytes, size_t *n) {
  Length length = 0;
  const char *at = NULL;
  if (!m->trained) return false;
  if (m->XGBoosterSaveModelToBuffer(m->booster, "{\"format\": \"ubj\"}", &length, &at))
    return false;
  *bytes = at;
  *n = length;
  return true;
}

bool tirc_model_load(Model *m, const void *bytes, size_t n) {
  return m->trained =
             new_booster(m, NULL) && !m->XGBoosterLoadModelFromBuffer(m->booster, bytes, n);
}

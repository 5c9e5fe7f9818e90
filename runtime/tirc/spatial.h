/* What a program would cost on an array of processing elements. */
#ifndef TIRC_TIRC_SPATIAL_H
#define TIRC_TIRC_SPATIAL_H

#include "check.h"

TIRC_C_BEGIN

/* A program with loops that are bound to pe.x, pe.y, pe.z (or annotated "pe": "x") is a mapping:
 * who computes what, and when. What it costs is counted exactly; guide/cost.md has the definitions.
 */
typedef struct tirc_spatial_options {
  const char *block;     /* of several nests on the array the one of this block; or NULL */
  const char *spec_name; /* what stands for the description in messages; NULL: "array" */
  bool allow_cycles;     /* count what links that take no time and lead in a circle say */
  bool formulas;         /* give the counts in symbolic sizes, too, where these are large enough */
  int64_t enumerate;     /* count one by one up to so many instances; 0: four million */
  int64_t most;          /* and, where small sizes do not tell, up to so many; 0: 200 million */
  int64_t item_bits;     /* in place of the description's; 0: as that says */
} tirc_spatial_options;

/* spec: the array, as JSON: {"array": {"dims": [8, 8], "bandwidth": 64, "item_bits": 16, "latency":
 * 16}, "interconnect": "systolic", "energy": {...}}. *json: an object with the counts, which are of
 * instances, items and stamps. Of func (NULL: "main" or the only one). options may be NULL.
 * TIRC_BAD with the code "pe-array": the description is none, the program does not fit the array,
 * or nothing exact can be said. TIRC_NO: elements that run at one time disturb each other. */
TIRC_API tirc_status tirc_module_spatial_cost(const tirc_module *m, const char *func,
                                              const char *spec, const tirc_spatial_options *options,
                                              char **json, tirc_error **error);

/* What the products of a run would cost on a systolic array, by SCALE-Sim's formulas. log: n bytes,
 * a JSON object in a line for each product, as `tirc run --log-matmuls` writes them; log_name
 * stands for it in messages (NULL: "log"). dataflow: "os", "ws", "is": what stays in the array,
 * outputs (or NULL), weights or inputs. *json: {"products": [...], "functions": [...], "all":
 * {...}} in items and steps. Of options spec_name and item_bits count. TIRC_BAD with the code
 * "pe-array": a line or a field is wrong, which the message names. */
TIRC_API tirc_status tirc_spatial_log_cost(const char *log, size_t n, const char *log_name,
                                           const char *spec, const char *dataflow,
                                           const tirc_spatial_options *options, char **json,
                                           tirc_error **error);

/* Runs the program on args in the order of the array: at each stamp element by element, one
 * instance after the other, each item taken from where the links allow or else from outside. What
 * it counts meanwhile has to be what the estimate says, otherwise TIRC_BAD. args are written in
 * place, by the reference interpreter; max_steps 0: no limit. *json as of tirc_module_spatial_cost.
 */
TIRC_API tirc_status tirc_module_spatial_run(const tirc_module *m, const char *func,
                                             const char *spec, int n, const tirc_argument *args,
                                             int64_t max_steps, const tirc_spatial_options *options,
                                             char **json, tirc_error **error);

/* Searches for mappings of a function's nest (options->block, or the one with most instances) onto
 * the array, by what they cost; nothing is measured. trials: at most so many are counted; 0: 400.
 * *json: {"mappings": ..., "tried": ..., "best": [{"cycles": ..., "schedule": script, "cost":
 * {...}},
 * ...]}, best first: by busy_latency, then by energy. */
TIRC_API tirc_status tirc_module_spatial_search(const tirc_module *m, const char *func,
                                                const char *spec, int64_t trials,
                                                const tirc_spatial_options *options, char **json,
                                                tirc_error **error);

TIRC_C_END
#endif

/* What a program would cost on an array of processing elements. */
#ifndef TIRC_TIRC_SPATIAL_H
#define TIRC_TIRC_SPATIAL_H

#include "check.h"

TIRC_C_BEGIN

/* A program with loops that are bound to pe.x, pe.y, pe.z (or annotated "pe": "x") is a mapping: it
 * says which element computes what, and when. Its cost is counted exactly; guide/cost.md has the
 * definitions. */
typedef struct tirc_spatial_options {
  const char *block;     /* if several nests are on the array, a block of the one meant; or NULL */
  const char *spec_name; /* the name of the description in messages; NULL: "array" */
  bool allow_cycles;     /* count even if links without delay form a cycle */
  bool formulas;         /* also give the counts in symbolic sizes, for large enough sizes */
  int64_t enumerate;     /* how many instances are counted one by one; 0: four million */
  int64_t most;          /* and how many if small sizes do not predict them; 0: 200 million */
  int64_t item_bits;     /* instead of the description's; 0: the description's; of a log also
                            TIRC_OWN_BITS: what the types of each product have */
} tirc_spatial_options;
enum { TIRC_OWN_BITS = -1 };

/* spec: the array, as JSON: {"array": {"dims": [8, 8], "bandwidth": 64, "item_bits": 16, "latency":
 * 16}, "interconnect": "systolic", "energy": {...}}. *json: an object with the counts of instances,
 * items and stamps for func (NULL: "main" or the only one). options may be NULL. TIRC_BAD with the
 * code "pe-array": the description is wrong, the program does not fit the array, or no exact count
 * is known. TIRC_NO: elements that run at the same time disturb each other. */
TIRC_API tirc_status tirc_module_spatial_cost(const tirc_module *m, const char *func,
                                              const char *spec, const tirc_spatial_options *options,
                                              char **json, tirc_error **error);

/* An array's description as it is understood. *json: {"dims": [8, 8], "bandwidth": 64, "item_bits":
 * 16, "latency": 16, "links": "systolic", "deltas": [[-1, 0], [0, -1]], "same_time": true,
 * "prev_time": true, "self_prev": true}: links by name become steps, from whom an element takes. Of
 * the options, only spec_name and item_bits have an effect. TIRC_BAD with the code "pe-array" where
 * the description is wrong. */
TIRC_API tirc_status tirc_spatial_spec(const char *spec, const tirc_spatial_options *options,
                                       char **json, tirc_error **error);

/* What the products of a run would cost on a systolic array, by SCALE-Sim's formulas. log: n bytes,
 * with a JSON object on one line for each product, as `tirc run --log-matmuls` writes them;
 * messages call it log_name (NULL: "log"). dataflow: what stays in the array: "os" (or NULL)
 * outputs, "ws" weights, "is" inputs. *json: {"products": [...], "functions": [...], "all": {...}}
 * in items and steps; "seconds" is the time that the calls took, as the log has it. Of the options,
 * only spec_name and item_bits have an effect. TIRC_BAD with the code "pe-array": a line or a field
 * is wrong; the message names it. */
TIRC_API tirc_status tirc_spatial_log_cost(const char *log, size_t n, const char *log_name,
                                           const char *spec, const char *dataflow,
                                           const tirc_spatial_options *options, char **json,
                                           tirc_error **error);

/* Runs the program on args in the order of the array: at each stamp, element by element, one
 * instance after the other. Each item is taken from a place that the links allow, or else from
 * outside. If the counts of this run differ from the estimate, the status is TIRC_BAD. The
 * reference interpreter writes args in place; max_steps 0: no limit. *json: as in
 * tirc_module_spatial_cost. */
TIRC_API tirc_status tirc_module_spatial_run(const tirc_module *m, const char *func,
                                             const char *spec, int n, const tirc_argument *args,
                                             int64_t max_steps, const tirc_spatial_options *options,
                                             char **json, tirc_error **error);

/* Searches for mappings of a function's nest (that of options->block, or the one with the most
 * instances) onto the array, by their costs; nothing is measured. trials: how many mappings are
 * counted at most; 0: 400. *json: {"mappings": ..., "tried": ..., "best": [{"cycles": ...,
 * "schedule": script, "cost": {...}}, ...]}, with the best first: by busy_latency, then by energy.
 */
TIRC_API tirc_status tirc_module_spatial_search(const tirc_module *m, const char *func,
                                                const char *spec, int64_t trials,
                                                const tirc_spatial_options *options, char **json,
                                                tirc_error **error);

TIRC_C_END
#endif

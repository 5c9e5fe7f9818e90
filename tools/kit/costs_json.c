/* What kernels ask of a GPU's memory, as JSON. */
#include "json.h"

static Json *kernel_json(const tirc_kernel_costs *k) {
  Json *o = json_object_new_object();
  add_text(o, "name", k->name);
  add_int(o, "launches", k->launches);
  add_int(o, "blocks", k->blocks);
  add_int(o, "blocks_run", k->blocks_run);
  add_int(o, "threads", k->threads);
  add_int(o, "shared_bytes", k->shared);
  add_int(o, "bytes_asked", k->asked);
  add_int(o, "bytes_needed", k->needed);
  add_int(o, "registers_of_arrays", k->own);
  add_int(o, "registers_estimated", k->registers);
  add_int(o, "blocks_at_once", k->blocks_at_once);
  add_int(o, "warps_at_once", k->warps_at_once);
  add_int(o, "most_warps", k->most_warps);
  add_text(o, "bound", k->bound);
  return o;
}

static Json *access_json(const tirc_access_costs *a) {
  Json *o = json_object_new_object();
  add_text(o, "kernel", a->kernel);
  add_int(o, "line", a->line);
  add_text(o, "statement", a->statement);
  add_text(o, "buffer", a->buffer);
  add_text(o, "does", a->stores ? "store" : "load");
  add_text(o, "unit", a->shared ? "turns" : "sectors");
  add_int(o, "warps", a->warps);
  add_int(o, "asked", a->asked);
  add_int(o, "ideal", a->ideal);
  return o;
}

static Json *branch_json(const tirc_branch_costs *b) {
  Json *o = json_object_new_object();
  add_text(o, "kernel", b->kernel);
  add_int(o, "line", b->line);
  add_text(o, "statement", b->statement);
  add_int(o, "warps", b->warps);
  add_int(o, "parted", b->parted);
  return o;
}

Json *costs_json(const tirc_costs *costs) {
  Json *all = json_object_new_object(), *kernels = json_object_new_array(),
       *accesses = json_object_new_array(), *branches = json_object_new_array();
  tirc_kernel_costs k;
  tirc_access_costs a;
  tirc_branch_costs b;
  for (int i = 0; tirc_costs_kernel(costs, i, &k); i++)
    json_object_array_add(kernels, kernel_json(&k));
  for (int i = 0; tirc_costs_access(costs, i, &a); i++)
    json_object_array_add(accesses, access_json(&a));
  for (int i = 0; tirc_costs_branch(costs, i, &b); i++)
    json_object_array_add(branches, branch_json(&b));
  add_text(all, "model",
           "warps of 32, sectors of 32 bytes, 32 banks of 4 bytes; no caches, no time");
  add_json(all, "kernels", kernels);
  add_json(all, "accesses", accesses);
  add_json(all, "branches", branches);
  return all;
}

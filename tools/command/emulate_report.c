/* `--device emulate --report`: what kernels ask of a GPU's memory, for people or as JSON. */
#include "emulate.h"
#include "tools/kit/json.h"

#include <string.h>

static double a_warp(int64_t n, int64_t warps) { return warps ? (double)n / (double)warps : 0; }

/* --- for people ------------------------------------------------------------------------------- */

static void print_kernel(const tirc_kernel_costs *k) {
  printf("\nkernel %s: %lld block%s of %lld thread%s", k->name, (long long)k->blocks,
         plural(k->blocks), (long long)k->threads, plural(k->threads));
  if (k->shared) printf(", %lld bytes of shared memory each", (long long)k->shared);
  if (k->blocks_run < k->blocks) printf("; of %lld blocks", (long long)k->blocks_run);
  printf("\n  global memory  %lld bytes in the sectors that warps ask for, %lld must be moved",
         (long long)k->asked, (long long)k->needed);
  if (k->needed) printf(" (%.2f times)", (double)k->asked / (double)k->needed);
  printf(
      "\n  registers      about %d a thread, estimated; at least %d where its arrays are in them\n",
      k->registers, k->own);
  if (k->most_warps && k->blocks_at_once)
    printf(
        "  occupancy      %d block%s, %d of %d warps of a multiprocessor, by that estimate; bound "
        "by %s\n",
        k->blocks_at_once, plural(k->blocks_at_once), k->warps_at_once, k->most_warps, k->bound);
  else if (k->most_warps)
    printf("  occupancy      none: a block has too much %s\n", k->bound);
  else
    printf("  occupancy      not known: --target names a GPU of CUDA\n");
}

static void print_access(const tirc_access_costs *a) {
  char what[80];
  snprintf(what, sizeof what, "%s %s", a->stores ? "stores" : "loads", a->buffer);
  printf("  %5d  %-22s %-7s %8.3g %8.3g %6.3g  ", a->line, what, a->shared ? "turns" : "sectors",
         a_warp(a->asked, a->warps), a_warp(a->ideal, a->warps),
         a->ideal ? (double)a->asked / (double)a->ideal : 1);
  printf("%.60s%s\n", a->statement, strlen(a->statement) > 60 ? "..." : "");
}

static void print_rows(const tirc_costs *costs, const char *kernel) {
  tirc_access_costs a;
  tirc_branch_costs b;
  printf("   line  access                 unit    a warp's    ideal  times  statement\n");
  for (int i = 0; tirc_costs_access(costs, i, &a); i++)
    if (!strcmp(a.kernel, kernel)) print_access(&a);
  for (int i = 0; tirc_costs_branch(costs, i, &b); i++)
    if (!strcmp(b.kernel, kernel) && b.parted)
      printf("  %5d  branch: the threads of %lld of %lld warps part at %.50s\n", b.line,
             (long long)b.parted, (long long)b.warps, b.statement);
}

static void print_costs(const tirc_costs *costs) {
  tirc_kernel_costs k;
  for (int i = 0; tirc_costs_kernel(costs, i, &k); i++) {
    print_kernel(&k);
    print_rows(costs, k.name);
  }
  printf("\nA model: warps of 32, sectors of 32 bytes, 32 banks of 4 bytes; no caches, and no "
         "time.\n\n");
}

void show_costs(const tirc_costs *costs, bool as_json) {
  if (as_json)
    (void)write_json(NULL, costs_json(costs), true);
  else
    print_costs(costs);
}

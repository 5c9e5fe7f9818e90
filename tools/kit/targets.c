/* `--target=help`: the processors and GPUs that code can be made for, and what schedules see of
 * them. */
#include "kit.h"

#include <string.h>

static void print_kib(int64_t bytes) {
  if (bytes)
    printf(" %6lldK", (long long)(bytes / 1024));
  else
    printf(" %7s", "-");
}

static void print_target(const char *name, const tirc_target_info *t) {
  printf("%-18s %-8s %-9s %6d %9d", name, t->arch, t->isa, t->vector_bits, t->vector_registers);
  print_kib(t->l1);
  print_kib(t->l2);
  print_kib(t->l3);
  putchar('\n');
}

static void print_cards(const char *row) {
  const char *card, *name;
  for (int i = 0; tirc_gpu_card_table(i, &card, &name); i++)
    if (!strcmp(name, row)) printf("  %s\n", card);
}

static void print_gpus(void) {
  tirc_gpu_info g;
  printf("\nGPUs, for `tirc lower`: what a block of threads may have, and the known cards\n"
         "%-18s %-8s %8s %6s %8s %11s %10s\n",
         "name", "kind", "threads", "warp", "shared", "shared.dyn", "registers");
  for (int i = 0; tirc_gpu_table(i, &g); i++) {
    printf("%-18s %-8s %8d %6d %7lldK %10lldK %10lld\n", g.name, g.kind, g.threads, g.warp,
           (long long)(g.shared / 1024), (long long)(g.shared_dyn / 1024), (long long)g.registers);
    print_cards(g.name);
  }
}

void print_targets(void) {
  tirc_target_info t;
  printf("%-18s %-8s %-9s %6s %9s %7s %7s %7s\n", "name", "arch", "vectors", "bits", "registers",
         "L1d", "L2", "L3");
  if (tirc_target_find("native", &t, NULL) == TIRC_OK) print_target("native", &t);
  for (int i = 0; tirc_target_table(i, &t); i++) print_target(t.name, &t);
  printf("\nCaches are those that one core of a usual model has to itself, native's are this "
         "machine's.\n"
         "A script finds the row as sch.target: name, isa, vector_width (bits), vector_registers,\n"
         "l1_cache_size_bytes, l2_cache_size_bytes, l3_cache_size_bytes.\n");
  print_gpus();
}

bool check_target(const char *name) {
  tirc_target_info t;
  tirc_gpu_info g;
  tirc_error *e = NULL;
  bool is_gpu = false;
  if (strcmp(name, "native") == 0) return true; /* asked when code is made */
  if (tirc_gpu_find_target(name, &is_gpu, &g, &e) == TIRC_OK &&
      (is_gpu || tirc_target_find(name, &t, &e) == TIRC_OK))
    return true;
  report(e);
  return false;
}

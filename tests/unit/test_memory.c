/* Memory that runs out while a schedule is checked: an error, never the end of the process. */
#include "runtime/tirc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Shifts and skews, of which sight sees nothing. */
static const char program[] =
    "@T.prim_func\n"
    "def main(a: T.handle, n: T.int32):\n"
    "    A = T.match_buffer(a, (n + 9, n + 9, n + 9), 'float32')\n"
    "    for i, j, k in T.grid(n, n, n):\n"
    "        with T.block('b'):\n"
    "            vi, vj, vk = T.axis.remap('SSS', [i, j, k])\n"
    "            A[vi + 8, vj + vi % 3 // 2, vk] = A[vi, vj + 1, (vk + vi // 5) % 7] * "
    "A[vi + 3, vj, vk + 8]\n";
static const char script[] = "i, j, k = sch.get_loops('b')\n"
                             "sch.split(i, [None, 4])\n"
                             "i0, i1, j, k = sch.get_loops('b')\n"
                             "sch.reorder(k, i1, j)\n";

enum { DONE = 10, REFUSED = 11, NO_MEMORY = 12, OTHER = 13 };

static int outcome_of(tirc_status status, tirc_error *e) {
  if (!status) return DONE;
  const char *code = tirc_error_get(e, TIRC_ERROR_CODE);
  return !strcmp(code, "memory") ? NO_MEMORY : status == TIRC_NO ? REFUSED : OTHER;
}

static rlim_t in_use(void) {
  unsigned long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (!f || fscanf(f, "%lu", &pages) != 1) pages = 0;
  if (f) fclose(f);
  return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* What becomes of the schedule with so much memory left; of the child that tries it. */
static int try_with(const tirc_module *m, rlim_t left) {
  const pid_t child = fork();
  if (child) {
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status)) fail_msg("with %lu bytes left: signal", (unsigned long)left);
    return WEXITSTATUS(status);
  }
  const rlim_t most = in_use() + left;
  setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
  tirc_error *e = NULL;
  tirc_module *out = NULL;
  tirc_status status = tirc_module_schedule_text(m, script, sizeof script - 1, "s", NULL, &out, &e);
  _exit(outcome_of(status, e));
}

static void test_any_amount(void **state) {
  (void)state;
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  int seen[OTHER + 1] = {0};
  assert_int_equal(tirc_module_parse(program, sizeof program - 1, "p", 0, NULL, &m, &e), TIRC_OK);
  const int plenty = try_with(m, (rlim_t)1 << 30);
  assert_true(plenty == DONE || plenty == REFUSED);
  for (rlim_t left = 0; left <= 16 << 20; left += 128 << 10) {
    const int outcome = try_with(m, left);
    if (outcome != plenty) assert_int_equal(outcome, NO_MEMORY);
    seen[outcome]++;
  }
  assert_true(seen[NO_MEMORY] > 0 && seen[plenty] > 0);
  tirc_module_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_amount)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

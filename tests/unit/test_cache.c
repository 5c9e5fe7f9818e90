/* The cache of compiled code: what is found again, what is not, and what it survives. */
#define _GNU_SOURCE
#include "codegen/llvm/cache.h"
#include "codegen/llvm/image.h"
#include "codegen/llvm/key.h"
#include "codegen/llvm/llvm.h"
#include "compare.h"
#include "passes/lower/lower.h"
#include "programs.h"
#include "runtime/kernel/timer.h"
#include "runtime/tirc.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

/* Each test has a cache of its own. */
static int open_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/tirc-cache-XXXXXX");
  unsetenv("TIRC_CACHE_MB");
  return mkdtemp(folder) && !setenv("TIRC_CACHE", folder, 1) ? 0 : -1;
}

static int remove_folder(void **state) {
  char command[100];
  (void)state;
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command);
}

static int64_t entries(void) {
  int64_t n, bytes;
  const CodeCache cache = tirc_cache_open();
  tirc_cache_count(&cache, &n, &bytes);
  return n;
}

static bool has(const char *key, const char *object) {
  const CodeCache cache = tirc_cache_open();
  const Kept kept = tirc_cache_find(&cache, key);
  const bool same = kept.bytes && kept.n == strlen(object) && !memcmp(kept.object, object, kept.n);
  free(kept.bytes);
  return same;
}

static void keep(const char *key, const char *object) {
  const CodeCache cache = tirc_cache_open();
  tirc_cache_keep(&cache, key, object, strlen(object));
}

static void kept_and_found(void **state) {
  (void)state;
  assert_false(has("a", "one"));
  keep("a", "one");
  keep("b", "");
  assert_true(has("a", "one"));
  assert_true(has("b", ""));
  assert_false(has("A", "one"));
  assert_false(has("", "one"));
  keep("a", "another");
  assert_true(has("a", "another"));
  assert_int_equal(entries(), 2);
  const CodeCache cache = tirc_cache_open();
  assert_int_equal(tirc_cache_problem(&cache), 0);
  assert_int_equal(tirc_cache_clear(&cache), 0);
  assert_int_equal(entries(), 0);
  assert_false(has("a", "another"));
}

static void where_it_is(void **state) {
  (void)state;
  setenv("TIRC_CACHE", "off", 1);
  keep("a", "one");
  assert_false(has("a", "one"));
  assert_string_equal(tirc_cache_open().folder, "");
  unsetenv("TIRC_CACHE");
  setenv("XDG_CACHE_HOME", "/x", 1);
  assert_string_equal(tirc_cache_open().folder, "/x/tirc");
  setenv("XDG_CACHE_HOME", "", 1);
  setenv("HOME", "/home/x", 1);
  assert_string_equal(tirc_cache_open().folder, "/home/x/.cache/tirc");
  setenv("HOME", "", 1);
  assert_string_equal(tirc_cache_open().folder, "");
}

/* Every byte of an entry counts, and how many there are. */
static void damaged(void **state) {
  glob_t found;
  char pattern[100];
  (void)state;
  keep("the key", "an object");
  snprintf(pattern, sizeof pattern, "%s/code/*/*", folder);
  assert_int_equal(glob(pattern, 0, NULL, &found), 0);
  assert_int_equal(found.gl_pathc, 1);
  const char *path = found.gl_pathv[0];
  struct stat s;
  assert_int_equal(stat(path, &s), 0);
  for (off_t i = 0; i <= s.st_size; i++) {
    char byte;
    keep("the key", "an object");
    const int f = open(path, O_RDWR);
    assert_true(f >= 0);
    if (i < s.st_size) {
      assert_int_equal(pread(f, &byte, 1, i), 1);
      byte ^= 0x10;
      assert_int_equal(pwrite(f, &byte, 1, i), 1);
    } else
      assert_int_equal(pwrite(f, "x", 1, i), 1);
    close(f);
    assert_false(has("the key", "an object"));
    assert_int_equal(access(path, F_OK), -1);
  }
  for (off_t i = 0; i < s.st_size; i++) {
    keep("the key", "an object");
    assert_int_equal(truncate(path, i), 0);
    assert_false(has("the key", "an object"));
    assert_int_equal(access(path, F_OK), -1);
  }
  keep("the key", "an object");
  assert_true(has("the key", "an object"));
  globfree(&found);
}

static void nothing_can_be_kept(void **state) {
  (void)state;
  setenv("TIRC_CACHE", "/dev/null/none", 1);
  keep("a", "one");
  assert_false(has("a", "one"));
  CodeCache cache = tirc_cache_open();
  assert_int_not_equal(tirc_cache_problem(&cache), 0);
  assert_int_equal(tirc_cache_clear(&cache), 0);
  setenv("TIRC_CACHE", folder, 1);
  keep("a", "one");
  assert_int_equal(chmod(folder, 0777),
                   0); /* whoever may write there could make this process run */
  assert_false(has("a", "one"));
  keep("b", "two");
  assert_int_equal(entries(), 1);
  cache = tirc_cache_open();
  assert_int_not_equal(tirc_cache_problem(&cache), 0);
  assert_int_equal(chmod(folder, 0700), 0);
  assert_true(has("a", "one"));
}

static void names_of(int i, char *key) { sprintf(key, "key %d", i); }

static void bounded(void **state) {
  enum { KEYS = 120, SIZE = 20000 };
  static char object[SIZE + 1], huge[1 << 20];
  char key[20];
  (void)state;
  memset(object, 'x', SIZE);
  memset(huge, 'x', sizeof huge - 1);
  setenv("TIRC_CACHE_MB", "1", 1);
  keep("used", object);
  for (int i = 0; i < KEYS; i++) {
    names_of(i, key);
    keep(key, object);
    assert_true(has("used", object)); /* which makes it the one that was used last */
    usleep(5000);                     /* times of files go in steps */
  }
  int64_t n, bytes;
  const CodeCache cache = tirc_cache_open();
  tirc_cache_count(&cache, &n, &bytes);
  assert_true(bytes <= 1 << 20);
  assert_true(n > 16 && n < KEYS);
  keep("huge", huge);
  assert_false(has("huge", huge));
  static const char *const bad[] = {"0", "-1", "x", "1x", "99999999999999999999"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    setenv("TIRC_CACHE_MB", bad[i], 1);
    assert_true(tirc_cache_open().is_limit_bad);
    assert_true(tirc_cache_open().limit == (int64_t)CACHE_USUAL_MB << 20);
  }
}

/* None waits, and none ends the process. */
static void odd_files(void **state) {
  (void)state;
  glob_t found;
  char pattern[100];
  keep("key", "object");
  snprintf(pattern, sizeof pattern, "%s/code/*/*", folder);
  assert_int_equal(glob(pattern, 0, NULL, &found), 0);
  unlink(found.gl_pathv[0]);
  assert_int_equal(mkfifo(found.gl_pathv[0], 0600), 0);
  globfree(&found);
  assert_false(has("key", "object"));
  keep("key", "object");
  assert_true(has("key", "object"));
  struct rlimit before, few = {.rlim_cur = 40};
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  few.rlim_max = before.rlim_max;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
  keep("other", "object");
  const CodeCache cache = tirc_cache_open();
  const int wrong = tirc_cache_problem(&cache);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  assert_int_equal(wrong, EFBIG);
  assert_false(has("other", "object"));
  assert_true(has("key", "object"));
  static char far[5000];
  memset(far, 'a', sizeof far - 1);
  *far = '/';
  setenv("TIRC_CACHE", far, 1);
  const CodeCache none = tirc_cache_open();
  assert_int_equal(tirc_cache_problem(&none), ENAMETOOLONG);
}

/* What it finds is always whole, whoever writes. */
static void many_processes(void **state) {
  enum { PROCESSES = 4, ROUNDS = 300, KEYS = 5, SIZE = 5000 };
  (void)state;
  setenv("TIRC_CACHE_MB", "1", 1);
  for (int p = 0; p < PROCESSES; p++) {
    if (fork()) continue;
    static char object[SIZE];
    for (int i = 0; i < ROUNDS; i++) {
      char key[20];
      names_of(i % KEYS, key);
      memset(object, 'a' + i % KEYS, SIZE - 1);
      keep(key, object);
      const CodeCache cache = tirc_cache_open();
      const Kept kept = tirc_cache_find(&cache, key);
      if (kept.bytes && (kept.n != SIZE - 1 || memcmp(kept.object, object, kept.n))) _exit(1);
      free(kept.bytes);
    }
    _exit(0);
  }
  for (int p = 0; p < PROCESSES; p++) {
    int status;
    assert_true(wait(&status) > 0);
    assert_int_equal(status, 0);
  }
  assert_int_equal(entries(), KEYS);
}

/* --- code ------------------------------------------------------------------------------------- */

static const char *const add_text = "from tvm.script import tir as T\n\n@T.prim_func\n"
                                    "def main(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), "
                                    "\"float32\")):\n"
                                    "    for i in range(64):\n"
                                    "        with T.block(\"B\"):\n"
                                    "            vi = T.axis.spatial(64, i)\n"
                                    "            B[vi] = T.exp(A[vi]) + T.float32(%s)\n";

static const Module *lowered(Tirc *c, const char *constant) {
  return tirc_lower(c, parse(c, tirc_format(c, add_text, constant)), NULL, NULL);
}

static void check_run(Jit *j, float constant) {
  float a[64] = {0}, b[64] = {0};
  void *args[] = {a, b};
  PackedFunc f = tirc_jit_find(j, "main");
  assert_non_null(f);
  assert_int_equal(f(args, NULL), 0);
  for (int i = 0; i < 64; i++) assert_true(b[i] == 1 + constant);
  tirc_jit_free(j);
}

static void keys(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  const Module *one = lowered(c, "1"), *two = lowered(c, "2");
  const char *machine = tirc_key_of_machine(c);
  assert_non_null(machine);
  const char *key = tirc_key_of_code(c, machine, one, "haswell");
  assert_non_null(key);
  assert_string_equal(key, tirc_key_of_code(c, machine, lowered(c, "1"), "haswell"));
  assert_string_not_equal(key, tirc_key_of_code(c, machine, two, "haswell"));
  assert_string_not_equal(key, tirc_key_of_code(c, machine, one, "skylake-avx512"));
  assert_non_null(strstr(key, tirc_version()));
  assert_non_null(strstr(key, "LLVM"));
  assert_non_null(strstr(key, machine));
  assert_string_equal(machine, tirc_key_of_machine(c));
  tirc_context_release(c);
}

static void compiled_once(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  check_run(tirc_jit_new(c, lowered(c, "1"), "haswell"), 1);
  assert_int_equal(entries(), 1);
  const double before = tirc_seconds();
  check_run(tirc_jit_new(c, lowered(c, "1"), "haswell"), 1);
  print_message("a hit: %.2f ms\n", (tirc_seconds() - before) * 1e3);
  assert_int_equal(entries(), 1);
  check_run(tirc_jit_new(c, lowered(c, "2"), "haswell"), 2);
  assert_int_equal(entries(), 2);
  check_run(tirc_jit_new(c, lowered(c, "2"), "x86-64"), 2);
  assert_int_equal(entries(), 3);
  tirc_context_release(c);
}

/* A child makes code only where there is none yet. */
static void by_child(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  int64_t peak = 0;
  check_run(tirc_jit_by_child(c, lowered(c, "3"), "haswell", 8, &peak), 3);
  assert_int_equal(entries(), 1);
  assert_true(peak > 0);
  peak = 0;
  check_run(tirc_jit_by_child(c, lowered(c, "3"), "haswell", 8, &peak), 3);
  assert_true(peak == 0);
  tirc_context_release(c);
}

static void not_an_object(void **state) {
  Image image;
  (void)state;
  assert_false(tirc_image_load(&image, "", 0));
  assert_false(tirc_image_load(&image, "\177ELF", 4));
  assert_null(image.at);
}

/* Whatever stands in an object, it is linked or refused. */
static void broken_objects(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  const Code code = tirc_llvm_emit(c, lowered(c, "1"), "haswell", EMIT_OBJ);
  char *bytes = malloc(code.n);
  for (size_t i = 0; i < code.n; i++) {
    Image image;
    memcpy(bytes, code.bytes, code.n);
    bytes[i] = (char)(bytes[i] ^ 0xff);
    if (tirc_image_load(&image, bytes, code.n))
      (void)tirc_image_find(&image, bytes, code.n, "main__packed");
    tirc_image_free(&image);
    if (tirc_image_load(&image, bytes, i)) tirc_image_free(&image);
  }
  free(bytes);
  tirc_context_release(c);
}

static void public_view(void **state) {
  tirc_code_cache cache;
  (void)state;
  keep("a", "one");
  assert_int_equal(tirc_code_cache_look(true, &cache, NULL), TIRC_OK);
  assert_string_equal(cache.folder, folder);
  assert_true(cache.entries == 1 && cache.bytes > 0 && cache.limit == 512 << 20);
  assert_string_equal(cache.problem, "");
  assert_int_equal(tirc_code_cache_clear(NULL), TIRC_OK);
  assert_int_equal(tirc_code_cache_look(true, &cache, NULL), TIRC_OK);
  assert_true(cache.entries == 0);
  setenv("TIRC_CACHE_MB", "many", 1);
  assert_int_equal(tirc_code_cache_look(false, &cache, NULL), TIRC_OK);
  assert_non_null(strstr(cache.problem, "TIRC_CACHE_MB"));
  setenv("TIRC_CACHE", "/dev/null/none", 1);
  assert_int_equal(tirc_code_cache_look(false, &cache, NULL), TIRC_OK);
  assert_non_null(strstr(cache.problem, "nothing can be kept"));
}

/* --- programs ---------------------------------------------------------------------------------- */

typedef struct Rewriting {
  const char *path, *text; /* NULL: nothing is written */
  char told[64];
} Rewriting;

static void write_text(const char *path, const char *what) {
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(what, f);
  assert_int_equal(fclose(f), 0);
}

static void rewrite(void *self, const char *told) {
  Rewriting *r = self;
  snprintf(r->told, sizeof r->told, "%s", told);
  if (r->text) write_text(r->path, r->text);
}

static void make_program(Rewriting *r) {
  static const char text[] = "@R.function\n"
                             "def main(x: R.Tensor((4,), \"float32\")):\n"
                             "    with R.dataflow():\n"
                             "        y = R.nn.relu(x)\n"
                             "        R.output(y)\n"
                             "    return y\n";
  const tirc_auto_options rules = {.rules = r->path};
  const tirc_schedule_options schedule = {.self = r, .print = rewrite};
  const tirc_program_options options = {.rules = &rules, .schedule = &schedule};
  tirc_module *m;
  tirc_program *p;
  assert_int_equal(tirc_module_parse(text, sizeof text - 1, "model", 0, NULL, &m, NULL), TIRC_OK);
  assert_int_equal(tirc_program_new(m, &options, &p, NULL), TIRC_OK);
  tirc_program_free(p);
  tirc_module_free(m);
}

/* A script that is written anew while a program is made of it: the program is not the new one's. */
static void script_written_anew(void **state) {
  static const char old[] =
      "def r(sch, func):\n    print(\"old\")\n    return False\nrules = [r]\n",
                    new[] =
                        "def r(sch, func):\n    print(\"new\")\n    return False\nrules = [r]\n";
  char path[100];
  (void)state;
  snprintf(path, sizeof path, "%s/rules.sch", folder);
  write_text(path, old);
  Rewriting r = {.path = path, .text = new};
  make_program(&r);
  assert_string_equal(r.told, "old\n");
  r = (Rewriting){.path = path};
  for (int i = 0; i < 2; i++) { /* made, and found */
    make_program(&r);
    assert_string_equal(r.told, "new\n");
  }
}

int main(void) {
#define CASE(f) cmocka_unit_test_setup_teardown(f, open_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      CASE(kept_and_found),      CASE(where_it_is),    CASE(damaged),
      CASE(nothing_can_be_kept), CASE(bounded),        CASE(keys),
      CASE(compiled_once),       CASE(many_processes), CASE(by_child),
      CASE(not_an_object),       CASE(broken_objects), CASE(public_view),
      CASE(script_written_anew), CASE(odd_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What one would write in C: three loops, the inner one along memory so that the compiler can make
 * vectors of it, compiled when the bench starts. It runs on one thread. */
#include "bench_rivals.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char source[] =
    "void matmul(int M, int N, int K, const float *restrict A,\n"
    "            const float *restrict B, float *restrict C) {\n"
    "  for (int i = 0; i < M; i++) {\n"
    "    for (int j = 0; j < N; j++) C[(long)i * N + j] = 0;\n"
    "    for (int k = 0; k < K; k++)\n"
    "      for (int j = 0; j < N; j++)\n"
    "        C[(long)i * N + j] += A[(long)i * K + k] * B[(long)k * N + j];\n"
    "  }\n"
    "}\n";
static const char *const compilers[] = {"clang-19", "clang", "cc", "gcc"};
enum { N_COMPILERS = sizeof compilers / sizeof *compilers };

typedef void (*Matmul)(int m, int n, int k, const float *a, const float *b, float *c);
typedef struct PlainC {
  void *library;
  Matmul matmul;
  Product p;
} PlainC;

static int run(char *const *words) {
  int status = -1;
  pid_t pid = fork();
  if (pid == 0) {
    if (!freopen("/dev/null", "w", stderr)) _exit(127);
    execvp(words[0], words);
    _exit(127);
  }
  if (pid < 0 || waitpid(pid, &status, 0) < 0) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool write_source(const char *path) {
  FILE *f = fopen(path, "w");
  if (!f) return false;
  bool ok = fputs(source, f) >= 0;
  return fclose(f) == 0 && ok;
}

/* The library, loaded; the files are gone again. `used` gets the command. */
static void *compile(const char *cpu, char *used, size_t size) {
  const char *parent = getenv("TMPDIR");
  char folder[256], c[288], so[288], march[96];
  void *library = NULL;
  snprintf(folder, sizeof folder, "%.200s/tirc-bench-XXXXXX", parent && *parent ? parent : "/tmp");
  if (!mkdtemp(folder)) return NULL;
  snprintf(c, sizeof c, "%s/matmul.c", folder);
  snprintf(so, sizeof so, "%s/matmul.so", folder);
  snprintf(march, sizeof march, "-march=%.80s", cpu);
  for (int i = 0; write_source(c) && i < N_COMPILERS && !library; i++) {
    char *words[] = {
        (char *)(uintptr_t)compilers[i], "-O3", march, "-shared", "-fPIC", "-o", so, c, NULL};
    if (run(words) != 0) continue;
    library = dlopen(so, RTLD_NOW | RTLD_LOCAL);
    snprintf(used, size, "i, k, j on 1 thread, %s -O3 %s", compilers[i], march);
  }
  unlink(c);
  unlink(so);
  rmdir(folder);
  return library;
}

bool plain_c_open(const Bench *b, char *kernels, size_t size, const char **why) {
  void *library = compile(b->target.name, kernels, size);
  *why = "there is no C compiler that makes code for the target";
  if (!library) return false;
  dlclose(library);
  return true;
}

void *plain_c_prepare(const Bench *b, const Case *k, const char **why) {
  char used[128];
  Product p;
  PlainC *c = get_product(k, &p, why) ? calloc(1, sizeof *c) : NULL;
  if (!c) return NULL;
  c->p = p;
  c->library = compile(b->target.name, used, sizeof used);
  if (c->library) *(void **)(&c->matmul) = dlsym(c->library, "matmul");
  if (c->matmul) return c;
  *why = "the C compiler fails";
  free(c);
  return NULL;
}

void plain_c_run(void *prepared) {
  const PlainC *c = prepared;
  c->matmul(c->p.m, c->p.n, c->p.k, c->p.a, c->p.b, c->p.c);
}

void plain_c_free(void *prepared) {
  PlainC *c = prepared;
  dlclose(c->library);
  free(c);
}

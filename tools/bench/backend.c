/* `--backend`: each schedule through LLVM in this process (jit), and as the C source that
 * `tirc build --emit=c` prints, compiled by a compiler of this machine for the same processor. */
#include "bench.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct Compiled {
  int (*call)(void **arrays);
  void *arrays[32];
};

/* What "c" stands for: the first that is there. */
static const char *const compilers[] = {"clang-19", "clang", "gcc", "cc"};
enum { NAME_SIZE = 256 };
enum { N_COMPILERS = sizeof compilers / sizeof *compilers };

/* What it says goes to the file `said`. */
static int run(char *const *words, const char *said) {
  int status = -1;
  pid_t pid = fork();
  if (pid == 0) {
    int nowhere = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (nowhere < 0 || dup2(nowhere, 1) < 0 || dup2(nowhere, 2) < 0) _exit(127);
    execvp(words[0], words);
    _exit(127);
  }
  if (pid < 0 || waitpid(pid, &status, 0) < 0) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool is_there(const char *compiler) {
  return run((char *[]){(char *)(uintptr_t)compiler, "--version", NULL}, "/dev/null") == 0;
}

const char *first_compiler(void) {
  for (int i = 0; i < N_COMPILERS; i++)
    if (is_there(compilers[i])) return compilers[i];
  return NULL;
}

/* "jit", "c", or "c:COMPILER". */
static int read_backend(Bench *b, char *word) {
  enum { MOST = sizeof b->backends / sizeof *b->backends };
  struct Backend *backend = &b->backends[b->n_backends];
  bool named = strncmp(word, "c:", 2) == 0;
  if (b->n_backends == MOST) return complain(NULL, "--backend names too many");
  if (strcmp(word, "jit") != 0 && strcmp(word, "c") != 0 && !named)
    return complain("write --backend=jit,c or jit,c:clang-19,c:gcc",
                    "--backend knows jit, c and c:COMPILER, not '%s'", word);
  snprintf(backend->name, sizeof backend->name, "%s", word);
  if (strcmp(word, "c") == 0) {
    const char *first = first_compiler();
    if (!first) return complain("install gcc or clang-19", "--backend=c needs a C compiler");
    snprintf(backend->compiler, sizeof backend->compiler, "%s", first);
  }
  if (named) {
    snprintf(backend->compiler, sizeof backend->compiler, "%s", word + 2);
    if (!is_there(word + 2))
      return complain("install it, or name another one", "--backend: there is no compiler '%s'",
                      word + 2);
  }
  b->n_backends++;
  return DONE;
}

int read_backends(Bench *b) {
  char *rest = tirc_strdup(memory, b->how.backend ? b->how.backend : "jit"), *word;
  int status = DONE;
  while (status == DONE && (word = strsep(&rest, ",")) != NULL) status = read_backend(b, word);
  return status;
}

/* Scalars are written where they are passed, and behind the parameters the extents that a function
 * emitted of m takes. */
static void write_arguments(FILE *f, const Case *k, const tirc_module *m) {
  int n = 0;
  const tirc_symbol *extents = NULL;
  for (int i = 0; i < k->n_params; i++) {
    if (i) fputs(", ", f);
    if (k->params[i].is_array)
      fprintf(f, "p[%d]", i);
    else if (strstr(k->params[i].dtype, "float"))
      fprintf(f, "%.17g", k->args[i].f);
    else
      fprintf(f, "%lldLL", (long long)k->args[i].i);
  }
  if (!m || tirc_module_symbols(m, NULL, &n, &extents, NULL)) return;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < k->n_symbols; j++)
      if (strcmp(extents[i].name, k->symbols[j].name) == 0)
        fprintf(f, ", %lldLL", (long long)k->symbols[j].value);
}

/* The source with a function that takes the arrays as a list, and one for the number of threads. */
static bool write_source(const Case *k, const tirc_module *m, const char *callee, const char *path,
                         const char *source) {
  FILE *f = fopen(path, "w");
  if (!f) return false;
  fprintf(f, "%s\nint tirc_bench_call(void **p) { return %s(", source, callee);
  write_arguments(f, k, m);
  fprintf(f, "); }\n"
             "#ifdef _OPENMP\nvoid omp_set_num_threads(int n);\n#endif\n"
             "void tirc_bench_threads(int n) {\n"
             "#ifdef _OPENMP\n  omp_set_num_threads(n);\n#else\n  (void)n;\n#endif\n}\n");
  return fclose(f) == 0;
}

/* Without OpenMP where the compiler has none: the parallel loops then run on one thread. */
static bool compile(const char *compiler, const char *cpu, const char *c, const char *so,
                    const char *said, int threads) {
  char *march = tirc_format(memory, "-march=%.80s", cpu);
  char *words[] = {(char *)(uintptr_t)compiler,
                   "-O3",
                   march,
                   "-shared",
                   "-fPIC",
                   "-o",
                   (char *)(uintptr_t)so,
                   (char *)(uintptr_t)c,
                   "-lm",
                   "-fopenmp",
                   NULL};
  enum { OPENMP = 9 };
  if (threads > 1 && run(words, said) == 0) return true;
  words[OPENMP] = NULL;
  return run(words, said) == 0;
}

/* The compiler's first errors; of a linker, its first lines. */
static void show_errors(const Bench *b, const char *compiler, const char *said) {
  enum { MOST = 3 };
  char line[400];
  FILE *f = fopen(said, "r");
  for (int errors_only = 1, n = 0; f && errors_only >= 0 && n == 0; errors_only--) {
    rewind(f);
    while (n < MOST && fgets(line, sizeof line, f)) {
      if (errors_only && !strstr(line, "error:")) continue;
      tell(b, "%s: %s%s", compiler, line, strchr(line, '\n') ? "" : "\n");
      n++;
    }
  }
  if (f) fclose(f);
}

static void *load(const Bench *b, const Case *k, const tirc_module *m, const char *callee,
                  const char *compiler, const char *source) {
  const char *parent = getenv("TMPDIR");
  char *folder = tirc_format(memory, "%s/tirc-bench-XXXXXX", parent && *parent ? parent : "/tmp");
  if (!mkdtemp(folder)) return NULL;
  char *c = tirc_format(memory, "%s/kernel.c", folder),
       *said = tirc_format(memory, "%s/said", folder);
  char *so = tirc_format(memory, "%s/kernel.so", folder);
  bool ok = write_source(k, m, callee, c, source) &&
            compile(compiler, b->target.name, c, so, said, k->at.threads);
  void *library = ok ? dlopen(so, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!ok) show_errors(b, compiler, said);
  unlink(said);
  unlink(c);
  unlink(so);
  rmdir(folder);
  return library;
}

/* The library stays loaded: OpenMP's threads run in it after the last call. */
Compiled *compile_source(const Bench *b, const Case *k, const tirc_module *m, const char *callee,
                         const char *compiler, const char *source, const tirc_argument *args,
                         const char **why) {
  Compiled *out = tirc_alloc(memory, sizeof *out);
  *why = "the function has too many parameters";
  if (!out || k->n_params > (int)(sizeof out->arrays / sizeof *out->arrays)) return NULL;
  void *library = load(b, k, m, callee, compiler, source);
  void (*set_threads)(int) = NULL;
  if (library) {
    *(void **)(&out->call) = dlsym(library, "tirc_bench_call");
    *(void **)(&set_threads) = dlsym(library, "tirc_bench_threads");
  }
  if (set_threads) set_threads(k->at.threads);
  for (int i = 0; i < k->n_params; i++)
    if (args[i].array) out->arrays[i] = tirc_array_data(args[i].array);
  *why = "the C compiler fails";
  if (!out->call) return NULL;
  *why = NULL;
  return out;
}

static void take_name(void *self, const char *func, const char *symbol) {
  (void)func;
  snprintf(self, NAME_SIZE, "%s",
           symbol); /* the last one: those that pack for it stand before it */
}

Compiled *compile_contender(const Bench *b, const Case *k, const tirc_module *m,
                            const char *compiler, const tirc_argument *args, const char **why,
                            tirc_error **e) {
  static const char main_name[] = "bench_kernel";
  char *source = NULL, callee[NAME_SIZE] = "";
  size_t n = 0;
  *why = "it has no form in C";
  Compiled *out = NULL;
  if (!tirc_module_emit(m, TIRC_EMIT_C, b->how.target, main_name, &source, &n, e) &&
      !tirc_module_emitted_names(m, main_name, take_name, callee, e))
    out = compile_source(b, k, m, callee, compiler, source, args, why);
  tirc_string_free(source);
  return out;
}

void call_compiled(const Compiled *c) { (void)c->call((void **)(uintptr_t)c->arrays); }

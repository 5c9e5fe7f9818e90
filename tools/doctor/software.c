/* What tirc is built with, what it loads when that is there, what it calls, and where it writes. */
#define _GNU_SOURCE
#include "doctor.h"
#include "tools/bench/rivals.h"
#include "tools/results/database.h"

#include "codegen/llvm/llvm.h"
#include "passes/search/model.h"
#include "runtime/database/driver.h"

#include <dlfcn.h>
#include <isl/version.h>
#include <json-c/json_c_version.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

/* --- libraries -------------------------------------------------------------------------------- */

static void examine_linked(Doctor *d) {
  note(d, "software", "tirc", "%s", tirc_version());
  const char *const isl = isl_version();
  note(d, "software", "isl", "%.*s", (int)strcspn(isl, "\n"), isl);
  note(d, "software", "SQLite", "%s", sqlite3_libversion());
  note(d, "software", "json-c", "%s", json_c_version());
  note(d, "software", "libzip", "%s", zip_libzip_version());
#ifdef WITHOUT_ONNX
  note(d, "software", "ONNX", "left out when tirc was built");
#endif
}

/* One that is loaded when it is there: its version as text. `lacks`: what its header's absence cost
 * when tirc was built, or NULL. `fault`: what is wrong with it, or NULL; without the function,
 * nothing is broken without the library. */
typedef struct Loaded {
  const char *name, *without, *advice;
  void *(*library)(void);
  void (*version)(void *library, char *out, size_t n);
  const char *lacks;
  const char *(*fault)(Tirc *c);
} Loaded;

#ifdef HAVE_DNNL_H
static const char dnnl_advice[] = "on Debian: apt-get install libdnnl2";
#define DNNL_LACKS NULL
#else
static const char dnnl_advice[] =
    "on Debian: apt-get install libdnnl2 libdnnl-dev, then build tirc again";
#define DNNL_LACKS                                                                                 \
  "its header was missing when tirc was built: plain products only, no onednn-prepacked"
#endif

static void llvm_version(void *library, char *out, size_t n) {
  void (*version)(unsigned *, unsigned *, unsigned *) = NULL;
  unsigned major = 0, minor = 0, patch = 0;
  *(void **)(&version) = dlsym(library, "LLVMGetVersion");
  if (version) version(&major, &minor, &patch);
  snprintf(out, n, "%u.%u.%u", major, minor, patch);
}

static void libpq_version(void *library, char *out, size_t n) {
  int (*version)(void) = NULL;
  *(void **)(&version) = dlsym(library, "PQlibVersion");
  const int v = version ? version() : 0;
  snprintf(out, n, "%d.%d", v / 10000, v % 10000);
}

static void xgboost_version(void *library, char *out, size_t n) {
  void (*version)(int *, int *, int *) = NULL;
  int major = 0, minor = 0, patch = 0;
  *(void **)(&version) = dlsym(library, "XGBoostVersion");
  if (version) version(&major, &minor, &patch);
  snprintf(out, n, "%d.%d.%d", major, minor, patch);
}

static void openblas_version(void *library, char *out, size_t n) {
  char *(*config)(void) = NULL;
  *(void **)(&config) = dlsym(library, "openblas_get_config");
  snprintf(out, n, "%s", config ? config() : "unknown");
}

static void dnnl_version(void *library, char *out, size_t n) {
  const int *(*version)(void) = NULL; /* major, minor, patch, and more */
  *(void **)(&version) = dlsym(library, "dnnl_version");
  const int *v = version ? version() : NULL;
  snprintf(out, n, "%d.%d.%d", v ? v[0] : 0, v ? v[1] : 0, v ? v[2] : 0);
}

static const Loaded loaded[] = {
    {"LLVM", "no machine code: the interpreter and source are there",
     "on Debian: apt-get install libllvm19; else LLVM 19, or name its library in $TIRC_LLVM",
     tirc_llvm_library, llvm_version, NULL, tirc_llvm_missing},
    {"libpq", "no database on a server", "on Debian: apt-get install libpq5", tirc_postgres_library,
     libpq_version},
    {"XGBoost", "tune learns nothing on the way, and no tirc learn",
     "on Debian: apt-get install libxgboost0", tirc_model_library, xgboost_version},
    {"OpenBLAS", "no bench --vs openblas", "on Debian: apt-get install libopenblas0-pthread",
     openblas_library, openblas_version},
    {"oneDNN", "no bench --vs onednn", dnnl_advice, dnnl_library, dnnl_version, DNNL_LACKS},
};
enum { N_LOADED = sizeof loaded / sizeof *loaded };

static void examine_one(Doctor *d, const Loaded *l) {
  char version[200];
  void *library = l->library();
  const char *fault = l->fault ? l->fault(memory) : NULL;
  const char *lacks = l->lacks ? l->lacks : "", *and = l->lacks ? "; " : "";
  if (library && !fault) {
    l->version(library, version, sizeof version);
    note(d, "software", l->name, "%s%s%s", version, and, lacks);
    if (l->lacks) advise(d, AMISS, l->advice);
    return;
  }
  note(d, "software", l->name, "%s: %s%s%s%s%s%s", library ? "not usable" : "not installed",
       l->without, and, lacks, fault ? " (" : "", fault ? fault : "", fault ? ")" : "");
  advise(d, l->fault ? BROKEN : AMISS, l->advice);
}

static void examine_loaded(Doctor *d) {
  for (int i = 0; i < N_LOADED; i++) examine_one(d, &loaded[i]);
}

/* --- commands --------------------------------------------------------------------------------- */

/* The first line that `command --version` prints; false: there is no such command. */
static bool version_of(const char *command, char *out, size_t n) {
  char *line = NULL;
  *out = 0;
  line = tirc_format(memory, "%s --version 2>/dev/null", command);
  FILE *f = popen(line, "r");
  if (!f) return false;
  const bool any = fgets(out, (int)n, f) != NULL;
  while (fgetc(f) != EOF) {
  }
  out[strcspn(out, "\n")] = 0;
  return pclose(f) == 0 && any;
}

static void examine_commands(Doctor *d) {
  char version[200];
  const char *compiler = first_compiler();
  if (compiler && version_of(compiler, version, sizeof version)) {
    note(d, "software", "C compiler", "%s: %s", compiler, version);
  } else {
    note(d, "software", "C compiler", "none: no bench --backend=c, no --vs c");
    advise(d, AMISS, "on Debian: apt-get install clang-19, or gcc");
  }
  if (!version_of("cc", version, sizeof version)) {
    note(d, "software", "linker", "there is no cc: no build --emit=lib");
    advise(d, AMISS, "on Debian: apt-get install gcc, or set CC");
  }
  if (version_of("gnuplot", version, sizeof version)) {
    note(d, "software", "gnuplot", "%s", version);
  } else {
    note(d, "software", "gnuplot", "not installed: no bench --plot");
    advise(d, AMISS, "on Debian: apt-get install gnuplot-nox");
  }
}

/* --- the database, and where files go --------------------------------------------------------- */

typedef struct Stock {
  int tasks;
  long long trials;
} Stock;

static bool count_task(void *self, const tirc_db_task *t) {
  Stock *stock = self;
  stock->tasks++;
  stock->trials += t->n_done;
  return true;
}

/* "message; hint" of an error, which is freed. */
static void put_error(char *out, size_t n, tirc_error *e) {
  snprintf(out, n, "%s", e ? tirc_error_get(e, TIRC_ERROR_MESSAGE) : "out of memory");
  tirc_error_free(e);
}

static void examine_what_it_holds(Doctor *d, tirc_db *db) {
  const char *name = tirc_db_name(db);
  Stock stock = {0};
  tirc_error *e = NULL;
  char why[300];
  const bool is_file = !strstr(name, "://");
  if (tirc_db_tasks(db, &(tirc_db_filter){0}, count_task, &stock, &e)) {
    put_error(why, sizeof why, e);
    note(d, "files", "database", "%s: %s", name, why);
    advise(d, BROKEN, "name another one with --database or TIRC_DATABASE");
    return;
  }
  note(d, "files", "database", "%s: %lld trial%s of %d task%s", name, stock.trials,
       plural(stock.trials), stock.tasks, plural(stock.tasks));
  if (is_file && access(name, W_OK) != 0)
    advise(d, AMISS, "it may only be read: --tuned works, tirc tune needs another --database");
}

static void examine_database(Doctor *d) {
  tirc_db *db = NULL;
  tirc_error *e = NULL;
  char why[300];
  const tirc_status status = tirc_db_open(d->o->asked.database, TIRC_DB_READ, &db, &e);
  if (status == TIRC_OK) {
    examine_what_it_holds(d, db);
    tirc_db_close(db);
    return;
  }
  put_error(why, sizeof why, e);
  note(d, "files", "database", "%s", why);
  if (status == TIRC_BAD)
    advise(d, BROKEN, "name another one with --database or TIRC_DATABASE, or make this one usable");
}

static void examine_code_cache(Doctor *d) {
  tirc_code_cache cache = {0};
  tirc_error *e = NULL;
  char why[300];
  const bool cleared = !d->o->clear_cache || tirc_code_cache_clear(&e) == TIRC_OK;
  if (!cleared || tirc_code_cache_look(true, &cache, &e) != TIRC_OK) {
    put_error(why, sizeof why, e);
    note(d, "files", "code cache", "%s", why);
    advise(d, BROKEN, "remove its folder, or name another one with TIRC_CACHE");
  } else if (!*cache.folder && !*cache.problem) {
    note(d, "files", "code cache", "off: each run compiles");
  } else {
    note(d, "files", "code cache", "%s: %lld entries, %.1f of %lld MB%s%s", cache.folder,
         (long long)cache.entries, (double)cache.bytes / (1 << 20), (long long)(cache.limit >> 20),
         *cache.problem ? "; " : "", cache.problem);
    if (*cache.problem)
      advise(d, AMISS, "set TIRC_CACHE to a folder that you alone can write into, or to off");
  }
}

static void examine_calibration(Doctor *d) {
  tirc_calibration k = {0};
  char why[300];
  tirc_error *e = NULL;
  if (tirc_calibration_look(&k, &e) != TIRC_OK) {
    put_error(why, sizeof why, e);
    note(d, "files", "calibration", "%s", why);
  } else if (*k.date) {
    note(d, "files", "calibration", "%s: of %s, on %s", k.file, k.date, k.table);
  } else if (*k.problem) {
    note(d, "files", "calibration", "%s; rules take %s", k.problem, k.table);
    if (!k.begun) advise(d, AMISS, "tirc calibrate writes it anew");
  } else {
    note(d, "files", "calibration", "%s: rules take %s (tirc calibrate measures it)",
         *k.file ? "none" : "off", k.table);
  }
  if (!k.begun) return;
  note(d, "files", "calibration", "%s.begun: it was interrupted", k.file);
  advise(d, AMISS, "tirc calibrate goes on");
}

static void examine_folder(Doctor *d, const char *name, const char *path, Health without,
                           const char *advice) {
  const bool writable = access(path, W_OK | X_OK) == 0;
  note(d, "files", name, "%s%s", path, writable ? "" : ": nothing can be written there");
  if (!writable) advise(d, without, advice);
}

/* --- devices ---------------------------------------------------------------------------------- */

static void examine_device(void *self, const tirc_device_info *i) {
  note(self, "devices", strncmp(i->device, "cuda", 4) == 0 ? "CUDA" : "OpenCL",
       "--device %s: %s (%s, %s), %d cores, %.3g GiB; of a block %lld threads, %lld KiB", i->device,
       i->name, i->platform, i->version, i->cores, (double)i->memory / (1 << 30),
       (long long)i->threads, (long long)(i->shared / 1024));
}

/* Few machines have CUDA, and nothing is amiss without. */
static void examine_devices(Doctor *d) {
  static const struct {
    const char *kind, *name;
    bool is_amiss;
  } kinds[] = {{"opencl", "OpenCL", true}, {"cuda", "CUDA", false}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    tirc_error *e = NULL;
    if (tirc_devices_of(kinds[i].kind, examine_device, d, &e) == TIRC_OK) continue;
    note(d, "devices", kinds[i].name, "%s: no run --device %s", tirc_error_message(e),
         kinds[i].kind);
    if (kinds[i].is_amiss && tirc_error_get(e, TIRC_ERROR_HINT))
      advise(d, AMISS, tirc_error_get(e, TIRC_ERROR_HINT));
    tirc_error_free(e);
  }
}

void examine_software(Doctor *d) {
  const char *tmp = getenv("TMPDIR");
  char here[256];
  examine_linked(d);
  examine_loaded(d);
  examine_devices(d);
  examine_commands(d);
  examine_database(d);
  examine_code_cache(d);
  examine_calibration(d);
  examine_folder(d, "temporary files", tmp && *tmp ? tmp : "/tmp", BROKEN,
                 "set TMPDIR: tune, bench --backend=c and build --emit=lib need it");
  if (getcwd(here, sizeof here))
    examine_folder(d, "this folder", here, AMISS, "give -o a file elsewhere");
}

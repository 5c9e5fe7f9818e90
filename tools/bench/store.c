/* `--store`: the samples of each case, stored as soon as it is measured: all contenders of it or
 * none, so that whatever ends the process costs at most the case that is being measured. What the
 * database cannot take (its disk is full, others have locked it) stays here and is tried again
 * after the next case.
 *
 * A result's samples are all timed calls in the order of time; "turns" in its `more` says how many
 * of them each turn had. Turn i of one contender and turn i of another were taken in the same round
 * (runtime/measure/turns.h), which pairs them. Its seconds are the median of the turns' medians. */
#define _GNU_SOURCE
#include "rivals.h"
#include "tools/kit/json.h"
#include "tools/results/database.h"
#include "tools/results/held.h"

#include <llvm/Config/llvm-config.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* --- what a run has in common ----------------------------------------------------------------- */

static char *machine_description(const Profile *p) {
  Json *j = json_object_new_object();
  add_some(j, "cpu", p->cpu);
  add_int(j, "cores", p->cores);
  add_int(j, "l1_bytes", p->l1);
  add_int(j, "l2_bytes", p->l2);
  add_int(j, "l3_bytes", p->l3);
  return json_string(j, true);
}

char *environment_description(const Bench *b) {
  Json *j = json_object_new_object();
  struct utsname system;
  tirc_calibration calibration;
  add_some(j, "tirc", tirc_version());
  add_some(j, "llvm", LLVM_VERSION_STRING);
  if (uname(&system) == 0)
    add_text(j, "system",
             tirc_format(memory, "%s %s %s", system.sysname, system.release, system.machine));
  add_some(j, "governor", b->profile.governor);
  if (strcmp(b->target.name, "native") == 0 && !tirc_calibration_look(&calibration, NULL))
    add_some(j, "calibration", calibration.date);
  for (int i = 0; i < b->n_rivals; i++) add_some(j, b->rivals[i].rival->name, b->rivals[i].kernels);
  return json_string(j, true);
}

static void put_word(FILE *to, const char *word) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=.,/:+@%";
  if (*word && !word[strspn(word, plain)]) {
    fputs(word, to);
    return;
  }
  fputc('\'', to);
  for (; *word; word++) fputs(*word == '\'' ? "'\\''" : (char[]){*word, 0}, to);
  fputc('\'', to);
}

/* What was typed, for a shell; of a database's URL no password. */
static char *typed(const char *given, const char *shown) {
  char *out = NULL;
  size_t size;
  FILE *f = begin_text(&out, &size);
  for (int i = 0; i < speech.words.n; i++) {
    const char *word = i ? speech.words.at[i] : "tirc", *url = strstr(word, given);
    if (i) fputc(' ', f);
    if (*given && url && strcmp(url, given) == 0) {
      fprintf(f, "%.*s", (int)(url - word), word);
      word = shown;
    }
    put_word(f, word);
  }
  return end_text(f, &out);
}

static void name_session(char *out, size_t size) {
  char when[32] = "", host[64] = "";
  const time_t now = time(NULL);
  struct tm parts;
  if (gmtime_r(&now, &parts)) strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &parts);
  gethostname(host, sizeof host - 1);
  snprintf(out, size, "%s %s %ld", when, host, (long)getpid());
}

int open_store(Bench *b) {
  ResultStore *s = &b->store;
  tirc_error *e = NULL;
  int status = open_database(b->how.database, TIRC_DB_WRITE, &s->db);
  if (status != DONE) return status;
  char *environment = environment_description(b);
  name_session(s->session, sizeof s->session);
  tirc_machine_profile(s->profile, sizeof s->profile);
  s->machine = machine_description(&b->profile);
  s->command = typed(b->how.database, tirc_db_name(s->db));
  if (tirc_db_put_environment(s->db, environment, &s->environment, &e)) status = report(e);
  return status;
}

/* --- a case ----------------------------------------------------------------------------------- */

static char *describe_setting(const Case *k) {
  Json *j = json_object_new_object();
  add_some(j, "kernel", k->at.kernel);
  add_setting(j, k);
  return json_string(j, true);
}

static const char *kind_of(const Contender *c) {
  return c->ceiling ? "ceiling" : c->rival ? "library" : c->plain ? "program" : "schedule";
}

static char *describe(const Bench *b, const Case *k, const Contender *c) {
  Json *j = json_object_new_object();
  const char *names[N_DISTURBANCES];
  add_some(j, "kind", kind_of(c));
  add_some(j, "setting", k->at.setting);
  add_some(j, "program", k->file);
  add_some(j, "runs", c->note);
  add_some(j, "compiler", c->compiler);
  add_some(j, "without", c->without ? c->without->name : NULL);
  if (c->ahead) add_bool(j, "packed_ahead", true);
  keep_work(j, &k->at.work);
  add_int(j, "huge_page_bytes", k->huge_bytes);
  add_number(j, "clock_drop", tirc_clock_drop(&k->meanwhile));
  add_int(j, "attempts", k->meanwhile.attempts);
  add_number(j, "seconds_asked_for", b->how.seconds);
  if (b->how.pin) add_bool(j, "pinned", true);
  keep_figures(j, &c->f, list_disturbances(k, names), names);
  return json_string(j, true);
}

/* "goto", and as C "goto/c": with one backend the table has no need of that. */
static void name_contender(const Bench *b, const Contender *c, char *out, size_t size) {
  const char *backend = NULL;
  for (int i = 0; b->n_backends == 1 && c->compiler && i < b->n_backends; i++)
    backend = b->backends[i].name;
  snprintf(out, size, "%s%s%s", c->name, backend ? "/" : "", backend ? backend : "");
}

static tirc_status put_contender(const Bench *b, const Case *k, const Contender *c,
                                 const char *setting, tirc_error **e) {
  const ResultStore *s = &b->store;
  const tirc_db_described machine = {s->profile, s->machine};
  char *name = name_of_case(k), *more = describe(b, k, c), contender[256];
  const bool ran = c->f.median > 0;
  name_contender(b, c, contender, sizeof contender);
  const tirc_db_result r = {.session = s->session,
                            .module = k->program,
                            .name = name,
                            .setting = setting,
                            .contender = contender,
                            .schedule = c->ahead ? c->ahead->schedule : c->schedule,
                            .target = b->target.name,
                            .threads = k->at.threads,
                            .machine = &machine,
                            .code = ran ? NULL : c->f.code,
                            .message = ran ? NULL : c->f.message,
                            .seconds = ran ? c->f.median : 0,
                            .n_samples = ran ? c->f.n_samples : 0,
                            .samples = c->f.samples,
                            .disturbed = k->meanwhile.disturbance > 1,
                            .conditions = {.clock_low = k->meanwhile.clock_low * 1e-9,
                                           .clock_high = k->meanwhile.clock_high * 1e-9,
                                           .load = k->meanwhile.load,
                                           .pages = b->profile.huge_pages,
                                           .environment = s->environment,
                                           .command = s->command,
                                           .seed = b->o->seed},
                            .more = more};
  return tirc_db_put_result(s->db, &r, e);
}

static tirc_status put_case(const Bench *b, const Case *k, tirc_error **e) {
  char *setting = describe_setting(k);
  tirc_status status = tirc_db_begin(b->store.db, e);
  for (int i = 0; i < k->n_contenders && status == TIRC_OK; i++)
    if (k->contenders[i].f.median > 0 || k->contenders[i].f.code)
      status = put_contender(b, k, &k->contenders[i], setting, e);
  if (status == TIRC_OK)
    status = tirc_db_commit(b->store.db, e);
  else
    tirc_db_rollback(b->store.db);
  return status;
}

/* All that wait, the oldest first; the first that fails ends it. */
static tirc_status put_waiting(Bench *b, tirc_error **e) {
  for (int i = 0; i < b->n_measured; i++) {
    Case *k = &b->cases[i];
    if (!k->unstored) continue;
    if (put_case(b, k, e)) return TIRC_BAD;
    k->unstored = false;
  }
  return TIRC_OK;
}

void store_case(Bench *b, Case *k) {
  tirc_error *e = NULL;
  if (!b->store.db) return;
  k->unstored = true;
  if (put_waiting(b, &e))
    fprintf(stderr,
            "%s%s %s is not in the database yet, which is tried again after the next "
            "setting: %s\n",
            speech.progress ? "\r\033[K" : "", k->at.kernel, k->at.setting, tirc_error_message(e));
  tirc_error_free(e);
}

static int count_waiting(const Bench *b) {
  int n = 0;
  for (int i = 0; i < b->n_measured; i++) n += b->cases[i].unstored;
  return n;
}

int rescue_store(Bench *b, const char *path) {
  ResultStore *s = &b->store;
  tirc_error *e = NULL;
  tirc_db *other = NULL;
  char *environment = NULL;
  if (!s->db || !put_waiting(b, &e)) return DONE;
  const int n = count_waiting(b);
  char *description = environment_description(b);
  if (!description || tirc_db_open(path, TIRC_DB_WRITE, &other, NULL) ||
      tirc_db_put_environment(other, description, &environment, NULL)) {
    tirc_db_close(other);
    tirc_error_free(e);
    return BAD; /* close_store tries once more and says why */
  }
  tirc_db_close(s->db);
  tirc_string_free(s->environment);
  s->db = other;
  s->environment = environment;
  char *hint = tirc_format(memory, "`tirc db merge %s` takes them there", path);
  complain(hint, "%d setting%s in %s, not in the database: %s", n, n == 1 ? " is" : "s are", path,
           tirc_error_message(e));
  tirc_error_free(e);
  return BAD;
}

int close_store(Bench *b) {
  ResultStore *s = &b->store;
  tirc_error *e = NULL;
  int status = DONE;
  if (s->db && put_waiting(b, &e)) {
    const int n = count_waiting(b);
    status = complain("the tables above have their figures, and --figures FILE keeps them",
                      "%d setting%s not in the database: %s", n, n == 1 ? " is" : "s are",
                      tirc_error_message(e));
  }
  tirc_error_free(e);
  tirc_string_free(s->environment);
  tirc_db_close(s->db);
  s->db = NULL;
  s->environment = NULL;
  return status;
}

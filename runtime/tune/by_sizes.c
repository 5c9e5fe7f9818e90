/* See by_sizes.h. Which sizes a program was tuned for stands in the database's table of what was
 * learnt: kind "sizes of HASH", of the program without sizes, by target:
 *
 *   {"sizes": ["m=1,16", "n=1,4,64-512"]} */
#include "by_sizes.h"

#include "ir/cpu.h"
#include "ir/number.h"
#include "passes/schedule/schedule.h"
#include "runtime/api/api.h"
#include "runtime/kernel/pool.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

/* --- the note --------------------------------------------------------------------------------- */

/* The name that the note of m has. */
typedef struct Kind {
  char text[64];
} Kind;
static tirc_status name_note(const tirc_module *m, Kind *out, tirc_error **error) {
  tirc_module *plain = NULL;
  char *hash = NULL;
  tirc_status status = tirc_module_for_sizes(m, 0, NULL, &plain, error);
  if (status == TIRC_OK) status = tirc_module_hash(plain, &hash, error);
  if (status == TIRC_OK) snprintf(out->text, sizeof out->text, "sizes of %s", hash);
  tirc_module_free(plain);
  tirc_string_free(hash);
  return status;
}

static struct json_object *note_of(int n, const tirc_size_range *at) {
  struct json_object *list = json_object_new_array(), *o = json_object_new_object();
  for (int i = 0; i < n;) {
    char text[1024];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", at[i].name);
    const char *between = "=";
    const char *const name = at[i].name;
    for (; i < n && !strcmp(at[i].name, name) && used < sizeof text; i++, between = ",") {
      const bool pair = at[i].least < at[i].most;
      used += (size_t)snprintf(text + used, sizeof text - used, pair ? "%s%lld-%lld" : "%s%lld",
                               between, (long long)at[i].least, (long long)at[i].most);
    }
    json_object_array_add(list, json_object_new_string(text));
  }
  json_object_object_add(o, "sizes", list);
  return o;
}

tirc_status tirc_module_keep_sizes(const tirc_module *m, const char *database, const char *target,
                                   tirc_error **error) {
  NEED(m);
  tirc_db *db = NULL;
  tirc_size_range *at = NULL;
  int n = 0;
  Kind kind;
  tirc_status status = name_note(m, &kind, error);
  if (status == TIRC_OK) status = tirc_module_sizes(m, &n, &at, error);
  if (status == TIRC_OK)
    status = tirc_db_open(database && *database ? database : NULL, TIRC_DB_WRITE, &db, error);
  if (status == TIRC_OK) {
    struct json_object *note = note_of(n, at);
    const tirc_db_model row = {.kind = kind.text,
                               .target = tirc_cpu_or_default(target),
                               .description = json_object_to_json_string(note),
                               .trained_on = n};
    status = tirc_db_put_model(db, &row, error);
    json_object_put(note);
  }
  tirc_db_close(db);
  tirc_sizes_free(at);
  return status;
}

/* The program with the sizes that a note lists; what does not fit it is passed over. NULL: none. */
static tirc_module *with_note(const tirc_module *m, const char *note) {
  struct json_object *o = json_tokener_parse(note), *list;
  tirc_module *now = NULL;
  if (json_object_is_type(o, json_type_object) && json_object_object_get_ex(o, "sizes", &list) &&
      json_object_is_type(list, json_type_array))
    for (size_t i = 0; i < json_object_array_length(list); i++) {
      const char *text = json_object_get_string(json_object_array_get_idx(list, i));
      tirc_module *next = NULL;
      if (!text || tirc_module_with_sizes(now ? now : m, text, &next, NULL) != TIRC_OK) continue;
      tirc_module_free(now);
      now = next;
    }
  json_object_put(o);
  return now;
}

/* --- records ---------------------------------------------------------------------------------- */

enum { MOST_NAMES = 8, MOST_RECORDS = 64 };

/* Of one number or range of each size. */
typedef struct SizeRecord {
  char sizes[256];   /* as people read it: n=64-512 */
  tirc_module *made; /* NULL: the database has none */
  bool fits;
  char failure[200]; /* why it does not */
} SizeRecord;

typedef struct BySizes {
  const tirc_module *m;
  const char *target;
  int threads;
  const tirc_auto_options *how;
  tirc_schedule_options quiet;
  tirc_db *db;
  int n_asked;
  tirc_size_range *asked;
  int n;
  SizeRecord at[MOST_RECORDS];
} BySizes;

static int64_t middle_of(const tirc_size_range *r) { return (r->least + r->most + 1) / 2; }

/* What was asked for that a copy with these sizes in mind is of: a range of each size that was
 * asked for. 0: it is of others. */
static int ranges_of(const BySizes *b, Value sizes, tirc_size_range *out) {
  const ValueList *l = sizes.kind == VAL_DICT ? sizes.u.list : NULL;
  int n = 0, names = 0;
  for (int i = 0; i < b->n_asked; i++)
    names += i == 0 || strcmp(b->asked[i].name, b->asked[i - 1].name) != 0;
  for (int i = 0; l && i + 1 < l->n; i += 2) {
    bool found = false;
    for (int k = 0; k < b->n_asked && !found; k++) {
      const tirc_size_range *r = &b->asked[k];
      found = l->at[i].kind == VAL_STR && !strcmp(l->at[i].u.s, r->name) &&
              l->at[i + 1].kind == VAL_INT && l->at[i + 1].u.i == middle_of(r) && n < MOST_NAMES;
      if (found) out[n++] = *r;
    }
    if (!found) return 0;
  }
  return n == names ? n : 0;
}

static void describe(int n, const tirc_size_range *at, char *out, size_t size) {
  size_t used = 0;
  *out = 0;
  for (int i = 0; i < n && used < size; i++) {
    const char *form = at[i].least < at[i].most ? "%s%s=%lld-%lld" : "%s%s=%lld";
    used += (size_t)snprintf(out + used, size - used, form, i ? " " : "", at[i].name,
                             (long long)at[i].least, (long long)at[i].most);
  }
}

static void look_up(BySizes *b, int n, const tirc_size_range *at, SizeRecord *r) {
  tirc_module *alone = NULL;
  tirc_db_trial *best = NULL;
  tirc_error *e = NULL;
  char reason[400];
  if (tirc_module_for_sizes(b->m, n, at, &alone, NULL) == TIRC_OK &&
      tirc_best_record(b->db, alone, b->target, b->threads, &best, &e) == TIRC_OK &&
      tirc_replay_record(alone, best->trace, &b->quiet, &r->made, NULL) == TIRC_OK && b->how &&
      b->how->tried) {
    tirc_snprintf(reason, sizeof reason, "%s: trial %.10s, which took %.4g ms", r->sizes, best->id,
                  best->seconds * 1e3);
    b->how->tried(b->how->self, tirc_module_function(b->m, 0), "the database", true, reason);
  }
  tirc_error_free(e);
  tirc_db_trial_free(best);
  tirc_module_free(alone);
}

static SizeRecord *record_for(BySizes *b, Value sizes, bool look) {
  tirc_size_range at[MOST_NAMES];
  char text[sizeof b->at[0].sizes];
  const int n = ranges_of(b, sizes, at);
  if (!n) return NULL;
  describe(n, at, text, sizeof text);
  for (int i = 0; i < b->n; i++)
    if (!strcmp(b->at[i].sizes, text)) return &b->at[i];
  if (!look || b->n == MOST_RECORDS) return NULL;
  SizeRecord *r = &b->at[b->n++];
  *r = (SizeRecord){0};
  memcpy(r->sizes, text, sizeof text);
  look_up(b, n, at, r);
  return r;
}

static const Trace *find_record(void *self, Sched *s, Value sizes) {
  SizeRecord *r = record_for(self, sizes, true);
  if (!r || !r->made) return NULL;
  tirc_context_depend(s->c, r->made->c);
  return r->made->trace;
}

static void told(void *self, Value sizes, const char *failure) {
  SizeRecord *r = record_for(self, sizes, false);
  if (!r) return;
  r->fits |= failure == NULL;
  if (failure) snprintf(r->failure, sizeof r->failure, "%s", failure);
}

/* Of sizes without a schedule that fits: one warning for all of them. */
static tirc_status tell_missing(const BySizes *b, const tirc_schedule_options *options,
                                tirc_error **error) {
  char list[400] = "", message[640];
  size_t used = 0;
  for (int i = 0; i < b->n; i++)
    if (!b->at[i].fits && used < sizeof list)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s%s%s%s%s", used ? ", " : "",
                               b->at[i].sizes, *b->at[i].failure ? " (" : "", b->at[i].failure,
                               *b->at[i].failure ? ")" : "");
  if (!used) return TIRC_OK;
  snprintf(message, sizeof message,
           "the database has no schedule that fits this program at %s for %d thread%s and %s: the "
           "rules schedule it there; tirc tune --sizes looks for one",
           list, b->threads, b->threads == 1 ? "" : "s", b->target);
  return tirc_not_tuned(options, message, error);
}

static tirc_status choose_by_sizes(BySizes *b, const tirc_schedule_options *options,
                                   tirc_module **out, tirc_error **error) {
  const SchedRecords records = {find_record, told, b};
  tirc_status status = tirc_module_sizes(b->m, &b->n_asked, &b->asked, error);
  if (status == TIRC_OK) status = tirc_api_auto(b->m, b->how, options, &records, out, error);
  if (status == TIRC_OK) {
    status = tell_missing(b, options, error);
    if (status != TIRC_OK) tirc_module_free(*out);
  }
  for (int i = 0; i < b->n; i++) tirc_module_free(b->at[i].made);
  tirc_sizes_free(b->asked);
  return status;
}

/* The program with the sizes that it was tuned for; NULL: nobody did. */
static tirc_module *noted(const tirc_module *m, tirc_db *db, const char *target) {
  tirc_db_model *row = NULL;
  tirc_error *e = NULL;
  tirc_module *to = NULL;
  Kind kind;
  if (name_note(m, &kind, &e) == TIRC_OK &&
      tirc_db_get_model(db, kind.text, target, &row, &e) == TIRC_OK)
    to = with_note(m, row->description);
  tirc_db_model_free(row);
  tirc_error_free(e);
  return to;
}

bool tirc_tuned_by_sizes(const tirc_module *m, const char *database, int threads,
                         const tirc_auto_options *how, const tirc_schedule_options *options,
                         tirc_module **out, tirc_status *status, tirc_error **error) {
  tirc_db *db = NULL;
  tirc_error *e = NULL;
  tirc_size_range *asked = NULL;
  int n = 0;
  const char *target = tirc_cpu_or_default(options ? options->target : NULL);
  const bool opened =
      tirc_db_open(database && *database ? database : NULL, TIRC_DB_READ, &db, &e) == TIRC_OK;
  tirc_error_free(e);
  if (!opened) return false;
  (void)tirc_module_sizes(m, &n, &asked, NULL);
  tirc_sizes_free(asked);
  tirc_module *with = n ? NULL : noted(m, db, target);
  BySizes *b = n || with ? calloc(1, sizeof *b) : NULL;
  if (b) {
    *b = (BySizes){.m = with ? with : m,
                   .target = target,
                   .threads = threads ? threads : tirc_default_threads(),
                   .how = how,
                   .db = db};
    if (options) b->quiet = *options;
    b->quiet.warn = NULL;
    b->quiet.trace = NULL;
    *status = choose_by_sizes(b, options, out, error);
  }
  const bool done = b != NULL;
  free(b);
  tirc_module_free(with);
  tirc_db_close(db);
  return done;
}

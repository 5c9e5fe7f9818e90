/* The boundary of the library: errors raised inside become values here. */
#include "api.h"
#include "ir/stack.h"
#include "ir/tree/print.h"
#include "ir/utf8.h"

#include <stdlib.h>

struct tirc_error {
  Tirc *c; /* NULL: the error that is there when memory for one is not */
  Diag d;
  const char *excerpt, *ir;
};

static tirc_error out_of_memory = {
    .d = {.status = TIRC_STATUS_BAD, .code = CODE_MEMORY, .message = "out of memory"}};

const char *tirc_version(void) { return TIRC_VERSION; }
int tirc_abi(void) { return TIRC_ABI; }
void tirc_string_free(char *s) { free(s); }

tirc_status tirc_api_no_memory(tirc_error **error) {
  if (error) *error = &out_of_memory;
  return TIRC_BAD;
}

typedef struct Need {
  const char *entry, *names;
  int number; /* of the one that is missing, from 0 */
} Need;

static void refuse(Tirc *c, void *self) {
  const Need *p = self;
  const char *at = p->names;
  int open = 0;
  for (int i = 0; i < p->number; at++) {
    open += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    i += *at == ',' && !open;
  }
  at += strspn(at, " ");
  const char *hint = "tirc.h says which arguments may be NULL";
  int n = (int)strcspn(at, ",");
  if (!strncmp(at, "COUNT(", 6))
    tirc_fail(c, (Loc){0}, CODE_ARGUMENT, NULL, "%s: %.*s is negative", p->entry,
              (int)strcspn(at + 6, ")"), at + 6);
  if (!strncmp(at, "LIST(", 5))
    tirc_fail(c, (Loc){0}, CODE_ARGUMENT, hint, "%s: %.*s is negative, or%.*s is NULL", p->entry,
              n - 5, at + 5, (int)strcspn(at + n + 1, ")"), at + n + 1);
  tirc_fail(c, (Loc){0}, CODE_ARGUMENT, hint, "%s: %.*s is NULL", p->entry, n, at);
}

tirc_status tirc_api_need(const char *entry, const char *names, int n, const void *const *given,
                          tirc_error **error) {
  for (int i = 0; i < n; i++)
    if (!given[i]) return tirc_api_scratch(refuse, &(Need){entry, names, i}, NULL, error);
  return TIRC_OK;
}

const char *tirc_api_name(Tirc *c, const char *s) {
  if (!s) tirc_fail(c, (Loc){0}, CODE_ARGUMENT, NULL, "a name is NULL");
  return s;
}

/* Messages quote what was given. */
static const char *keep(Tirc *c, const char *s) {
  return s ? tirc_utf8_repair(tirc_alloc_array(c, strlen(s) + 1, 3), s) : NULL;
}

static const char *excerpt_of(Tirc *c, const Sources *sources, Loc loc) {
  for (int i = 0; sources && loc.file && loc.line > 0 && i < sources->n; i++)
    if (sources->at[i].name && strcmp(sources->at[i].name, loc.file) == 0)
      return tirc_source_excerpt(c, &sources->at[i], loc.line, loc.column);
  return NULL;
}

/* A copy in a context of its own: the failing one goes away. */
tirc_error *tirc_api_error(const Diag *d, const Sources *sources) {
  Tirc *c = tirc_context_new();
  Trap trap;
  if (!c) return &out_of_memory;
  if (TIRC_TRY(c, trap)) {
    tirc_error *e = tirc_new(c, tirc_error);
    *e = (tirc_error){.c = c, .d = *d};
    e->d.message = keep(c, d->message ? d->message : "an error without a message");
    e->d.loc.file = keep(c, d->loc.file);
    e->d.primitive = keep(c, d->primitive);
    e->d.call = keep(c, d->call);
    e->d.condition = keep(c, d->condition);
    e->d.hint = keep(c, d->hint);
    e->ir = tirc_print_marked(c, d->ir);
    e->excerpt = keep(c, excerpt_of(c, sources, d->loc));
    TIRC_END(c, trap);
    return e;
  }
  tirc_context_release(c);
  return &out_of_memory;
}

typedef struct Guarded {
  Tirc *c;
  void (*body)(Tirc *c, void *self);
  void *self;
  const Sources *sources;
  tirc_error **error;
  tirc_status status;
} Guarded;

static void guarded(void *self) {
  Guarded *g = self;
  Trap trap;
  if (TIRC_TRY(g->c, trap)) {
    g->body(g->c, g->self);
    TIRC_END(g->c, trap);
    g->status = TIRC_OK;
    return;
  }
  if (g->error) *g->error = tirc_api_error(&g->c->diag, g->sources);
  g->status = g->c->diag.status == TIRC_STATUS_NO ? TIRC_NO : TIRC_BAD;
}

tirc_status tirc_api_guard(Tirc *c, void (*body)(Tirc *c, void *self), void *self,
                           const Sources *sources, tirc_error **error) {
  Guarded g = {c, body, self, sources, error, TIRC_BAD};
  return tirc_on_stack(STACK_ENOUGH, guarded, &g) ? g.status : tirc_api_no_memory(error);
}

tirc_status tirc_api_scratch(void (*body)(Tirc *c, void *self), void *self, const Sources *sources,
                             tirc_error **error) {
  Tirc *c = tirc_context_new();
  if (!c) return tirc_api_no_memory(error);
  tirc_status status = tirc_api_guard(c, body, self, sources, error);
  tirc_context_release(c);
  return status;
}

static Diag copy_of(Tirc *c, const Diag *d) {
  Diag to = *d;
  const char **const texts[] = {&to.loc.file, &to.message,   &to.primitive,
                                &to.call,     &to.condition, &to.hint};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (*texts[i]) *texts[i] = tirc_strdup(c, *texts[i]);
  if (to.ir) {
    const MarkedModule printed = {.text = tirc_print_marked(c, to.ir)};
    to.ir = tirc_copy(c, &printed, 1);
  }
  return to;
}

void tirc_api_apart(Tirc *c, void (*body)(Tirc *apart, void *self), void *self) {
  Tirc *apart = tirc_context_new();
  if (!apart) tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  apart->next_block_id = c->next_block_id;
  apart->max_bytes = c->max_bytes;
  Trap inner, outer;
  volatile bool failed = true;
  if (TIRC_TRY(c, outer)) {
    if (TIRC_TRY(apart, inner)) {
      body(apart, self);
      failed = false;
      TIRC_END(apart, inner);
    }
    if (failed) c->diag = copy_of(c, &apart->diag);
    TIRC_END(c, outer);
  }
  tirc_context_release(apart);
  if (failed) tirc_throw(c);
}

char *tirc_api_copy(Tirc *c, const char *s, size_t n) {
  char *copy = malloc(n + 1);
  if (!copy) tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  memcpy(copy, s, n);
  copy[n] = 0;
  return copy;
}

tirc_status tirc_error_status(const tirc_error *e) {
  return e && e->d.status == TIRC_STATUS_NO ? TIRC_NO : TIRC_BAD;
}
const char *tirc_error_get(const tirc_error *e, tirc_error_field field) {
  if (!e) return NULL;
  switch (field) {
  case TIRC_ERROR_CODE: return tirc_codes[e->d.code].text;
  case TIRC_ERROR_MESSAGE: return e->d.message;
  case TIRC_ERROR_HINT: return e->d.hint;
  case TIRC_ERROR_FILE: return e->d.loc.file;
  case TIRC_ERROR_EXCERPT: return e->excerpt;
  case TIRC_ERROR_PRIMITIVE: return e->d.primitive;
  case TIRC_ERROR_CALL: return e->d.call;
  case TIRC_ERROR_CONDITION: return e->d.condition;
  case TIRC_ERROR_IR: return e->ir;
  }
  return NULL;
}
int tirc_error_line(const tirc_error *e) { return e ? e->d.loc.line : 0; }
int tirc_error_column(const tirc_error *e) { return e ? e->d.loc.column : 0; }
void tirc_error_free(tirc_error *e) {
  if (e && e->c) tirc_context_release(e->c);
}

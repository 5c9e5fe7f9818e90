/* The cache of compiled code, as its users see it. */
#include "api.h"

#include "codegen/llvm/cache.h"
#include "ir/number.h"

#include <errno.h>
#include <stdio.h>

static void describe(char *out, size_t n, const CodeCache *cache) {
  const int wrong = *cache->folder || cache->is_too_long ? tirc_cache_problem(cache) : 0;
  if (wrong == EPERM)
    snprintf(out, n, "it belongs to another user, or others may write into it");
  else if (wrong)
    snprintf(out, n, "nothing can be kept there: %s", tirc_error_text(wrong));
  else if (cache->is_limit_bad)
    snprintf(out, n, "TIRC_CACHE_MB is not a number of at least 1, so the limit is %d",
             CACHE_USUAL_MB);
}

typedef struct Look {
  bool counts;
  tirc_code_cache *out;
} Look;

static void look(Tirc *c, void *self) {
  const Look *k = self;
  tirc_code_cache *out = k->out;
  const CodeCache cache = tirc_cache_open();
  (void)c;
  *out = (tirc_code_cache){.limit = cache.limit};
  snprintf(out->folder, sizeof out->folder, "%s", cache.folder);
  describe(out->problem, sizeof out->problem, &cache);
  if (k->counts) tirc_cache_count(&cache, &out->entries, &out->bytes);
}

tirc_status tirc_code_cache_look(bool counts, tirc_code_cache *out, tirc_error **error) {
  NEED(out);
  return tirc_api_scratch(look, &(Look){counts, out}, NULL, error);
}

static void clear(Tirc *c, void *self) {
  const CodeCache cache = tirc_cache_open();
  const int wrong = tirc_cache_clear(&cache);
  (void)self;
  if (wrong)
    tirc_fail(c, (Loc){0}, CODE_FILE, NULL, "an entry of the code cache '%s' cannot be removed: %s",
              cache.folder, tirc_error_text(wrong));
}

tirc_status tirc_code_cache_clear(tirc_error **error) {
  return tirc_api_scratch(clear, NULL, NULL, error);
}

/* Searching: the door to passes/search. */
#include "api.h"

#include "../codegen/llvm/llvm.h"
#include "../passes/search/space.h"

typedef struct SpaceText {
  const tirc_module *m;
  const char *rules;
  tirc_schedule_options options;
  Sources sources;
  char *text;
} SpaceText;

static void space_text(Tirc *c, void *self) {
  SpaceText *t = self;
  const char *target = t->options.target ? t->options.target : CPU_DEFAULT;
  if (t->rules) t->sources.at[t->sources.n++] = tirc_read_source(c, t->rules);
  const SpaceOptions options = {.path = t->rules,
                                .target = tirc_llvm_cpu(c, target),
                                .intrins = t->m->intrins,
                                .limits = {.steps = t->options.max_steps}};
  const char *text = tirc_space_text(tirc_space_new(c, t->m->m, &options), c);
  t->text = tirc_api_copy(c, text, strlen(text));
}

tirc_status tirc_module_space(const tirc_module *m, const char *rules,
                              const tirc_schedule_options *options, char **text,
                              tirc_error **error) {
  NEED(m, text);
  SpaceText t = {.m = m, .rules = rules, .sources = m->sources};
  if (options) t.options = *options;
  if (t.sources.n > 1) t.sources.n = 1;
  tirc_status status = tirc_api_scratch(space_text, &t, &t.sources, error);
  if (status == TIRC_OK) *text = t.text;
  return status;
}

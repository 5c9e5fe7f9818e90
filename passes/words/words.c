/* The tables of primitives and of ScheduleErrors. */
#include "words.h"

#define STRIP(...) __VA_ARGS__
#define P(name, kind) {#name, PARAM_##kind, NULL, false},
#define D(name, kind, text) {#name, PARAM_##kind, text, false},
#define K(name, kind, text) {#name, PARAM_##kind, text, true},
#define PRIMITIVE(name, params, help, instruction, flags, sentence)                                \
  static const Param params_of_##name[] = {STRIP params};
#include "primitives.def"
#undef PRIMITIVE
#undef P
#undef D
#undef K

const Primitive tirc_primitives[] = {
#define PRIMITIVE(name, params, help, instruction, flags, sentence)                                \
  {#name,                                                                                          \
   (int)(sizeof params_of_##name / sizeof(Param)),                                                 \
   params_of_##name,                                                                               \
   help,                                                                                           \
   instruction,                                                                                    \
   flags,                                                                                          \
   sentence},
#include "primitives.def"
#undef PRIMITIVE
};
const int tirc_n_primitives = (int)(sizeof tirc_primitives / sizeof *tirc_primitives);

const Primitive *tirc_find_primitive(const char *name) {
  name = tirc_word_known(WORD_METHOD, name);
  for (int i = 0; i < tirc_n_primitives; i++)
    if (*tirc_primitives[i].name == *name && !strcmp(tirc_primitives[i].name, name))
      return &tirc_primitives[i];
  return NULL;
}

const Primitive *tirc_instruction_primitive(const char *instruction) {
  instruction = tirc_word_known(WORD_INSTRUCTION, instruction);
  for (int i = 0; i < tirc_n_primitives; i++)
    if (!strcmp(tirc_primitives[i].instruction, instruction)) return &tirc_primitives[i];
  return NULL;
}

const char *tirc_primitive_signature(Tirc *c, const Primitive *p) {
  Text t = {.c = c};
  tirc_text_addf(&t, "%s(", p->name);
  for (int i = 0; i < p->n_params; i++) {
    const Param *param = &p->params[i];
    bool star = param->kind == PARAM_LOOPS;
    bool bare_star = param->keyword_only && !(i && p->params[i - 1].keyword_only);
    tirc_text_addf(&t, "%s%s%s%s", i ? ", " : "", bare_star ? "*, " : "", star ? "*" : "",
                   param->name);
    if (param->default_text) tirc_text_addf(&t, "=%s", param->default_text);
  }
  tirc_text_add(&t, ")");
  return t.at;
}

bool tirc_is_decision(const Param *p) { return !strcmp(p->name, "decision"); }

bool tirc_is_input(const Primitive *of, const Param *p) {
  static const bool is_input[] = {[PARAM_BLOCK] = true,     [PARAM_LOOP] = true,
                                  [PARAM_LOCATION] = true,  [PARAM_BLOCK_OR_LOOP] = true,
                                  [PARAM_LOOPS] = true,     [PARAM_OPT_BLOCKS] = true,
                                  [PARAM_FACTORS] = true,   [PARAM_LOOP_OR_BLOCKS] = true,
                                  [PARAM_INDEX_MAP] = true, [PARAM_ANY] = true};
  if (p->kind == PARAM_INDEX_MAP && of->flags & INST_MAP_IS_ATTR) return false;
  return is_input[p->kind] || of->flags & INST_ALL_INPUTS;
}

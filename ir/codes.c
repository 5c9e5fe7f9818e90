/* The table of codes.def. */
#include "ir/codes.h"

#include "ir/context.h"

const CodeInfo tirc_codes[CODE_COUNT] = {
#define ERROR(id, code, title, hint) [SERR_##id] = {code, title, hint, TIRC_STATUS_NO},
#define ARGUMENT_ERROR(id, code, title, hint) [SERR_##id] = {code, title, hint, TIRC_STATUS_BAD},
#define CODE(id, code, meaning) [CODE_##id] = {code, meaning, NULL, TIRC_STATUS_BAD},
#include "ir/codes.def"
#undef CODE
#undef ARGUMENT_ERROR
#undef ERROR
};

DiagCode tirc_code_of(const char *text, DiagCode otherwise) {
  for (int i = 0; text && i < CODE_COUNT; i++)
    if (!strcmp(tirc_codes[i].text, text)) return (DiagCode)i;
  return otherwise;
}

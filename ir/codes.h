/* The codes of diagnostics: one row each in codes.def, so that a code without a meaning does not
 * compile. */
#ifndef TIRC_IR_CODES_H
#define TIRC_IR_CODES_H

typedef enum DiagCode {
#define ERROR(id, code, title, hint) SERR_##id,
#define ARGUMENT_ERROR(id, code, title, hint) SERR_##id,
#define CODE(id, code, meaning)
#include "ir/codes.def"
#undef CODE
#undef ARGUMENT_ERROR
#undef ERROR
  SERR_COUNT, /* ScheduleErrors come first */
  CODE_BEFORE_FIRST = SERR_COUNT - 1,
#define ERROR(id, code, title, hint)
#define ARGUMENT_ERROR(id, code, title, hint)
#define CODE(id, code, meaning) CODE_##id,
#include "ir/codes.def"
#undef CODE
#undef ARGUMENT_ERROR
#undef ERROR
  CODE_COUNT
} DiagCode;

typedef struct CodeInfo {
  const char *text;    /* "not-single-writer" */
  const char *meaning; /* of a ScheduleError its title */
  const char *hint;    /* of ScheduleErrors; NULL for others */
  int status; /* TIRC_STATUS_NO: a ScheduleError; _BAD: bad input, the call itself was wrong */
} CodeInfo;
extern const CodeInfo tirc_codes[CODE_COUNT];

/* The code of a text; `otherwise` when no row has it. */
DiagCode tirc_code_of(const char *text, DiagCode otherwise);

#endif

/* What every part needs: status values, errors, the ABI. */
#ifndef TIRC_TIRC_BASE_H
#define TIRC_TIRC_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIRC_ABI 3

#define TIRC_API __attribute__((visibility("default")))
#ifdef __cplusplus
#define TIRC_C_BEGIN extern "C" {
#define TIRC_C_END }
#else
#define TIRC_C_BEGIN
#define TIRC_C_END
#endif

TIRC_C_BEGIN

typedef enum tirc_status {
  TIRC_OK = 0,
  TIRC_NO = 1, /* well formed, but the answer is no: a ScheduleError, a failed check */
  TIRC_BAD = 2 /* bad input: syntax, types, arguments, files */
} tirc_status;

TIRC_API const char *tirc_version(void); /* the release, "1.0.0" */
TIRC_API int tirc_abi(void);             /* TIRC_ABI of the library that is loaded */
TIRC_API void tirc_string_free(char *s);

typedef struct tirc_error tirc_error;

/* Every field except the message and the code may be NULL, if the error does not have it. */
typedef enum tirc_error_field {
  TIRC_ERROR_CODE, /* stable: "syntax", "not-single-writer", ...; see tirc_error_table */
  TIRC_ERROR_MESSAGE,
  TIRC_ERROR_HINT,      /* what to do instead */
  TIRC_ERROR_FILE,      /* the place, with tirc_error_line and tirc_error_column */
  TIRC_ERROR_EXCERPT,   /* the source line with a caret below */
  TIRC_ERROR_PRIMITIVE, /* ScheduleErrors: the primitive, */
  TIRC_ERROR_CALL,      /* the call with its arguments, */
  TIRC_ERROR_CONDITION, /* which condition of which definition does not hold, */
  TIRC_ERROR_IR         /* and the program with the offending places underlined */
} tirc_error_field;

TIRC_API tirc_status tirc_error_status(const tirc_error *e);
TIRC_API const char *tirc_error_get(const tirc_error *e, tirc_error_field field);
TIRC_API int tirc_error_line(const tirc_error *e); /* from 1; 0 when there is no place */
TIRC_API int tirc_error_column(const tirc_error *e);
TIRC_API void tirc_error_free(tirc_error *e);
static inline const char *tirc_error_message(const tirc_error *e) {
  return tirc_error_get(e, TIRC_ERROR_MESSAGE);
}

TIRC_C_END
#endif

/* Exceptions of scripts are the library's diagnostics seen as Python's classes: the class of a
 * diagnostic follows from its status and code, and raising one fills in the diagnostic again. */
#include "interp.h"

static const ExceptionClass classes[] = {
    {"Exception", NULL, CODE_EXCEPTION},
    {"RuntimeError", "Exception", CODE_RUNTIME},
    {"TVMError", "RuntimeError", CODE_TVM},
    {"ScheduleError", "TVMError", CODE_RAISED},
    {"NotImplementedError", "RuntimeError", CODE_UNSUPPORTED},
    {"AssertionError", "Exception", CODE_ASSERT},
    {"AttributeError", "Exception", CODE_ATTRIBUTE},
    {"NameError", "Exception", CODE_NAME},
    {"ImportError", "Exception", CODE_IMPORT},
    {"OSError", "Exception", CODE_FILE},
    {"TypeError", "Exception", CODE_TYPE},
    {"ValueError", "Exception", CODE_VALUE},
    {"LookupError", "Exception", CODE_LOOKUP},
    {"IndexError", "LookupError", CODE_INDEX},
    {"KeyError", "LookupError", CODE_KEY},
    {"ArithmeticError", "Exception", CODE_ARITHMETIC},
    {"ZeroDivisionError", "ArithmeticError", CODE_ZERO_DIVISION},
    {"OverflowError", "ArithmeticError", CODE_OVERFLOW},
    /* in the reference, the first for what is gone, the second for what another schedule has */
    {"HandleError", "ValueError", SERR_STALE_HANDLE, "IndexError"},
};
enum { N_CLASSES = sizeof classes / sizeof *classes };

/* Diagnostics of other parts that are no TVMError in the reference. */
static const struct {
  DiagCode code;
  const char *class;
} foreign[] = {
    {CODE_ARGUMENT, "TypeError"}, {SERR_BUFFER_NOT_FOUND, "ValueError"}, {CODE_JSON, "ValueError"}};

const ExceptionClass *tirc_script_exception_class(const char *name) {
  for (int i = 0; i < N_CLASSES; i++)
    if (!strcmp(classes[i].name, name)) return &classes[i];
  return NULL;
}

const ExceptionClass *tirc_script_exception_row(int i) {
  return i >= 0 && i < N_CLASSES ? &classes[i] : NULL;
}

bool tirc_script_is_subclass(const ExceptionClass *class, const char *name) {
  for (; class; class = class->parent ? tirc_script_exception_class(class->parent) : NULL) {
    if (!strcmp(class->name, name)) return true;
    if (class->second && tirc_script_is_subclass(tirc_script_exception_class(class->second), name))
      return true;
  }
  return false;
}

static const ExceptionClass *class_of(const Diag *diag) {
  if (diag->status == TIRC_STATUS_NO) return tirc_script_exception_class("ScheduleError");
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
    if (foreign[i].code == diag->code) return tirc_script_exception_class(foreign[i].class);
  for (int i = 0; i < N_CLASSES; i++)
    if (classes[i].code == diag->code) return &classes[i];
  return tirc_script_exception_class("TVMError");
}

bool tirc_script_catchable(const Diag *diag) {
  return diag->code != CODE_LIMIT && diag->code != CODE_MEMORY;
}

static Value exception_value(Script *sc, const ExceptionClass *class, const Diag *diag) {
  Exception *e = tirc_new(sc->c, Exception);
  *e = (Exception){class, *diag};
  return tirc_script_object(class->name, e);
}

Value tirc_script_exception(Script *sc, const Diag *diag) {
  return exception_value(sc, class_of(diag), diag);
}

Value tirc_script_new_exception(Script *sc, const ExceptionClass *class, const Args *a) {
  Diag diag = {
      .status = tirc_script_is_subclass(class, "ScheduleError") ? TIRC_STATUS_NO : TIRC_STATUS_BAD,
      .code = class->code,
      .loc = sc->loc,
      .message = a->n ? tirc_script_str(sc, a->at[0]) : "",
  };
  return exception_value(sc, class, &diag);
}

_Noreturn void tirc_script_raise(Script *sc, Value v) {
  if (tirc_script_is(v, "type")) {
    const ExceptionClass *class = tirc_script_exception_class(v.u.object);
    if (class) v = tirc_script_new_exception(sc, class, &(Args){0});
  }
  if (v.kind != VAL_OBJECT || !tirc_script_exception_class(v.type))
    tirc_script_error(sc, "TypeError", "raise ScheduleError(\"...\") or another exception",
                      "only exceptions can be raised, but this is %s", tirc_script_a_type(sc, v));
  const Exception *e = v.u.object;
  sc->c->diag = e->diag;
  if (!*e->diag.message) sc->c->diag.message = e->class->name;
  tirc_throw(sc->c);
}

_Noreturn void tirc_script_error(Script *sc, const char *class, const char *hint,
                                 const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *message = tirc_vformat(sc->c, format, args);
  va_end(args);
  tirc_fail(sc->c, sc->loc, tirc_script_exception_class(class)->code, hint, "%s", message);
}

_Noreturn void tirc_script_limit(Script *sc, const char *hint, const char *message) {
  tirc_fail(sc->c, sc->loc, CODE_LIMIT, hint, "%s", message);
}

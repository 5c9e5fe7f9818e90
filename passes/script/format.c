/* Values as text: str(), repr(), and Python's format specifications,
 * [[fill]align][sign][#][0][width][,][.precision][type]. */
#include "ir/ascii.h"
#include "ir/tree/print.h"
#include "passes/record/trace.h"
#include "te.h"

#include <math.h>
#include <stdlib.h>

/* --- str and repr ----------------------------------------------------------------------------- */

const char *tirc_script_repr(Script *sc, Value v) {
  Tirc *c = sc->c;
  if (v.kind == VAL_BLOCK) {
    SRef *sref = tirc_map_get(&sc->sched->blocks, (void *)(uintptr_t)v.u.block_id);
    if (sref && sref->stmt) return tirc_format(c, "block(%s)", sref->stmt->u.block.name);
  }
  if (v.kind == VAL_LOOP) return tirc_format(c, "loop(%s)", v.u.expr->u.s);
  if (v.kind != VAL_OBJECT) return tirc_value_repr(c, v);
  if (tirc_script_exception_class(v.type))
    return tirc_format(
        c, "%s(%s)", v.type,
        tirc_value_repr(c, tirc_value_str(((const Exception *)v.u.object)->diag.message)));
  if (tirc_script_is(v, "range")) {
    const RangeObject *r = v.u.object;
    return tirc_format(c, "range(%lld, %lld, %lld)", (long long)r->start, (long long)r->stop,
                       (long long)r->step);
  }
  if (tirc_script_is(v, "type")) return tirc_format(c, "<class %s>", (const char *)v.u.object);
  if (tirc_script_is(v, "Range")) {
    const Range *r = v.u.object;
    return tirc_format(c, "range(min=%s, ext=%s)", tirc_print_expr(c, r->min),
                       tirc_print_expr(c, r->extent));
  }
  if (tirc_te_tensor(v)) {
    Buffer b = tirc_te_tensor(v)->buffer;
    return tirc_te_type_text(c, b->dtype, b->ndim, b->shape);
  }
  if (tirc_script_is(v, "BufferRegion")) return tirc_print_region(c, *(const Region *)v.u.object);
  return tirc_value_repr(c, v);
}

const char *tirc_script_str(Script *sc, Value v) {
  Tirc *c = sc->c;
  if (v.kind == VAL_STR) return v.u.s;
  if (v.kind != VAL_OBJECT) return tirc_script_repr(sc, v);
  if (tirc_script_exception_class(v.type)) return ((const Exception *)v.u.object)->diag.message;
  const Dialect dialect = sc->sched->mod->dialect;
  if (tirc_script_is(v, "Trace")) return tirc_trace_python(c, v.u.object, false, dialect);
  if (tirc_script_is(v, "Instruction"))
    return tirc_instruction_python(c, v.u.object, &(RVNames){.dialect = dialect});
  if (tirc_script_is(v, "Target")) return tirc_script_target_text(sc, v);
  if (tirc_script_is(v, "IRModule")) return tirc_print_module(c, v.u.object, NULL);
  if (tirc_script_is(v, "PrimFunc")) return tirc_print_func(c, v.u.object, dialect);
  if (tirc_script_is(v, "For") || tirc_script_is(v, "Block"))
    return tirc_print_stmt(c, v.u.object, dialect);
  return tirc_script_repr(sc, v);
}

/* --- specifications --------------------------------------------------------------------------- */

typedef struct Spec {
  char fill, align, sign, grouping, type; /* 0: not given */
  bool alternate;
  int width, precision; /* precision -1: not given */
} Spec;

static int number_in(Script *sc, const char **at) {
  enum { MAX_WIDTH = 10000 };
  int n = 0;
  for (; tirc_is_digit(**at); ++*at) {
    n = n * 10 + (**at - '0');
    if (n > MAX_WIDTH)
      tirc_script_error(sc, "ValueError", NULL, "the format is wider than %d", MAX_WIDTH);
  }
  return n;
}

static Spec parse_spec(Script *sc, const char *text) {
  Spec spec = {.precision = -1};
  const char *at = text;
  if (*at && at[1] && strchr("<>=^", at[1])) spec.fill = *at++;
  if (*at && strchr("<>=^", *at)) spec.align = *at++;
  if (*at && strchr("+- ", *at)) spec.sign = *at++;
  if (*at == '#') spec.alternate = true, at++;
  if (*at == '0') {
    at++;
    if (!spec.align) spec.align = '=';
    if (!spec.fill) spec.fill = '0';
  }
  spec.width = number_in(sc, &at);
  if (*at == ',' || *at == '_') spec.grouping = *at++;
  if (*at == '.') {
    at++;
    if (!tirc_is_digit(*at))
      tirc_script_error(sc, "ValueError", NULL, "the format '%s' has no precision after '.'", text);
    spec.precision = number_in(sc, &at);
  }
  if (*at && strchr("bcdeEfFgGnosxX%", *at)) spec.type = *at++;
  if (*at)
    tirc_script_error(sc, "ValueError",
                      "write a format as [[fill]align][sign][0][width][,][.precision][type]",
                      "'%s' is not a format", text);
  return spec;
}

static const char *padded(Script *sc, const Spec *spec, const char *sign, const char *body,
                          char default_align) {
  Text t = {.c = sc->c};
  char align = spec->align ? spec->align : default_align, fill = spec->fill ? spec->fill : ' ';
  int64_t missing = spec->width - (int64_t)strlen(sign) - tirc_script_str_length(body);
  if (missing < 0) missing = 0;
  int64_t before = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  if (align == '=') tirc_text_add(&t, sign);
  for (int64_t i = 0; i < before; i++) tirc_text_addn(&t, &fill, 1);
  if (align != '=') tirc_text_add(&t, sign);
  tirc_text_add(&t, body);
  for (int64_t i = before; i < missing; i++) tirc_text_addn(&t, &fill, 1);
  return t.at ? t.at : "";
}

/* Separators between groups of three of the digits that the text starts with. */
static const char *grouped(Script *sc, const char *digits, char separator) {
  size_t n = strspn(digits, "0123456789");
  Text t = {.c = sc->c};
  if (!separator) return digits;
  for (size_t i = 0; i < n; i++) {
    if (i && (n - i) % 3 == 0) tirc_text_addn(&t, &separator, 1);
    tirc_text_addn(&t, digits + i, 1);
  }
  tirc_text_add(&t, digits + n);
  return t.at;
}

static const char *sign_of(const Spec *spec, bool negative) {
  return negative ? "-" : spec->sign == '+' ? "+" : spec->sign == ' ' ? " " : "";
}

static const char *format_int(Script *sc, const Spec *spec, int64_t i) {
  static const char lower[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";
  uint64_t magnitude = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
  unsigned base = spec->type == 'b'                        ? 2
                  : spec->type == 'o'                      ? 8
                  : strchr("xX", spec->type) && spec->type ? 16
                                                           : 10;
  char digits[72], *at = digits + sizeof digits - 1;
  *at = 0;
  do *--at = (spec->type == 'X' ? upper : lower)[magnitude % base];
  while (magnitude /= base);
  const char *prefix = base == 10 || !spec->alternate ? ""
                       : base == 2                    ? "0b"
                       : base == 8                    ? "0o"
                                                      : "0x";
  const char *sign = tirc_format(sc->c, "%s%s", sign_of(spec, i < 0), prefix);
  return padded(sc, spec, sign,
                grouped(sc, tirc_strdup(sc->c, at), base == 10 ? spec->grouping : 0), '>');
}

static const char *format_float(Script *sc, const Spec *spec, double f) {
  Tirc *c = sc->c;
  bool negative = signbit(f) != 0 && !isnan(f);
  double magnitude = fabs(f);
  int precision = spec->precision < 0 ? 6 : spec->precision;
  const char *body;
  if (!isfinite(f))
    body = isnan(f) ? "nan" : "inf";
  else if (!spec->type && spec->precision < 0)
    body = tirc_value_repr(c, tirc_value_float(magnitude));
  else if (spec->type == '%')
    body = tirc_format(c, "%.*f%%", precision, magnitude * 100);
  else if (spec->type == 'e')
    body = tirc_format(c, "%.*e", precision, magnitude);
  else if (spec->type == 'E')
    body = tirc_format(c, "%.*E", precision, magnitude);
  else if (spec->type == 'f' || spec->type == 'F')
    body = tirc_format(c, "%.*f", precision, magnitude);
  else if (spec->type == 'G')
    body = tirc_format(c, "%.*G", precision, magnitude);
  else
    body = tirc_format(c, "%.*g", precision, magnitude);
  return padded(sc, spec, sign_of(spec, negative), grouped(sc, body, spec->grouping), '>');
}

static const char *format_text(Script *sc, const Spec *spec, const char *s) {
  if (spec->precision >= 0) s = tirc_script_str_item(sc, s, 0, spec->precision).u.s;
  return padded(sc, spec, "", s, '<');
}

static _Noreturn void wrong_type(Script *sc, Value v, const Spec *spec) {
  tirc_script_error(sc, "ValueError", NULL, "the format type '%c' does not work for %s",
                    spec->type ? spec->type : '=', tirc_script_a_type(sc, v));
}

const char *tirc_script_format(Script *sc, Value v, const char *text) {
  if (!*text) return tirc_script_str(sc, v);
  Spec spec = parse_spec(sc, text);
  int64_t i;
  double f;
  bool whole = (v.kind == VAL_INT || (v.kind == VAL_BOOL && spec.type)) && tirc_script_int(v, &i);
  if (whole && (!spec.type || strchr("bdnoxX", spec.type))) {
    if (spec.precision >= 0) wrong_type(sc, v, &spec);
    return format_int(sc, &spec, i);
  }
  if (tirc_script_number(v, &f) && (v.kind == VAL_FLOAT || spec.type)) {
    if (spec.type && strchr("bcdosxX", spec.type)) wrong_type(sc, v, &spec);
    return format_float(sc, &spec, f);
  }
  if ((spec.type && spec.type != 's') || spec.align == '=') wrong_type(sc, v, &spec);
  return format_text(sc, &spec, tirc_script_str(sc, v));
}

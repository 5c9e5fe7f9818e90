/* Values of the schedule language: lists, and how a value reads in a message. */
#include "value.h"
#include "ir/number.h"

#include "ir/tree/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPR_MAX_DEPTH = 24 }; /* lists may contain themselves */

Value tirc_value_list(Tirc *c, ValueKind list_or_tuple, int n, const Value *at) {
  ValueList *list = tirc_new(c, ValueList);
  list->n = list->cap = n;
  list->at = tirc_new_array(c, Value, n ? n : 1);
  if (n) memcpy(list->at, at, (size_t)n * sizeof *at);
  return (Value){.kind = list_or_tuple, .u.list = list};
}

void tirc_value_append(Tirc *c, Value list, Value item) { vec_push(c, *list.u.list, item); }

const char *tirc_value_type_name(Value v) {
  static const char *const names[] = {
      [VAL_NONE] = "None",         [VAL_BOOL] = "bool",     [VAL_INT] = "int",
      [VAL_FLOAT] = "float",       [VAL_STR] = "str",       [VAL_LIST] = "list",
      [VAL_TUPLE] = "tuple",       [VAL_DICT] = "dict",     [VAL_EXPR] = "PrimExpr",
      [VAL_BLOCK] = "BlockRV",     [VAL_LOOP] = "LoopRV",   [VAL_BUFFER] = "Buffer",
      [VAL_FUNCTION] = "function", [VAL_OBJECT] = "object",
  };
  return v.kind == VAL_OBJECT && v.type ? v.type : names[v.kind];
}

const char *tirc_a_type(Tirc *c, const char *name) {
  if (!strcmp(name, "None") || !strcmp(name, "NoneType")) return "None";
  return tirc_format(c, "%s %s", strchr("aeioAEIO", *name) ? "an" : "a", name);
}

/* As Python: the quote that needs no escape, escapes for what does not print. */
static void add_quoted(Text *t, const char *s) {
  char quote = strchr(s, '\'') && !strchr(s, '"') ? '"' : '\'';
  tirc_text_addn(t, &quote, 1);
  for (; *s; s++) {
    static const char escaped[] = "\n\t\r\\", letters[] = "ntr\\";
    const char *found = strchr(escaped, *s);
    if (found)
      tirc_text_addn(t, (char[]){'\\', letters[found - escaped]}, 2);
    else if (*s == quote)
      tirc_text_addn(t, (char[]){'\\', quote}, 2);
    else if ((unsigned char)*s < 32 || *s == 127)
      tirc_text_addf(t, "\\x%02x", (unsigned)(unsigned char)*s);
    else
      tirc_text_addn(t, s, 1);
  }
  tirc_text_addn(t, &quote, 1);
}

/* The shortest decimal text that reads back as the same number, in Python's layout. */
static void add_float(Text *t, double f) {
  if (isnan(f) || isinf(f)) {
    tirc_text_add(t, isnan(f) ? "nan" : f < 0 ? "-inf" : "inf");
    return;
  }
  char buf[40];
  int precision = 1;
  do tirc_snprintf(buf, sizeof buf, "%.*e", precision - 1, f);
  while (tirc_parse_double(buf, NULL) != f && precision++ < 17);
  int exponent = atoi(strchr(buf, 'e') + 1);
  if (exponent >= -4 && exponent < 16) {
    int decimals = precision - 1 - exponent;
    tirc_snprintf(buf, sizeof buf, "%.*f", decimals > 0 ? decimals : 1, f);
    tirc_text_add(t, buf);
  } else {
    tirc_text_addf(t, "%.*se%c%02d", (int)(strchr(buf, 'e') - buf), buf, exponent < 0 ? '-' : '+',
                   abs(exponent));
  }
}

void tirc_add_container(Text *t, Value v, int depth, AddValue *add, const void *self) {
  static const char brackets[][2] = {[VAL_LIST] = "[]", [VAL_TUPLE] = "()", [VAL_DICT] = "{}"};
  tirc_text_addn(t, &brackets[v.kind][0], 1);
  for (int i = 0; i < v.u.list->n; i++) {
    if (i) tirc_text_add(t, v.kind == VAL_DICT && i % 2 ? ": " : ", ");
    add(t, v.u.list->at[i], depth + 1, self);
  }
  if (v.kind == VAL_TUPLE && v.u.list->n == 1) tirc_text_add(t, ",");
  tirc_text_addn(t, &brackets[v.kind][1], 1);
}

static void add_repr(Text *t, Value v, int depth, const void *self) {
  switch (v.kind) {
  case VAL_NONE: tirc_text_add(t, "None"); break;
  case VAL_BOOL: tirc_text_add(t, v.u.b ? "True" : "False"); break;
  case VAL_INT: tirc_text_addf(t, "%lld", (long long)v.u.i); break;
  case VAL_FLOAT: add_float(t, v.u.f); break;
  case VAL_STR: add_quoted(t, v.u.s); break;
  case VAL_LIST:
  case VAL_TUPLE:
  case VAL_DICT:
    if (depth > REPR_MAX_DEPTH)
      tirc_text_add(t, "...");
    else
      tirc_add_container(t, v, depth, add_repr, self);
    break;
  case VAL_EXPR: tirc_text_add(t, tirc_print_expr(t->c, v.u.expr)); break;
  case VAL_LOOP: tirc_text_add(t, v.u.expr->u.s); break;
  case VAL_BLOCK: tirc_text_addf(t, "<block %u>", (unsigned)v.u.block_id); break;
  case VAL_BUFFER: tirc_text_add(t, tirc_print_buffer(t->c, v.u.buffer)); break;
  case VAL_FUNCTION:
    tirc_text_addf(t, "<function %s>", ((const Callable *)v.u.object)->name);
    break;
  case VAL_OBJECT: tirc_text_addf(t, "<%s>", tirc_value_type_name(v)); break;
  }
}

const char *tirc_value_repr(Tirc *c, Value v) {
  Text t = {.c = c};
  tirc_text_add(&t, "");
  add_repr(&t, v, 0, NULL);
  return t.at;
}

Value tirc_default_value(Tirc *c, const char *text) {
  static const struct {
    const char *text;
    Value value;
  } words[] = {
      {"None", {.kind = VAL_NONE}},
      {"True", {.kind = VAL_BOOL, .u.b = true}},
      {"False", {.kind = VAL_BOOL, .u.b = false}},
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(words[i].text, text)) return words[i].value;
  if (*text == '"' || *text == '\'')
    return tirc_value_str(tirc_strndup(c, text + 1, strlen(text) - 2));
  if (strpbrk(text, ".e")) return tirc_value_float(tirc_parse_double(text, NULL));
  return tirc_value_int(strtoll(text, NULL, 10));
}

bool tirc_is_axis_separator(Value v) {
  return v.kind == VAL_STR && !strcmp(v.u.s, "axis_separator");
}

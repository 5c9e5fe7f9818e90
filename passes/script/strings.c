/* The methods of strings. Strings are UTF-8; positions and lengths count characters. */
#include "interp.h"
#include "ir/ascii.h"
#include "ir/utf8.h"

int64_t tirc_script_str_length(const char *s) {
  int64_t n = 0;
  for (; *s; s++) n += !tirc_utf8_continues(*s);
  return n;
}

static const char *advance(const char *s, int64_t n) {
  for (; *s && n > 0; n--) do
      s++;
    while (tirc_utf8_continues(*s));
  return s;
}

Value tirc_script_str_item(Script *sc, const char *s, int64_t from, int64_t count) {
  const char *start = advance(s, from), *end = advance(start, count);
  return tirc_value_str(tirc_strndup(sc->c, start, (size_t)(end - start)));
}

static const char *text_argument(Script *sc, const char *who, Value v) {
  if (v.kind != VAL_STR)
    tirc_script_error(sc, "TypeError", NULL, "%s() takes a string, not %s", who,
                      tirc_script_a_type(sc, v));
  return v.u.s;
}

static void work(Script *sc, const char *s) { tirc_script_tick(sc, (int64_t)strlen(s) / 64); }

static Value run_join(Script *sc, Value self, const Args *a) {
  Text t = {.c = sc->c};
  Iter it = tirc_script_iter(sc, a->at[0]);
  Value item;
  tirc_text_add(&t, "");
  for (bool first = true; tirc_script_next(sc, &it, &item); first = false) {
    if (!first) tirc_text_add(&t, self.u.s);
    tirc_text_add(&t, text_argument(sc, "join", item));
  }
  return tirc_value_str(t.at);
}

static Value piece(Script *sc, const char *from, const char *to) {
  return tirc_value_str(tirc_strndup(sc->c, from, (size_t)(to - from)));
}

static Value run_split(Script *sc, Value self, const Args *a) {
  Value out = tirc_value_list(sc->c, VAL_LIST, 0, NULL);
  const char *s = self.u.s;
  work(sc, s);
  if (a->n && a->at[0].kind != VAL_NONE) {
    const char *sep = text_argument(sc, "split", a->at[0]), *at;
    if (!*sep)
      tirc_script_error(sc, "ValueError", NULL, "the separator of split() must not be empty");
    for (; (at = strstr(s, sep)); s = at + strlen(sep))
      tirc_value_append(sc->c, out, piece(sc, s, at));
    tirc_value_append(sc->c, out, tirc_value_str(s));
    return out;
  }
  static const char blank[] = " \t\n\r\f\v";
  for (s += strspn(s, blank); *s; s += strspn(s, blank)) {
    const char *end = s + strcspn(s, blank);
    tirc_value_append(sc->c, out, piece(sc, s, end));
    s = end;
  }
  return out;
}

static bool starts(const char *s, const char *with) { return !strncmp(s, with, strlen(with)); }

static bool ends(const char *s, const char *with) {
  size_t n = strlen(s), m = strlen(with);
  return n >= m && !strcmp(s + n - m, with);
}

static Value has_affix(Script *sc, Value self, const Args *a, const char *who,
                       bool (*test)(const char *, const char *)) {
  Value v = a->at[0];
  if (v.kind != VAL_TUPLE) return tirc_value_bool(test(self.u.s, text_argument(sc, who, v)));
  for (int i = 0; i < v.u.list->n; i++)
    if (test(self.u.s, text_argument(sc, who, v.u.list->at[i]))) return tirc_value_bool(true);
  return tirc_value_bool(false);
}

static Value run_startswith(Script *sc, Value self, const Args *a) {
  return has_affix(sc, self, a, "startswith", starts);
}
static Value run_endswith(Script *sc, Value self, const Args *a) {
  return has_affix(sc, self, a, "endswith", ends);
}

static Value map_characters(Script *sc, const char *s, char (*map)(char)) {
  char *out = tirc_strdup(sc->c, s);
  work(sc, s);
  for (char *p = out; *p; p++) *p = map(*p);
  return tirc_value_str(out);
}

static Value run_upper(Script *sc, Value self, const Args *a) {
  return (void)a, map_characters(sc, self.u.s, tirc_upper);
}
static Value run_lower(Script *sc, Value self, const Args *a) {
  return (void)a, map_characters(sc, self.u.s, tirc_lower);
}

static Value strip(Script *sc, Value self, const Args *a, bool left, bool right) {
  const char *blank =
      a->n && a->at[0].kind != VAL_NONE ? text_argument(sc, "strip", a->at[0]) : " \t\n\r\f\v";
  const char *s = self.u.s, *end = s + strlen(s);
  if (left) s += strspn(s, blank);
  while (right && end > s && strchr(blank, end[-1])) end--;
  return piece(sc, s, end);
}

static Value run_strip(Script *sc, Value self, const Args *a) {
  return strip(sc, self, a, true, true);
}
static Value run_lstrip(Script *sc, Value self, const Args *a) {
  return strip(sc, self, a, true, false);
}
static Value run_rstrip(Script *sc, Value self, const Args *a) {
  return strip(sc, self, a, false, true);
}

static Value run_replace(Script *sc, Value self, const Args *a) {
  const char *old = text_argument(sc, "replace", a->at[0]);
  const char *with = text_argument(sc, "replace", a->at[1]), *s = self.u.s, *at;
  Text t = {.c = sc->c};
  if (!*old) tirc_script_error(sc, "ValueError", NULL, "replace() cannot replace an empty string");
  work(sc, s);
  for (; (at = strstr(s, old)); s = at + strlen(old)) {
    tirc_text_addn(&t, s, (size_t)(at - s));
    tirc_text_add(&t, with);
  }
  tirc_text_add(&t, s);
  return tirc_value_str(t.at);
}

static Value run_find(Script *sc, Value self, const Args *a) {
  const char *at = strstr(self.u.s, text_argument(sc, "find", a->at[0]));
  work(sc, self.u.s);
  int64_t position = -1;
  if (at) position = tirc_script_str_length(tirc_strndup(sc->c, self.u.s, (size_t)(at - self.u.s)));
  return tirc_value_int(position);
}

static Value run_count(Script *sc, Value self, const Args *a) {
  const char *what = text_argument(sc, "count", a->at[0]), *s = self.u.s;
  int64_t n = 0;
  work(sc, s);
  if (!*what) return tirc_value_int(tirc_script_str_length(s) + 1);
  for (; (s = strstr(s, what)); s += strlen(what)) n++;
  return tirc_value_int(n);
}

static Value run_isdigit(Script *sc, Value self, const Args *a) {
  (void)sc, (void)a;
  return tirc_value_bool(*self.u.s && !self.u.s[strspn(self.u.s, "0123456789")]);
}

/* --- format ----------------------------------------------------------------------------------- */

static Value field_value(Script *sc, const char *name, const Args *a, int *next) {
  if (!*name) name = tirc_format(sc->c, "%d", (*next)++);
  if (tirc_is_digit(*name)) {
    int64_t i = 0;
    for (const char *p = name; tirc_is_digit(*p) && i < a->n; p++) i = i * 10 + (*p - '0');
    if (i < a->n) return a->at[i];
    tirc_script_error(sc, "IndexError", NULL, "format() has no argument number %s", name);
  }
  for (int i = 0; i < a->n_keywords; i++)
    if (!strcmp(a->names[i], name)) return a->keywords[i];
  tirc_script_error(sc, "KeyError", NULL, "format() has no argument '%s'", name);
}

static Value run_format(Script *sc, Value self, const Args *a) {
  Text t = {.c = sc->c};
  int next = 0;
  tirc_text_add(&t, "");
  for (const char *s = self.u.s; *s; s++) {
    if ((*s == '{' || *s == '}') && s[1] == *s) {
      tirc_text_addn(&t, s++, 1);
    } else if (*s == '{') {
      const char *end = strchr(s, '}');
      if (!end)
        tirc_script_error(sc, "ValueError", "{{ stands for {",
                          "the format has a '{' without a '}'");
      const char *name = tirc_strndup(sc->c, s + 1, (size_t)(end - s - 1));
      const char *colon = strchr(name, ':');
      const char *field = colon ? tirc_strndup(sc->c, name, (size_t)(colon - name)) : name;
      Value v = field_value(sc, field, a, &next);
      tirc_text_add(&t, tirc_script_format(sc, v, colon ? colon + 1 : ""));
      s = end;
    } else if (*s == '}') {
      tirc_script_error(sc, "ValueError", "}} stands for }", "the format has a '}' without a '{'");
    } else {
      tirc_text_addn(&t, s, 1);
    }
  }
  return tirc_value_str(t.at);
}

const NativeRow tirc_script_str_methods[] = {
    {"str", "format", run_format, 0, -1, "*"},
    {"str", "join", run_join, 1, 1, NULL},
    {"str", "split", run_split, 0, 1, NULL},
    {"str", "startswith", run_startswith, 1, 1, NULL},
    {"str", "endswith", run_endswith, 1, 1, NULL},
    {"str", "upper", run_upper, 0, 0, NULL},
    {"str", "lower", run_lower, 0, 0, NULL},
    {"str", "strip", run_strip, 0, 1, NULL},
    {"str", "lstrip", run_lstrip, 0, 1, NULL},
    {"str", "rstrip", run_rstrip, 0, 1, NULL},
    {"str", "replace", run_replace, 2, 2, NULL},
    {"str", "find", run_find, 1, 1, NULL},
    {"str", "count", run_count, 1, 1, NULL},
    {"str", "isdigit", run_isdigit, 0, 0, NULL},
    {0},
};

/* Results as codes: "tirc1." and, in the letters of base64 for URLs, JSON that gzip has compressed
 * and summed up, and a full stop, so that a code that was cut off or folded by a mail is known. */
#define ZLIB_CONST /* what is read stays as it is */
#include "lesson.h"

#include "ir/ascii.h"

#include <string.h>
#include <zlib.h>

static const char prefix[] = "tirc1.", end_mark = '.';
static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
enum { MOST_CODE = 1 << 20, MOST_JSON = 4 << 20, DEEPEST = 4, GZIP = 15 + 16 };

static const char too_long[] = "it is too long: a code has at most 1 MiB";
static const char too_much[] = "it expands to too much: schedules and names have at most 4 MiB";

/* --- base64 ----------------------------------------------------------------------------------- */

static char *encode(const unsigned char *at, size_t n) {
  char *out = tirc_alloc(memory, n / 3 * 4 + 8), *to = out;
  for (size_t i = 0; i < n; i += 3) {
    const unsigned v = (unsigned)at[i] << 16 | (i + 1 < n ? (unsigned)at[i + 1] << 8 : 0) |
                       (i + 2 < n ? at[i + 2] : 0U);
    const size_t letters = n - i >= 3 ? 4 : n - i + 1;
    for (size_t k = 0; k < letters; k++) *to++ = digits[v >> (18 - 6 * k) & 63];
  }
  *to = 0;
  return out;
}

/* NULL: there is another letter. */
static unsigned char *decode(const char *at, size_t letters, size_t *n) {
  unsigned char *out = tirc_alloc(memory, letters + 1);
  unsigned v = 0, bits = 0;
  *n = 0;
  for (size_t i = 0; i < letters; i++) {
    const char *digit = at[i] ? strchr(digits, at[i]) : NULL;
    if (!digit) return NULL;
    v = v << 6 | (unsigned)(digit - digits);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out[(*n)++] = (unsigned char)(v >> bits);
  }
  return out;
}

/* --- gzip ------------------------------------------------------------------------------------- */

static unsigned char *compressed(const char *text, size_t n, size_t *out_n) {
  z_stream z = {0};
  if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    return NULL;
  const size_t room = deflateBound(&z, n) + 32;
  unsigned char *out = tirc_alloc(memory, room);
  z.next_in = (const Bytef *)text;
  z.avail_in = (uInt)n;
  z.next_out = out;
  z.avail_out = (uInt)room;
  const bool ok = deflate(&z, Z_FINISH) == Z_STREAM_END;
  *out_n = z.total_out;
  (void)deflateEnd(&z);
  return ok ? out : NULL;
}

/* The whole stream with its sum, and nothing behind it; or NULL and why there is none. */
static char *expanded(const unsigned char *at, size_t n, const char **why) {
  z_stream z = {.next_in = at, .avail_in = (uInt)n};
  char *text = NULL;
  size_t have = 0, room = 4096; /* which grows to MOST_JSON exactly */
  int status = inflateInit2(&z, GZIP);
  while (status == Z_OK && room <= MOST_JSON) {
    char *grown = tirc_alloc(memory, room + 1);
    if (have) memcpy(grown, text, have);
    text = grown;
    z.next_out = (Bytef *)text + have;
    z.avail_out = (uInt)(room - have);
    status = inflate(&z, Z_NO_FLUSH);
    have = z.total_out;
    if (status == Z_BUF_ERROR || (status == Z_OK && z.avail_out)) break; /* it was cut off */
    room *= 4;
  }
  const bool whole = status == Z_STREAM_END && z.avail_in == 0;
  if (status == Z_OK && room > MOST_JSON) *why = too_much;
  (void)inflateEnd(&z);
  if (!whole || memchr(text, 0, have)) return NULL;
  text[have] = 0;
  return text;
}

/* --- codes ------------------------------------------------------------------------------------ */

const char *result_code(const Result *r, char **code) {
  Json *j = json_object_new_object(), *schedules = json_object_new_object();
  add_text(j, "course", r->course);
  add_text(j, "edition", r->edition);
  add_some(j, "learner", r->learner);
  for (int i = 0; i < r->n; i++) add_text(schedules, r->names[i], r->schedules[i]);
  add_json(j, "schedules", schedules);
  const char *text = json_string(j, false);
  size_t n;
  if (strlen(text) >= MOST_JSON) return too_much;
  const unsigned char *bytes = compressed(text, strlen(text), &n);
  if (!bytes) return "it cannot be compressed";
  *code = tirc_format(memory, "%s%s%c", prefix, encode(bytes, n), end_mark);
  return strlen(*code) > MOST_CODE ? too_long : NULL;
}

static bool read_schedules(Json *j, Result *out) {
  Json *schedules = NULL;
  if (!json_object_object_get_ex(j, "schedules", &schedules) ||
      !json_object_is_type(schedules, json_type_object))
    return false;
  const size_t n = (size_t)json_object_object_length(schedules);
  out->names = tirc_alloc_array(memory, n + 1, sizeof *out->names);
  out->schedules = tirc_alloc_array(memory, n + 1, sizeof *out->schedules);
  json_object_object_foreach(schedules, name, schedule) {
    if (!json_object_is_type(schedule, json_type_string)) return false;
    out->names[out->n] = copied(name);
    out->schedules[out->n++] = copied(json_object_get_string(schedule));
  }
  return true;
}

static const char *read_json(const char *text, Result *out) {
  static const char none[] = "it is no result of a course";
  struct json_tokener *t = json_tokener_new_ex(DEEPEST);
  json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
  Json *j = json_tokener_parse_ex(t, text, (int)strlen(text) + 1);
  const bool ok = json_object_is_type(j, json_type_object) && read_schedules(j, out);
  json_tokener_free(t);
  out->course = ok ? copied(text_in(j, "course")) : NULL;
  out->edition = ok ? copied(text_in(j, "edition")) : NULL;
  out->learner = ok ? copied(text_in(j, "learner")) : NULL;
  json_object_put(j);
  return out->course && out->edition ? NULL : none;
}

const char *read_result(const char *code, Result *out) {
  const size_t n = strlen(code), head = sizeof prefix - 1;
  *out = (Result){0};
  if (n > MOST_CODE) return too_long;
  if (strncmp(code, prefix, head) != 0) return "it does not begin with tirc1.";
  if (n <= head || code[n - 1] != end_mark) return "its end is missing";
  size_t n_bytes;
  const unsigned char *bytes = decode(code + head, n - head - 1, &n_bytes);
  const char *why = "it is damaged: its checksum is another one";
  const char *text = bytes ? expanded(bytes, n_bytes, &why) : NULL;
  if (!text) return why;
  return read_json(text, out);
}

/* Mails fold lines, and mark them with `>`. */
static bool lies_between(char ch) { return tirc_is_space(ch) || ch == '>'; }

/* Behind its full stop, or where no code goes on. */
static const char *end_of_code(const char *code) {
  const char *at = code + sizeof prefix - 1;
  for (; *at && *at != end_mark && (lies_between(*at) || strchr(digits, *at)); at++)
    if (strncmp(at, prefix, sizeof prefix - 1) == 0) break; /* the one before has no end */
  return at + (*at == end_mark);
}

char *next_code(const char **text, const char **from) {
  const char *at = strstr(*text, prefix);
  if (!at) return NULL;
  const char *end = end_of_code(at);
  const size_t length = (size_t)(end - at), most = MOST_CODE + 1; /* read_result refuses one more */
  char *code = tirc_alloc(memory, (length < most ? length : most) + 1), *to = code;
  *from = at;
  for (; at < end && to < code + most; at++)
    if (!lies_between(*at)) *to++ = *at;
  *to = 0;
  *text = end;
  return code;
}

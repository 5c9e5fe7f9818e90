/* Names that are unique where they are live: x, then x_1, x_2 ... The table counts for every
 * spelling whether it is in use; leaving a frame gives its names back. */

#include "ir/ascii.h"
#include "print_internal.h"

typedef struct Name {
  bool used;
  int next_suffix;
} Name;

static Name *find(Printer *p, const char *text) {
  void **at = tirc_strmap_at(p->c, &p->table, text);
  Name *name = *at;
  if (name) return name;
  *at = name = tirc_new(p->c, Name);
  name->next_suffix = 1;
  return name;
}

bool tirc_is_reserved(const char *word) {
  static const char *const words[] = {
#define KEYWORD(word, token) word,
#define OTHER(word) word,
#include "ir/words.def"
#undef KEYWORD
#undef OTHER
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (*words[i] == *word && strcmp(word, words[i]) == 0) return true;
  return false;
}

static const char *identifier(Tirc *c, const char *hint) {
  if (!hint || !*hint) return "v";
  bool fine = !tirc_is_digit(hint[0]);
  for (const char *s = hint; *s; s++) fine = fine && (tirc_is_word(*s));
  if (tirc_is_reserved(hint)) return tirc_format(c, "%s_", hint);
  if (fine) return hint;
  char *s = tirc_format(c, "%s%s", tirc_is_digit(hint[0]) ? "v" : "", hint);
  for (char *k = s; *k; k++)
    if (!tirc_is_letter_or_digit(*k)) *k = '_';
  return s;
}

int tirc_names_enter(Printer *p) { return p->live.n; }

void tirc_names_leave(Printer *p, int mark) {
  while (p->live.n > mark) {
    Live last = p->live.at[--p->live.n];
    if (last.name) {
      find(p, last.name)->used = false;
      tirc_map_remove(&p->names, last.what);
    } else {
      tirc_map_remove(&p->data, last.what);
    }
  }
}

const char *tirc_names_define(Printer *p, const void *what, const char *hint) {
  const char *base = identifier(p->c, hint);
  const char *text = base;
  Name *name = find(p, text);
  for (int i = 1; name->used; i++) {
    text = tirc_format(p->c, "%s_%d", base, i);
    name = find(p, text);
  }
  name->used = true;
  vec_push(p->c, p->live, ((Live){what, text}));
  tirc_map_set(p->c, &p->names, what, text);
  return text;
}

const char *tirc_names_define_buffer(Printer *p, Buffer b) {
  const char *name = tirc_names_define(p, b, b->name);
  if (!tirc_map_has(&p->data, b->data)) {
    vec_push(p->c, p->live, ((Live){b->data, NULL}));
    tirc_map_set(p->c, &p->data, b->data, b);
  }
  return name;
}

const char *tirc_printer_name(Printer *p, const void *what, const char *hint) {
  const char *name = tirc_map_get(&p->names, what);
  return name ? name : hint;
}

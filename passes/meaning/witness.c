/* What is wrong, in numbers: two iterations and the element that they share. */
#include "relations.h"

static void add_iteration(Text *t, int n, const Expr *names, const int64_t *at) {
  for (int i = 0; i < n; i++)
    tirc_text_addf(t, "%s%s = %lld", i ? ", " : "", names[i]->u.s, (long long)at[i]);
}

static void add_element(Text *t, Buffer b, int n, const int64_t *element) {
  tirc_text_addf(t, "%s[", b->name);
  for (int i = 0; i < n; i++) tirc_text_addf(t, "%s%lld", i ? ", " : "", (long long)element[i]);
  tirc_text_add(t, "]");
}

const char *tirc_element_text(Tirc *c, Buffer b, int n, const int64_t *element) {
  Text t = {.c = c};
  add_element(&t, b, n, element);
  return t.at;
}

static void add_meeting(Text *t, int n, const Expr *names, Buffer b, const int64_t *first,
                        bool first_stores, const int64_t *second, bool second_stores,
                        const int64_t *element) {
  add_iteration(t, n, names, first);
  tirc_text_add(t, first_stores ? " stores " : " reads ");
  add_element(t, b, b->ndim, element);
  tirc_text_add(t, ", which ");
  add_iteration(t, n, names, second);
  tirc_text_add(t, second_stores ? first_stores ? " stores, too" : " stores" : " reads");
}

const char *tirc_witness_text(Tirc *c, int n, const Expr *names, Buffer b, const int64_t *first,
                              bool first_stores, const int64_t *second, bool second_stores,
                              const int64_t *element) {
  Text t = {.c = c};
  add_meeting(&t, n, names, b, first, first_stores, second, second_stores, element);
  return t.at;
}

const char *tirc_witness(const Relations *r, int n, const Expr *names, Buffer b, Meeting m,
                         const int64_t **of_first, const int64_t **of_second) {
  Sets *z = r->sets;
  ZPoint pair, element;
  if (!tirc_z_sample(z, m.pairs, &pair)) return NULL;
  const ZMap first = tirc_z_at(z, m.first, pair.n_params, pair.params, pair.of_params, pair.in);
  const ZMap second = tirc_z_at(z, m.second, pair.n_params, pair.params, pair.of_params, pair.out);
  /* From one iteration to the other, by way of what they share. */
  const ZMap shared =
      tirc_z_meet(z, tirc_z_drop_in(z, first, 0, n), tirc_z_drop_in(z, second, 0, n));
  if (!tirc_z_sample(z, shared, &element)) return NULL;
  Text t = {.c = r->c};
  for (int i = 0; i < pair.n_params; i++)
    tirc_text_addf(&t, "%s%s = %lld", i ? ", " : "for ", tirc_param_text(r, pair.params[i]),
                   (long long)pair.of_params[i]);
  if (pair.n_params) tirc_text_add(&t, ": ");
  add_meeting(&t, n, names, b, pair.in, m.first_stores, pair.out, m.second_stores, element.out);
  if (of_first) *of_first = pair.in;
  if (of_second) *of_second = pair.out;
  return t.at;
}

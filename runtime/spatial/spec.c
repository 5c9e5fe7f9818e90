/* An array's description: JSON, field by field. */
#include "spatial.h"

#include "ir/nearest.h"
#include "passes/record/trace.h"

#include <math.h>

typedef struct Spec {
  Tirc *c;
  const char *file, *text;
  size_t n;
  ArraySpec *out;
} Spec;

/* --- where something stands ------------------------------------------------------------------- */

static Loc at_byte(const Spec *s, size_t at) {
  Loc loc = {s->file, 1, 1};
  for (size_t i = 0; i < at && i < s->n; i++) {
    loc.column = s->text[i] == '\n' ? 1 : loc.column + 1;
    loc.line += s->text[i] == '\n';
  }
  return loc;
}

/* The first key of this name. */
static Loc at_key(const Spec *s, const char *key) {
  const char *quoted = tirc_format(s->c, "\"%s\"", key);
  const char *at = strstr(s->text, quoted);
  return at ? at_byte(s, (size_t)(at - s->text)) : at_byte(s, 0);
}

/* --- fields ----------------------------------------------------------------------------------- */

static const Value *field(Value object, const char *name) {
  for (int i = 0; i + 1 < object.u.list->n; i += 2)
    if (object.u.list->at[i].kind == VAL_STR && !strcmp(object.u.list->at[i].u.s, name))
      return &object.u.list->at[i + 1];
  return NULL;
}

static const Value *need(const Spec *s, Value object, const char *in, const char *name) {
  const Value *v = field(object, name);
  if (!v)
    tirc_fail(s->c, at_key(s, in), CODE_PE_ARRAY, NULL, "%s has no \"%s\"",
              *in ? in : "the description of the array", name);
  return v;
}

static void allow(const Spec *s, Value object, const char *in, int n, const char *const *names) {
  for (int i = 0; i + 1 < object.u.list->n; i += 2) {
    const char *key = object.u.list->at[i].u.s;
    int k = 0;
    while (k < n && strcmp(names[k], key)) k++;
    if (k < n) continue;
    const char *near = tirc_nearest(s->c, key, n, names);
    tirc_fail(s->c, at_key(s, key), CODE_PE_ARRAY, near, "%s has no field \"%s\"",
              *in ? in : "the description of an array", key);
  }
}
#define ALLOW(s, object, in, ...)                                                                  \
  allow(s, object, in, (int)(sizeof(const char *const[]){__VA_ARGS__} / sizeof(const char *)),     \
        (const char *const[]){__VA_ARGS__})

static Value object_of(const Spec *s, const Value *v, const char *name) {
  if (v->kind != VAL_DICT)
    tirc_fail(s->c, at_key(s, name), CODE_PE_ARRAY, NULL, "\"%s\" is not an object", name);
  return *v;
}

static int64_t whole(const Spec *s, const Value *v, const char *name, int64_t least, int64_t most) {
  if (v->kind == VAL_INT && v->u.i >= least && v->u.i <= most) return v->u.i;
  tirc_fail(s->c, at_key(s, name), CODE_PE_ARRAY, NULL,
            "\"%s\" is not a whole number from %lld to %lld", name, (long long)least,
            (long long)most);
}

static double real(const Spec *s, const Value *v, const char *name) {
  const double x = v->kind == VAL_INT ? (double)v->u.i : v->kind == VAL_FLOAT ? v->u.f : -1;
  if (x >= 0 && x <= 1e12) return x;
  tirc_fail(s->c, at_key(s, name), CODE_PE_ARRAY, NULL, "\"%s\" is not a number from 0 on", name);
}

static bool flag(const Spec *s, Value object, const char *name, bool usual) {
  const Value *v = field(object, name);
  if (!v) return usual;
  if (v->kind == VAL_BOOL) return v->u.b;
  return whole(s, v, name, 0, 1);
}

/* --- the array -------------------------------------------------------------------------------- */

static void read_array(Spec *s, Value array) {
  ALLOW(s, array, "array", "dims", "bandwidth", "item_bits", "latency");
  const Value *dims = need(s, array, "array", "dims");
  if (dims->kind != VAL_LIST || dims->u.list->n < 1 || dims->u.list->n > PE_AXES)
    tirc_fail(s->c, at_key(s, "dims"), CODE_PE_ARRAY, "such as [8, 8]",
              "\"dims\" is not a list of one, two or three numbers");
  int64_t elements = 1;
  s->out->n_dims = dims->u.list->n;
  for (int a = 0; a < PE_AXES; a++) {
    s->out->dims[a] = a < s->out->n_dims ? whole(s, &dims->u.list->at[a], "dims", 1, 1 << 20) : 1;
    elements *= s->out->dims[a];
    if (elements > 1 << 22)
      tirc_fail(s->c, at_key(s, "dims"), CODE_PE_ARRAY, NULL, "the array has more than %d elements",
                1 << 22);
  }
  const int64_t most = INT64_C(1) << 40;
  s->out->bandwidth = whole(s, need(s, array, "array", "bandwidth"), "bandwidth", 1, most);
  s->out->item_bits = whole(s, need(s, array, "array", "item_bits"), "item_bits", 1, 4096);
  s->out->latency = whole(s, need(s, array, "array", "latency"), "latency", 0, most);
}

/* --- links ------------------------------------------------------------------------------------ */

typedef struct Links {
  const char *name;
  int dims; /* 0: of any number */
  int n;
  int8_t deltas[4][PE_AXES];
  bool same_time, prev_time;
} Links;

static const Links links_by_name[] = {
    {"none", 0, 0, {{0}}, true, true},
    {"line_back", 1, 1, {{-1}}, true, true},
    {"line_ahead", 1, 1, {{1}}, true, true},
    {"line_hop", 1, 1, {{-1}}, false, true},
    {"line_both_hop", 1, 2, {{-1}, {1}}, false, true},
    {"systolic", 2, 2, {{-1, 0}, {0, -1}}, true, true},
    {"pe_8_8", 2, 2, {{1, 0}, {0, 1}}, true, true},
    {"switch", 2, 4, {{-1, 0}, {0, -1}, {1, -1}, {-1, -1}}, true, true},
    {"switch2", 2, 4, {{1, 0}, {0, 1}, {-1, 1}, {1, 1}}, true, true},
    {"1d_systolic1", 2, 1, {{1, 0}}, true, true},
    {"1d_systolic2", 2, 1, {{-1, 0}}, true, true},
    {"1d_systolic3", 2, 1, {{0, 1}}, true, true},
    {"1d_systolic4", 2, 1, {{0, -1}}, true, true},
    {"pe_12_14", 2, 4, {{1, 0}, {0, 1}, {1, 1}, {1, -1}}, true, true},
    {"systolic_hop", 2, 2, {{-1, 0}, {0, -1}}, false, true},
    {"mesh_hop", 2, 4, {{-1, 0}, {1, 0}, {0, -1}, {0, 1}}, false, true},
    {"mesh_both", 2, 4, {{-1, 0}, {1, 0}, {0, -1}, {0, 1}}, true, true},
    {"maeri", 3, 4, {{0, 0, -1}, {1, 0, 0}, {0, 1, 0}, {0, -1, 1}}, true, true},
    {"cube_hop", 3, 3, {{-1, 0, 0}, {0, -1, 0}, {0, 0, -1}}, false, true},
};
enum { N_LINKS = sizeof links_by_name / sizeof *links_by_name };
static const char *const buses[PE_AXES + 1] = {"bus_x", "bus_y", "bus_z", "bus"};

static int64_t (*room_for(Spec *s, int n))[PE_AXES] {
  s->out->n_deltas = n;
  return tirc_alloc_array(s->c, (size_t)n + 1, sizeof(int64_t[PE_AXES]));
}

/* One word is on the wires for all of a line: the lowest that needs it pays. */
static bool take_bus(Spec *s, const char *name) {
  int which = 0, n = 0;
  while (which <= PE_AXES && strcmp(buses[which], name)) which++;
  if (which > PE_AXES) return false;
  if (which < PE_AXES && which >= s->out->n_dims)
    tirc_fail(s->c, at_key(s, "interconnect"), CODE_PE_ARRAY, NULL,
              "the links %s are along an axis that the array has not", name);
  for (int a = 0; a < s->out->n_dims; a++)
    if (which == a || which == PE_AXES) n += (int)s->out->dims[a] - 1;
  int64_t(*deltas)[PE_AXES] = room_for(s, n);
  n = 0;
  for (int a = 0; a < s->out->n_dims; a++)
    for (int64_t k = 1; (which == a || which == PE_AXES) && k < s->out->dims[a]; k++)
      deltas[n++][a] = -k;
  s->out->deltas = deltas;
  s->out->same_time = true;
  s->out->prev_time = false;
  return true;
}

static _Noreturn void unknown_links(const Spec *s, const char *name) {
  Text all = {.c = s->c};
  Nearest best = {.wanted = name, .n_wanted = strlen(name)};
  for (int i = 0; i < N_LINKS; i++) {
    tirc_offer_name(&best, links_by_name[i].name, strlen(links_by_name[i].name));
    if (!links_by_name[i].dims || links_by_name[i].dims == s->out->n_dims)
      tirc_text_addf(&all, "%s, ", links_by_name[i].name);
  }
  tirc_text_addf(&all, "bus");
  const char *others = tirc_format(s->c, "of %d axes there are %s", s->out->n_dims, all.at);
  tirc_fail(s->c, at_key(s, "interconnect"), CODE_PE_ARRAY,
            tirc_strdup(s->c, tirc_suggest_name(&best, "", others)),
            "no links are called \"%s\"; or give \"deltas\"", name);
}

static void take_links(Spec *s, const char *name) {
  if (take_bus(s, name)) return;
  int i = 0;
  while (i < N_LINKS && strcmp(links_by_name[i].name, name)) i++;
  if (i == N_LINKS) unknown_links(s, name);
  const Links *l = &links_by_name[i];
  if (l->dims && l->dims != s->out->n_dims)
    tirc_fail(s->c, at_key(s, "interconnect"), CODE_PE_ARRAY, NULL,
              "the links %s are of arrays with %d axes, and this one has %d", name, l->dims,
              s->out->n_dims);
  int64_t(*deltas)[PE_AXES] = room_for(s, l->n);
  for (int d = 0; d < l->n; d++)
    for (int a = 0; a < PE_AXES; a++) deltas[d][a] = l->deltas[d][a];
  s->out->deltas = deltas;
  s->out->same_time = l->same_time;
  s->out->prev_time = l->prev_time;
}

static void read_deltas(Spec *s, const Value *list) {
  const int most = 1 << 12;
  if (list->kind != VAL_LIST || list->u.list->n > most)
    tirc_fail(s->c, at_key(s, "deltas"), CODE_PE_ARRAY, "such as [[-1, 0], [0, -1]]",
              "\"deltas\" is not a list of steps");
  int64_t(*deltas)[PE_AXES] = room_for(s, list->u.list->n);
  for (int d = 0; d < list->u.list->n; d++) {
    const Value *one = &list->u.list->at[d];
    if (one->kind != VAL_LIST || one->u.list->n != s->out->n_dims)
      tirc_fail(s->c, at_key(s, "deltas"), CODE_PE_ARRAY, NULL,
                "step %d of \"deltas\" has not %d number%s, one for each axis", d + 1,
                s->out->n_dims, s->out->n_dims == 1 ? "" : "s");
    for (int a = 0; a < s->out->n_dims; a++)
      deltas[d][a] = whole(s, &one->u.list->at[a], "deltas", -(1 << 20), 1 << 20);
  }
  s->out->deltas = deltas;
}

static void read_interconnect(Spec *s, const Value *v) {
  s->out->self_prev = true;
  if (v->kind == VAL_STR) {
    s->out->links = v->u.s;
    take_links(s, v->u.s);
    return;
  }
  const Value links = object_of(s, v, "interconnect");
  ALLOW(s, links, "interconnect", "name", "deltas", "same_time", "prev_time", "self_prev");
  const Value *name = field(links, "name"), *deltas = field(links, "deltas");
  if (name && name->kind != VAL_STR)
    tirc_fail(s->c, at_key(s, "name"), CODE_PE_ARRAY, NULL, "\"name\" is not text");
  s->out->links = name ? name->u.s : "links";
  s->out->prev_time = true;
  if (deltas)
    read_deltas(s, deltas);
  else if (name)
    take_links(s, name->u.s);
  else
    (void)need(s, links, "interconnect", "deltas");
  s->out->same_time = flag(s, links, "same_time", s->out->same_time);
  s->out->prev_time = flag(s, links, "prev_time", s->out->prev_time);
  s->out->self_prev = flag(s, links, "self_prev", true);
}

/* --- energies: of one, in units of a multiply-add ----------------------------------------------- */

static void read_energy(Spec *s, const Value *v) {
  const struct {
    const char *name;
    double *at, usual;
  } rows[] = {{"mac", &s->out->mac, 1},
              {"l1_read", &s->out->l1_read, 1.68},
              {"l1_write", &s->out->l1_write, 1.68},
              {"l2_read", &s->out->l2_read, 18.61},
              {"l2_write", &s->out->l2_write, 18.61}};
  const Value energy = v ? object_of(s, v, "energy") : VALUE_NONE;
  if (v) ALLOW(s, energy, "energy", "mac", "l1_read", "l1_write", "l2_read", "l2_write");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const Value *x = v ? field(energy, rows[i].name) : NULL;
    *rows[i].at = x ? real(s, x, rows[i].name) : rows[i].usual;
  }
}

const ArraySpec *tirc_array_spec(Tirc *c, const char *file, const char *text, size_t n) {
  Spec s = {c, file, tirc_strndup(c, text, n), n, tirc_new(c, ArraySpec)};
  const Value all = tirc_value_of_json_file(c, file, s.text, n);
  if (all.kind != VAL_DICT)
    tirc_fail(c, at_byte(&s, 0), CODE_PE_ARRAY,
              "such as {\"array\": {\"dims\": [8, 8], ...}, \"interconnect\": \"systolic\"}",
              "the description of an array is an object");
  ALLOW(&s, all, "", "name", "about", "array", "interconnect", "energy");
  s.out->file = file;
  read_array(&s, object_of(&s, need(&s, all, "", "array"), "array"));
  read_interconnect(&s, need(&s, all, "", "interconnect"));
  read_energy(&s, field(all, "energy"));
  return s.out;
}

/* --- as it was understood ----------------------------------------------------------------------- */

static Value list_of(Tirc *c, int n, const int64_t *at) {
  const Value out = tirc_value_list(c, VAL_LIST, 0, NULL);
  for (int i = 0; i < n; i++) tirc_value_append(c, out, tirc_value_int(at[i]));
  return out;
}

Value tirc_spec_report(Tirc *c, const ArraySpec *spec) {
  const Value out = tirc_value_list(c, VAL_DICT, 0, NULL);
  const Value deltas = tirc_value_list(c, VAL_LIST, 0, NULL);
  for (int d = 0; d < spec->n_deltas; d++)
    tirc_value_append(c, deltas, list_of(c, spec->n_dims, spec->deltas[d]));
  tirc_dict_put(c, out, "dims", list_of(c, spec->n_dims, spec->dims));
  tirc_dict_put(c, out, "bandwidth", tirc_value_int(spec->bandwidth));
  tirc_dict_put(c, out, "item_bits", tirc_value_int(spec->item_bits));
  tirc_dict_put(c, out, "latency", tirc_value_int(spec->latency));
  tirc_dict_put(c, out, "links", tirc_value_str(spec->links));
  tirc_dict_put(c, out, "deltas", deltas);
  tirc_dict_put(c, out, "same_time", tirc_value_bool(spec->same_time));
  tirc_dict_put(c, out, "prev_time", tirc_value_bool(spec->prev_time));
  tirc_dict_put(c, out, "self_prev", tirc_value_bool(spec->self_prev));
  return out;
}

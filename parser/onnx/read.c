/* From the messages of protobuf to plain structs. */
#define _DEFAULT_SOURCE /* madvise */
#include "internal.h"

#include "ir/number.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the file --------------------------------------------------------------------------------- */

static void *allocate(void *file, size_t size) { return tirc_alloc(((OnnxFile *)file)->c, size); }
static void keep(void *file, void *at) { (void)file, (void)at; }

/* In a function of its own: a FILE's way into the struct that points to itself. */
static OnnxFile *open_file(Tirc *c, const char *path) {
  OnnxFile *f = tirc_new(c, OnnxFile);
  *f = (OnnxFile){.c = c, .path = tirc_strdup(c, path), .allocator = {allocate, keep, f}};
  return f;
}

typedef struct Mapped {
  void *at;
  size_t size;
} Mapped;

static void unmap(void *self) {
  const Mapped *m = self;
  munmap(m->at, m->size);
}

static _Noreturn void cannot_read(OnnxFile *f, const char *path, const char *what, int error) {
  ONNX_FAIL(f, CODE_FILE, NULL, "%s%scannot read '%s': %s", what ? what : "", what ? ": " : "",
            path, tirc_error_text(error));
}

const uint8_t *tirc_onnx_map(OnnxFile *f, const char *path, const char *what, size_t *size) {
  struct stat there;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) cannot_read(f, path, what, errno);
  int error = fstat(fd, &there)        ? errno
              : S_ISREG(there.st_mode) ? 0
              : S_ISDIR(there.st_mode) ? EISDIR
                                       : EINVAL;
  *size = error ? 0 : (size_t)there.st_size;
  void *at = MAP_FAILED;
  if (!error && *size) at = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (!error && *size && at == MAP_FAILED) error = errno;
  close(fd);
  if (error) cannot_read(f, path, what, error);
  if (!*size) return (const uint8_t *)"";
  Mapped *m = tirc_new(f->c, Mapped);
  *m = (Mapped){at, *size};
  tirc_context_own(f->c, m, unmap);
  return at;
}

/* Protocol buffers hold less than 2 GB. */
static const uint8_t *map_message(OnnxFile *f, size_t *size) {
  const uint8_t *bytes = tirc_onnx_map(f, f->path, NULL, size);
  if (*size > INT_MAX)
    ONNX_FAIL(f, CODE_FILE, "such models keep their weights in files of external data",
              "'%s' is larger than 2 GB, which no ONNX file can be", f->path);
  if (!*size) ONNX_FAIL(f, CODE_FILE, NULL, "'%s' is empty", f->path);
  return bytes;
}

/* What was unpacked is a copy: the file's own pages need not stay in memory beside it. */
static void forget(const uint8_t *bytes, size_t size) {
  (void)madvise((void *)(uintptr_t)bytes, size, MADV_DONTNEED);
}

/* --- its nesting --------------------------------------------------------------------------------
 *
 * protobuf-c calls itself for each message inside of a message, so a small file that does nothing
 * but nest would take all of the stack: how deep it goes is looked at before, without unpacking. */

enum { MOST_DEPTH = 40 };

typedef struct Bytes {
  const uint8_t *at;
  size_t n;
} Bytes;

/* False: they end within the number. */
static bool take_number(Bytes *b, uint64_t *out) {
  *out = 0;
  for (unsigned shift = 0; shift < 64 && b->n; shift += 7) {
    const uint8_t byte = *b->at++;
    b->n--;
    *out |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return true;
  }
  return false;
}

static bool take(Bytes *b, uint64_t n) {
  if (n > b->n) return false;
  b->at += n;
  b->n -= (size_t)n;
  return true;
}

/* A field's bytes; false where they are malformed, which the unpacking finds, too. */
static bool take_field(Bytes *b, unsigned *field, Bytes *inner) {
  enum { NUMBER, EIGHT, SOME, FOUR = 5 };
  uint64_t key, n;
  *inner = (Bytes){NULL, 0};
  if (!take_number(b, &key)) return false;
  *field = (unsigned)(key >> 3);
  switch (key & 7) {
  case NUMBER: return take_number(b, &n);
  case EIGHT: return take(b, 8);
  case FOUR: return take(b, 4);
  case SOME:
    if (!take_number(b, &n)) return false;
    *inner = (Bytes){b->at, (size_t)n};
    return take(b, n);
  default: return false;
  }
}

static bool is_shallow(const ProtobufCMessageDescriptor *d, Bytes b, int depth) {
  unsigned number;
  Bytes inner;
  if (!depth) return false;
  while (b.n && take_field(&b, &number, &inner)) {
    const ProtobufCFieldDescriptor *f =
        inner.at ? protobuf_c_message_descriptor_get_field(d, number) : NULL;
    if (f && f->type == PROTOBUF_C_TYPE_MESSAGE && !is_shallow(f->descriptor, inner, depth - 1))
      return false;
  }
  return true;
}

static void check_depth(OnnxFile *f, const ProtobufCMessageDescriptor *d, const uint8_t *bytes,
                        size_t size) {
  if (!is_shallow(d, (Bytes){bytes, size}, MOST_DEPTH))
    ONNX_FAIL(f, CODE_FILE, NULL, "the messages of '%s' are in one another more than %d deep",
              f->path, MOST_DEPTH);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static const char *text(const char *s) { return s ? s : ""; }

/* Texts of a file end at a zero byte, if they have one. */
static const char *text_of_bytes(OnnxFile *f, ProtobufCBinaryData b) {
  return b.len ? tirc_strndup(f->c, (const char *)b.data, b.len) : "";
}

static const char *const *texts(OnnxFile *f, size_t n, char **from) {
  const char **to = tirc_new_array(f->c, const char *, n);
  for (size_t i = 0; i < n; i++) to[i] = text(from[i]);
  return to;
}

static OnnxAttrKind kind_of(const Onnx__AttributeProto *a) {
  if (*text(a->ref_attr_name)) return ONNX_REFERENCE;
  switch ((int)a->type) {
  case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT: return ONNX_FLOAT;
  case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT: return ONNX_INT;
  case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING: return ONNX_STRING;
  case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR: return a->t ? ONNX_TENSOR : ONNX_OTHER;
  case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH: return a->g ? ONNX_GRAPH : ONNX_OTHER;
  case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS: return ONNX_FLOATS;
  case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS: return ONNX_INTS;
  case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS: return ONNX_STRINGS;
  case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED: break; /* files of before 2018 */
  default: return ONNX_OTHER;
  }
  return a->has_f       ? ONNX_FLOAT
         : a->has_i     ? ONNX_INT
         : a->has_s     ? ONNX_STRING
         : a->t         ? ONNX_TENSOR
         : a->n_ints    ? ONNX_INTS
         : a->n_floats  ? ONNX_FLOATS
         : a->n_strings ? ONNX_STRINGS
                        : ONNX_OTHER;
}

static const OnnxModel *read_graph(OnnxFile *f, const Onnx__GraphProto *g, OnnxModel *m,
                                   bool inner);

static OnnxAttr read_attr(OnnxFile *f, const Onnx__AttributeProto *a, const char *node) {
  OnnxAttr out = {.name = text(a->name), .kind = kind_of(a), .n = 1, .of = text(a->ref_attr_name)};
  if (out.kind == ONNX_INT) out.ints = &a->i;
  if (out.kind == ONNX_FLOAT) out.floats = &a->f;
  if (out.kind == ONNX_INTS) out.n = (int)a->n_ints, out.ints = a->ints;
  if (out.kind == ONNX_FLOATS) out.n = (int)a->n_floats, out.floats = a->floats;
  if (out.kind == ONNX_STRING || out.kind == ONNX_STRINGS) {
    out.n = out.kind == ONNX_STRING ? 1 : (int)a->n_strings;
    const char **strings = tirc_new_array(f->c, const char *, out.n);
    for (int i = 0; i < out.n; i++)
      strings[i] = text_of_bytes(f, out.kind == ONNX_STRING ? a->s : a->strings[i]);
    out.strings = strings;
  }
  if (out.kind == ONNX_TENSOR) {
    OnnxTensor *t = tirc_new(f->c, OnnxTensor);
    *t = tirc_onnx_tensor(f, a->t,
                          tirc_format(f->c, "the attribute '%s' of node '%s'", out.name, node));
    out.tensor = t;
  }
  if (out.kind == ONNX_GRAPH) out.graph = read_graph(f, a->g, tirc_new(f->c, OnnxModel), true);
  return out;
}

static const OnnxAttr *read_attrs(OnnxFile *f, size_t n, Onnx__AttributeProto **from,
                                  const char *node) {
  OnnxAttr *to = tirc_new_array(f->c, OnnxAttr, n);
  for (size_t i = 0; i < n; i++) to[i] = read_attr(f, from[i], node);
  return to;
}

static OnnxNode read_node(OnnxFile *f, const Onnx__NodeProto *n, size_t place) {
  OnnxNode out = {.op = text(n->op_type),
                  .domain = text(n->domain),
                  .name = text(n->name),
                  .n_inputs = (int)n->n_input,
                  .n_outputs = (int)n->n_output,
                  .n_attrs = (int)n->n_attribute};
  if (!strcmp(out.domain, "ai.onnx")) out.domain = "";
  if (!*out.name) out.name = tirc_format(f->c, "%s %zu", out.op, place);
  out.inputs = texts(f, n->n_input, n->input);
  out.outputs = texts(f, n->n_output, n->output);
  out.attrs = read_attrs(f, n->n_attribute, n->attribute, out.name);
  tirc_onnx_find_captures(f, &out);
  return out;
}

/* --- inputs and outputs ----------------------------------------------------------------------- */

static OnnxValue read_value(OnnxFile *f, const Onnx__ValueInfoProto *v) {
  OnnxValue out = {.name = text(v->name)};
  const Onnx__TypeProto__Tensor *t =
      v->type && v->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ? v->type->tensor_type
                                                                            : NULL;
  out.is_tensor = !v->type || t;
  if (!t) return out;
  (void)tirc_onnx_dtype(t->elem_type, &out.dtype);
  out.has_shape = t->shape;
  out.ndim = t->shape ? (int)t->shape->n_dim : 0;
  OnnxDim *dims = tirc_new_array(f->c, OnnxDim, out.ndim);
  for (int d = 0; d < out.ndim; d++) {
    const Onnx__TensorShapeProto__Dimension *from = t->shape->dim[d];
    const bool is_number = from->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    const bool is_name = from->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
    /* -1 is written by some for an extent that is not known. */
    dims[d] = (OnnxDim){is_number && from->dim_value >= 0 ? from->dim_value : -1,
                        is_name ? text(from->dim_param) : ""};
  }
  out.dims = dims;
  return out;
}

/* --- the graph -------------------------------------------------------------------------------- */

static const OnnxModel *read_graph(OnnxFile *f, const Onnx__GraphProto *g, OnnxModel *m,
                                   bool inner) {
  StrMap stored = {0};
  OnnxTensor *weights = tirc_new_array(f->c, OnnxTensor, g->n_initializer);
  if (g->n_sparse_initializer)
    ONNX_FAIL(f, CODE_ONNX, NULL, "the model has sparse initializers, which are not read");
  for (size_t i = 0; i < g->n_initializer; i++) {
    weights[i] = tirc_onnx_tensor(f, g->initializer[i], tirc_format(f->c, "initializer %zu", i));
    if (*tirc_strmap_at(f->c, &stored, weights[i].name))
      ONNX_FAIL(f, CODE_ONNX, NULL, "two initializers have the name '%s'", weights[i].name);
    *tirc_strmap_at(f->c, &stored, weights[i].name) = &weights[i];
  }
  OnnxValue *inputs = tirc_new_array(f->c, OnnxValue, g->n_input);
  OnnxValue *outputs = tirc_new_array(f->c, OnnxValue, g->n_output);
  OnnxNode *nodes = tirc_new_array(f->c, OnnxNode, g->n_node);
  for (size_t i = 0; i < g->n_input; i++)
    if (!tirc_strmap_get(&stored, text(g->input[i]->name)))
      inputs[m->n_inputs++] = read_value(f, g->input[i]);
  for (size_t i = 0; i < g->n_output; i++) outputs[i] = read_value(f, g->output[i]);
  for (size_t i = 0; i < g->n_node; i++) nodes[i] = read_node(f, g->node[i], i);
  m->n_outputs = (int)g->n_output;
  m->n_nodes = (int)g->n_node;
  m->n_weights = (int)g->n_initializer;
  m->inputs = inputs;
  m->outputs = outputs;
  m->weights = weights;
  m->nodes = nodes;
  m->nodes = tirc_onnx_in_order(f, m, inner);
  return m;
}

/* --- functions -------------------------------------------------------------------------------- */

enum { NEWEST_OPSET = 26 };

/* The version of ONNX's own operators; before there were others, 1. */
static int64_t read_opset(OnnxFile *f, size_t n, Onnx__OperatorSetIdProto **from) {
  int64_t version = n ? 0 : 1;
  for (size_t i = 0; i < n; i++) {
    const char *domain = text(from[i]->domain);
    if (!*domain || !strcmp(domain, "ai.onnx")) version = from[i]->version;
  }
  if (version < 0 || version > NEWEST_OPSET)
    ONNX_FAIL(f, CODE_ONNX, "export the model with an older set",
              "'%s' asks for version %lld of ONNX's operators, and those up to %d are known",
              f->path, (long long)version, NEWEST_OPSET);
  return version;
}

static const OnnxValue *read_names(OnnxFile *f, size_t n, char **from) {
  OnnxValue *to = tirc_new_array(f->c, OnnxValue, n);
  for (size_t i = 0; i < n; i++) to[i] = (OnnxValue){.name = text(from[i])};
  return to;
}

/* The defaults of a function's attributes. Schemas from before 1.12 do not know the field: what it
 * holds is then among the unknown ones, each with its length before it. */
static const OnnxAttr *read_defaults(OnnxFile *f, const Onnx__FunctionProto *from, int *n) {
  enum { DEFAULTS = 11 };
  const ProtobufCFieldDescriptor *field =
      protobuf_c_message_descriptor_get_field(from->base.descriptor, DEFAULTS);
  VEC(Onnx__AttributeProto *) found = {0};
  const char *at = (const char *)from;
  for (size_t i = 0; field && i < *(const size_t *)(at + field->quantifier_offset); i++)
    vec_push(f->c, found, (*(Onnx__AttributeProto *const *const *)(at + field->offset))[i]);
  for (unsigned i = 0; i < from->base.n_unknown_fields; i++) {
    const ProtobufCMessageUnknownField *u = &from->base.unknown_fields[i];
    Bytes bytes = {u->data, u->len};
    uint64_t length;
    if (u->tag != DEFAULTS || !take_number(&bytes, &length)) continue;
    check_depth(f, &onnx__attribute_proto__descriptor, bytes.at, bytes.n);
    Onnx__AttributeProto *a = onnx__attribute_proto__unpack(&f->allocator, bytes.n, bytes.at);
    if (a) vec_push(f->c, found, a);
  }
  *n = found.n;
  return read_attrs(f, (size_t)found.n, found.at, text(from->name));
}

static OnnxFunction read_function(OnnxFile *f, const Onnx__FunctionProto *from) {
  OnnxModel *body = tirc_new(f->c, OnnxModel);
  OnnxNode *nodes = tirc_new_array(f->c, OnnxNode, from->n_node);
  for (size_t i = 0; i < from->n_node; i++) nodes[i] = read_node(f, from->node[i], i);
  *body = (OnnxModel){.path = f->path,
                      .opset = read_opset(f, from->n_opset_import, from->opset_import),
                      .n_inputs = (int)from->n_input,
                      .n_outputs = (int)from->n_output,
                      .n_nodes = (int)from->n_node,
                      .inputs = read_names(f, from->n_input, from->input),
                      .outputs = read_names(f, from->n_output, from->output),
                      .nodes = nodes};
  body->nodes = tirc_onnx_in_order(f, body, false);
  OnnxFunction out = {.name = text(from->name), .domain = text(from->domain), .body = body};
  out.defaults = read_defaults(f, from, &out.n_defaults);
  return out;
}

const OnnxModel *tirc_onnx_read(Tirc *c, const char *path) {
  size_t size;
  OnnxFile *f = open_file(c, path);
  const uint8_t *bytes = map_message(f, &size);
  check_depth(f, &onnx__model_proto__descriptor, bytes, size);
  const Onnx__ModelProto *p = onnx__model_proto__unpack(&f->allocator, size, bytes);
  forget(bytes, size);
  OnnxModel *m = tirc_new(c, OnnxModel);
  *m = (OnnxModel){.path = f->path};
  if (!p || !p->graph) ONNX_FAIL(f, CODE_FILE, "is it cut off?", "'%s' is not an ONNX model", path);
  m->opset = read_opset(f, p->n_opset_import, p->opset_import);
  OnnxFunction *functions = tirc_new_array(c, OnnxFunction, p->n_functions);
  for (size_t i = 0; i < p->n_functions; i++) {
    functions[i] = read_function(f, p->functions[i]);
    for (size_t k = 0; k < i; k++)
      if (!strcmp(functions[k].name, functions[i].name) &&
          !strcmp(functions[k].domain, functions[i].domain))
        ONNX_FAIL(f, CODE_ONNX, NULL,
                  "the file has two functions %s of %s, and overloads are not read",
                  functions[i].name, functions[i].domain);
  }
  m->n_functions = (int)p->n_functions;
  m->functions = functions;
  (void)read_graph(f, p->graph, m, false);
  m->n_files = f->external.n;
  m->files = f->external.at;
  return m;
}

const OnnxTensor *tirc_onnx_read_tensor(Tirc *c, const char *path) {
  size_t size;
  OnnxFile *f = open_file(c, path);
  const uint8_t *bytes = map_message(f, &size);
  check_depth(f, &onnx__tensor_proto__descriptor, bytes, size);
  const Onnx__TensorProto *p = onnx__tensor_proto__unpack(&f->allocator, size, bytes);
  if (!p) ONNX_FAIL(f, CODE_FILE, "is it cut off?", "'%s' is not a tensor of ONNX", path);
  OnnxTensor *t = tirc_new(c, OnnxTensor);
  *t = tirc_onnx_tensor(f, p, tirc_format(c, "the tensor in '%s'", path));
  return t;
}

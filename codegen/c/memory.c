/* Loads, stores, addresses, and the memory of allocated buffers. */
#include "codegen/access.h"
#include "gen.h"
#include "ir/tree/c_code.h"

/* --- places --------------------------------------------------------------------------------- */

static Name *data_of(Gen *g, Buffer b) {
  Name *name = tirc_src_name_of(g, b);
  name->used = true;
  return name;
}

static DType element_of(Buffer b) { return tirc_dtype_lanes(b->dtype, 1); }

/* The array as C sees it; memory that was declared with another type is seen through an alias. */
static const char *array_of(Gen *g, Buffer b) {
  Name *name = data_of(g, b);
  if (tirc_dtype_equal(name->element, element_of(b))) return name->s;
  return tirc_format(g->c, "((tirc_any_%s *)%s)", tirc_cg_vector(g, element_of(b), 1), name->s);
}

static const char *index_of(Gen *g, Expr e) { return tirc_src_index(g, e, &tirc_src_first).s; }

static const char *sum(Gen *g, Expr base, const char *lanes) {
  CText b = tirc_src_index(g, base, &tirc_src_first), l = {lanes, BINDS_PRODUCT};
  return tirc_is_int(base, 0) ? lanes : tirc_src_binary(g, OP_ADD, b, l).s;
}

/* The index of the first lane of a vector, or of the one lane that is asked for. */
static const char *index_at(Gen *g, Expr index, const Window *w) {
  if (index->dtype.lanes == 1) return index_of(g, index);
  if (index->op == OP_BROADCAST) return index_of(g, index->args[0]);
  int64_t stride;
  bool is_first = !w->lane || strcmp(w->lane, "0") == 0;
  if (index->op == OP_RAMP && tirc_const_int(index->args[1], &stride)) {
    Expr base = tirc_src_plus(g->c, index->args[0], stride * w->start);
    if (is_first) return index_of(g, base);
    return sum(g, base,
               stride == 1 ? w->lane : tirc_format(g->c, "%lld * %s", (long long)stride, w->lane));
  }
  if (index->op == OP_RAMP)
    return sum(g, index->args[0],
               tirc_format(g->c, "(%s) * %s", index_of(g, index->args[1]), tirc_src_lane(g, w)));
  return tirc_src_index(g, index, w).s;
}

/* Where the access begins in a register tile; false for other buffers. */
static bool start_in_tile(Gen *g, Buffer b, Expr index, const Window *w, int64_t *start) {
  bool is_vector = index->op == OP_RAMP;
  if (!data_of(g, b)->tile) return false;
  if (!tirc_const_int(is_vector ? index->args[0] : index, start)) return false;
  if (is_vector) *start += w->start;
  return true;
}

/* The variable that holds an element of a register tile; NULL for other buffers. */
static const char *piece_of(Gen *g, Buffer b, Expr index, const Window *w) {
  int64_t start;
  if (!start_in_tile(g, b, index, w, &start)) return NULL;
  const char *piece = tirc_format(g->c, "%s_%lld", data_of(g, b)->s, (long long)start);
  bool is_lane = index->op == OP_RAMP && w->lane && w->n > 1;
  return is_lane ? tirc_format(g->c, "%s[%s]", piece, w->lane) : piece;
}

static void note_read(Gen *g, Buffer b, Expr index, const Window *w) {
  Name *name = data_of(g, b);
  name->read = true;
  if (!name->written) name->is_early = true;
  int64_t start;
  if (!start_in_tile(g, b, index, w, &start)) return;
  for (int i = 0; i < name->tile->pieces.n; i++) {
    Piece *p = &name->tile->pieces.at[i];
    if (p->start == start) p->read = true;
  }
}

static CText place(Gen *g, Buffer b, Expr index, const Window *w) {
  tirc_cg_require_reach(g, b);
  const char *piece = piece_of(g, b, index, w);
  if (piece) return tirc_src_text(g, BINDS_ALL, "%s", piece);
  return tirc_src_text(g, BINDS_ALL, "%s[%s]", array_of(g, b), index_at(g, index, w));
}

CText tirc_cg_address(Gen *g, Expr load) {
  Buffer b = load->u.buffer;
  Expr index = tirc_linear_index(g->c, b, load->n, load->args);
  if (index->dtype.lanes > 1) tirc_src_unsupported(g, load);
  data_of(g, b)->read = data_of(g, b)->written = true;
  return tirc_src_text(g, BINDS_CAST, "&%s[%s]", array_of(g, b), index_of(g, index));
}

bool tirc_cg_is_tile(Gen *g, Buffer b) { return tirc_src_name_of(g, b)->tile != NULL; }

const char *tirc_cg_element(Gen *g, Buffer b, Expr index, int64_t k) {
  tirc_cg_require_reach(g, b);
  data_of(g, b)->read = true;
  if (!tirc_src_name_of(g, b)->written) tirc_src_name_of(g, b)->is_early = true;
  return tirc_format(g->c, "%s[%s]", array_of(g, b), index_of(g, tirc_src_plus(g->c, index, k)));
}

const char *tirc_cg_tile_piece(Gen *g, Buffer b, Expr index, int first, int n) {
  const Window w = {first, n, NULL};
  const char *piece = piece_of(g, b, index, &w);
  if (piece) note_read(g, b, index, &w);
  return piece;
}

void tirc_cg_note_written(Gen *g, Buffer b) { data_of(g, b)->written = true; }

/* --- loads ---------------------------------------------------------------------------------- */

CText tirc_cg_load(Gen *g, Expr e, const Window *w) {
  Buffer b = e->u.buffer;
  Expr index = tirc_linear_index(g->c, b, e->n, e->args);
  note_read(g, b, index, w);
  CText at = place(g, b, index, w);
  if (index->dtype.lanes > 1 && !w->lane && !piece_of(g, b, index, w))
    return tirc_src_text(g, BINDS_ALL, "VLOAD(%s, &%s)", tirc_cg_vector(g, b->dtype, w->n), at.s);
  if (b->dtype.code == TYPE_BOOL) return tirc_src_text(g, BINDS_EQUAL, "%s != 0", at.s);
  return at;
}

/* --- stores --------------------------------------------------------------------------------- */

static CText stored_value(Gen *g, Stmt s, const Window *w) {
  DType t = element_of(s->u.store.buffer);
  Expr value = s->u.store.value;
  CText v = tirc_src_cast(g, tirc_src_expr(g, value, w), value->dtype, t);
  return t.code == TYPE_BOOL ? tirc_c_cast_to(g->c, "uint8_t", v) : v;
}

/* What stands before a store of one lane, or of w->n of them. */
static const char *each_lane(Gen *g, const char *lane, const Window *w) {
  const char *loop = "", *test = "";
  if (w->n > 1)
    loop = tirc_format(g->c, "for (int %s = 0; %s < %d; %s++) ", lane, lane, w->n, lane);
  if (g->file->mask) test = tirc_format(g->c, "if (%s) ", tirc_src_expr(g, g->file->mask, w).s);
  return tirc_format(g->c, "%s%s", loop, test);
}

/* What goes where in one window of a store; lane is taken for the loop over the window's lanes. */
static void store_window(Gen *g, Stmt s, Expr index, const Window *w, const char *lane) {
  Buffer b = s->u.store.buffer;
  if (!w->lane) {
    CText v = tirc_cg_vector_value(g, s->u.store.value, element_of(b), w);
    const char *piece = piece_of(g, b, index, w);
    const char *type = tirc_cg_vector(g, b->dtype, w->n);
    if (piece)
      tirc_src_line(g, "%s = %s;", piece, v.s);
    else
      tirc_src_line(g, "VSTORE(%s, &%s, %s);", type, place(g, b, index, w).s, v.s);
    return;
  }
  const char *at = place(g, b, index, w).s, *v = stored_value(g, s, w).s;
  tirc_src_line(g, "%s%s = %s;", each_lane(g, lane, w), at, v);
}

/* The same where all lanes of the value are computed before the first is stored: into the array
 * `all`, and from there in a second pass. */
static void store_staged(Gen *g, Stmt s, Expr index, const Window *w, const char *lane,
                         const char *all, bool is_second) {
  Buffer b = s->u.store.buffer;
  const char *here = tirc_format(g->c, "%s[%d]", all, w->start);
  if (!w->lane) {
    const char *type = tirc_cg_vector(g, b->dtype, w->n), *piece = piece_of(g, b, index, w);
    if (!is_second)
      tirc_src_line(g, "VSTORE(%s, &%s, %s);", type, here,
                    tirc_cg_vector_value(g, s->u.store.value, element_of(b), w).s);
    else if (piece)
      tirc_src_line(g, "%s = VLOAD(%s, &%s);", piece, type, here);
    else
      tirc_src_line(g, "VSTORE(%s, &%s, VLOAD(%s, &%s));", type, place(g, b, index, w).s, type,
                    here);
    return;
  }
  if (w->n > 1) here = tirc_format(g->c, "%s[%s]", all, tirc_src_lane(g, w));
  const char *at = is_second ? place(g, b, index, w).s : here;
  const char *v = is_second ? here : stored_value(g, s, w).s;
  tirc_src_line(g, "%s%s = %s;", each_lane(g, lane, w), at, v);
}

static bool find_tile_access(Visitor *v, Expr e) {
  Gen *g = ((void **)v->self)[0];
  bool *found = ((void **)v->self)[1];
  if (e->op == OP_LOAD && tirc_src_name_of(g, e->u.buffer)->tile) *found = true;
  return true;
}

static bool uses_tile(Gen *g, Stmt s) {
  bool found = tirc_src_name_of(g, s->u.store.buffer)->tile != NULL;
  void *self[2] = {g, &found};
  tirc_visit_expr(&(Visitor){.expr = find_tile_access, .self = self}, s->u.store.value);
  return found;
}

/* Vectors in pieces of a register each; loops over lanes in one piece, but for register tiles. */
void tirc_cg_store(Gen *g, Stmt s) {
  if (!g->file->mask && tirc_cg_dot(g, s)) return;
  Buffer b = s->u.store.buffer;
  Expr index = tirc_linear_index(g->c, b, s->u.store.n, s->u.store.indices);
  bool is_vector = !g->file->mask && tirc_cg_has_vector_form(g, s);
  int lanes = index->dtype.lanes, mark = g->taken.n;
  int size = is_vector || uses_tile(g, s) ? tirc_cg_chunk_lanes(g, s) : lanes;
  bool staged = lanes > (is_vector ? size : 1) && tirc_src_overlaps(s, g->file->restrict_data);
  const char *lane = lanes > 1 ? tirc_src_name(g, "lane") : "0", *all = NULL;
  if (staged) {
    all = tirc_src_name(g, "all");
    tirc_src_open(g, "{");
    tirc_src_line(g, "_Alignas(64) %s %s[%d];", tirc_c_type(b->dtype), all, lanes);
  }
  for (int pass = 0; pass < (staged ? 2 : 1); pass++)
    for (int at = 0, n; at < lanes; at += n) {
      n = is_vector || size != lanes ? tirc_cg_next_chunk(lanes - at, size) : lanes;
      Window w = {at, n, n == 1 ? "0" : is_vector ? NULL : lane};
      if (staged)
        store_staged(g, s, index, &w, lane, all, pass == 1);
      else
        store_window(g, s, index, &w, lane);
    }
  if (staged) tirc_src_close(g);
  Name *name = data_of(g, b);
  name->written |= !name->is_one || g->branches == name->branches;
  g->taken.n = mark;
}

void tirc_cg_if(Gen *g, Stmt s) {
  if (s->u.branch.cond->dtype.lanes == 1) {
    g->branches++;
    tirc_src_if(g, s);
    g->branches--;
    return;
  }
  g->file->mask = s->u.branch.cond;
  tirc_cg_store(g, s->u.branch.then_case);
  g->file->mask = NULL;
}

/* --- allocations ---------------------------------------------------------------------------- */

static void declare_tile(Gen *g, Buffer b, const Name *name) {
  for (int i = 0; i < name->tile->pieces.n; i++) {
    const Piece *p = &name->tile->pieces.at[i];
    if (p->n > 1)
      tirc_src_line(g, "%s %s_%d = {0};", tirc_cg_vector(g, b->dtype, p->n), name->s, p->start);
    else
      tirc_src_line(g, "%s %s_%d = 0;", tirc_c_type(b->dtype), name->s, p->start);
    if (!p->read) tirc_src_line(g, "(void)%s_%d;", name->s, p->start);
  }
}

static bool pieces_are_taken(Gen *g, const Name *name) {
  for (int i = 0; i < name->tile->pieces.n; i++) {
    const char *s = tirc_format(g->c, "%s_%d", name->s, name->tile->pieces.at[i].start);
    for (int k = 0; k < g->taken.n; k++)
      if (strcmp(g->taken.at[k], s) == 0) return true;
  }
  return false;
}

static void take_pieces(Gen *g, Name *name) {
  while (pieces_are_taken(g, name)) name->s = tirc_src_name(g, tirc_format(g->c, "%s_r", name->s));
  for (int i = 0; i < name->tile->pieces.n; i++)
    vec_push(g->c, g->taken, tirc_format(g->c, "%s_%d", name->s, name->tile->pieces.at[i].start));
}

static void on_stack(Gen *g, Stmt s, Name *name, int64_t bytes) {
  Buffer b = s->u.alloc.buffer;
  Text body = {.c = g->c}, *outer = tirc_cg_begin_body(g, &body);
  const int64_t count = bytes / tirc_dtype_bytes(element_of(b));
  name->is_one = count == 1;
  name->branches = g->branches;
  name->tile = tirc_cg_find_tile(g, b, s->u.alloc.body);
  if (name->tile)
    take_pieces(g, name);
  else
    g->file->stack_bytes += bytes;
  tirc_src_stmt(g, s->u.alloc.body);
  g->out = outer;
  if (name->used && name->tile) declare_tile(g, b, name);
  if (name->used && !name->tile) {
    tirc_src_line(g, "_Alignas(64) %s %s[%lld]%s;", tirc_c_type(b->dtype), name->s,
                  (long long)(count > 0 ? count : 1), name->is_early ? " = {0}" : "");
    if (!name->read) tirc_src_line(g, "(void)%s;", name->s);
  }
  tirc_cg_end_body(g, outer, &body);
}

void tirc_cg_free(Gen *g, const Held *h) {
  if (h->memory) return tirc_src_line(g, "%s_free(%s);", h->memory, h->name);
  const bool is_plain = tirc_cg_is_portable(g);
  const char *own = is_plain ? tirc_src_helper(g, HELPER_FREE_PLAIN, DT_VOID) : "free";
  if (h->bytes) {
    tirc_src_line(g, "if (tirc_rt && tirc_rt->free)");
    tirc_src_line(g, "  tirc_rt->free(tirc_rt->self, %s, %s);", h->name, h->bytes);
    tirc_src_line(g, "else");
    tirc_src_line(g, "  %s(%s);", own, h->name);
  } else {
    tirc_src_line(g, "%s(%s);", own, h->name);
  }
}

/* The pointer to so many bytes, and what frees them. */
static Held allocate(Gen *g, const char *type, const Name *name, const char *size) {
  const HelperId id = tirc_cg_is_portable(g) ? HELPER_ALLOC_PLAIN : HELPER_ALLOC;
  const char *alloc = tirc_src_helper(g, id, DT_VOID), *bytes = NULL;
  const char *star = g->file->restrict_data ? "*restrict " : "*";
  g->file->uses_stdlib = true;
  if (g->file->what->has_runtime) {
    bytes = tirc_src_name(g, tirc_format(g->c, "%s_bytes", name->s));
    g->file->uses_rt = true;
    tirc_src_line(g, "const size_t %s = %s;", bytes, size);
    tirc_src_line(g, "%s %s%s = tirc_rt && tirc_rt->alloc ? tirc_rt->alloc(tirc_rt->self, %s)",
                  type, star, name->s, bytes);
    tirc_src_line(g, "    : %s(%s);", alloc, bytes);
  } else {
    tirc_src_line(g, "%s %s%s = %s(%s);", type, star, name->s, alloc, size);
  }
  return (Held){name->s, bytes, NULL, g->file->held};
}

/* Of a device's own memory. */
static Held allocate_there(Gen *g, Buffer b, const char *type, const Name *name, const char *size) {
  const char *memory = tirc_cg_memory_name(g, b);
  tirc_src_line(g, "%s *%s = %s_alloc(%s);", type, name->s, memory, size);
  return (Held){name->s, NULL, memory, g->file->held};
}

static void on_heap(Gen *g, Stmt s, const Name *name, int64_t bytes) {
  Buffer b = s->u.alloc.buffer;
  const char *type = tirc_c_type(b->dtype);
  const char *size = tirc_format(g->c, "sizeof(%s)", type);
  for (int i = 0; i < b->ndim && bytes < 0; i++)
    size = tirc_format(g->c, "%s(%s, %s)", tirc_src_helper(g, HELPER_SIZE, DT_VOID), size,
                       tirc_src_scalar(g, b->shape[i]).s);
  if (bytes >= 0)
    size = tirc_format(g->c, "%lld * %s", (long long)bytes / tirc_dtype_bytes(element_of(b)), size);
  const bool is_there = tirc_is_device_memory(b);
  if (g->file->what->is_no_alloc && !is_there)
    tirc_fail(g->c, g->loc, CODE_UNSUPPORTED,
              bytes < 0 ? "-D NAME=VALUE sets an extent" : "--weights-inside or --weights-out",
              bytes < 0
                  ? "%s of %s has a size that only the run knows, and --no-alloc has no place "
                    "for it"
                  : "%s of %s lays weights out when the program begins, and --no-alloc has "
                    "no place for it",
              name->s, g->file->func);
  Held held = is_there ? allocate_there(g, b, type, name, size) : allocate(g, type, name, size);
  tirc_cg_leave_if(g, tirc_format(g->c, "!%s", name->s), "1");
  g->file->held = &held;
  tirc_src_stmt(g, s->u.alloc.body);
  g->file->held = held.outer;
  tirc_cg_free(g, &held);
}

static const char *constant_in_memory(Gen *g, Expr e) {
  if (tirc_dtype_is_float(e->dtype) && e->dtype.bits == 16)
    return tirc_format(g->c, "0x%04x", tirc_double_to_16_bits(e->dtype, e->u.f));
  return tirc_src_scalar(g, e).s;
}

static void constant(Gen *g, Stmt s, const Name *name, Expr data) {
  enum { IN_A_LINE = 8 };
  Text body = {.c = g->c}, *outer = tirc_cg_begin_body(g, &body);
  tirc_src_stmt(g, s->u.alloc.body);
  g->out = outer;
  if (name->used) {
    tirc_src_line(g, "static const _Alignas(64) %s %s[%d] = {", tirc_c_type(name->element), name->s,
                  data->n ? data->n : 1);
    for (int i = 0; i < data->n; i += IN_A_LINE) {
      Text row = {.c = g->c};
      for (int k = i; k < data->n && k < i + IN_A_LINE; k++)
        tirc_text_addf(&row, "%s%s,", k > i ? " " : "", constant_in_memory(g, data->args[k]));
      tirc_src_line(g, "  %s", row.at);
    }
    tirc_src_line(g, data->n ? "};" : "0};");
    if (!name->read) tirc_src_line(g, "(void)%s;", name->s);
  }
  tirc_cg_end_body(g, outer, &body);
}

void tirc_cg_alloc(Gen *g, Stmt s) {
  Buffer b = s->u.alloc.buffer;
  int64_t bytes = tirc_constant_bytes(b);
  const int mark = g->taken.n;
  Name *name = tirc_src_declare(g, b->data, b->name);
  name->element = element_of(b);
  const Expr data = tirc_attrs_get(s->u.alloc.annotations, ALLOC_DATA);
  if (data)
    constant(g, s, name, data);
  else if (!tirc_is_device_memory(b) && tirc_fits_stack(bytes, g->file->stack_bytes))
    on_stack(g, s, name, bytes);
  else
    on_heap(g, s, name, bytes);
  tirc_map_remove(&g->vars, b->data);
  g->taken.n = mark;
}

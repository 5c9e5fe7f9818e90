/* Shapes against shapes: extents that a callee leaves open get the caller's values, and what is
 * known twice has to be the same, provably. */
#include "module.h"

#include "ir/arith/equal.h"
#include "ir/tree/print.h"
#include "ir/tree/visit.h"

static bool fail(Match *m, const char *what, Info formal, Info actual) {
  m->why = tirc_format(m->c, "%s: %s is wanted, and it is %s", what, tirc_info_words(m->c, formal),
                       tirc_info_words(m->c, actual));
  return false;
}

static bool proved_equal(Match *m, Expr a, Expr b) {
  if (a == b || tirc_expr_equal(m->c, a, b)) return true;
  return tirc_prove_equal(tirc_analyzer(m->c), a, b);
}

static bool match_extent(Match *m, Expr formal, Expr actual) {
  const Expr here = tirc_cast(m->c, formal->dtype, actual);
  if (formal->op == OP_VAR && !tirc_map_has(&m->symbols, formal)) {
    tirc_map_set(m->c, &m->symbols, formal, here);
    return true;
  }
  return proved_equal(m, tirc_substitute(m->c, formal, &m->symbols), here);
}

/* Plain variables first, so that n * 2 may stand before n. */
static bool match_shape(Match *m, int n, const Expr *formal, const Expr *actual) {
  bool all = true;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < n; i++)
      if ((formal[i]->op == OP_VAR) == (pass == 0)) all &= match_extent(m, formal[i], actual[i]);
  return all;
}

/* Plain variables of formal that have no value yet get one, and nothing is compared. */
static void match_plain(Match *m, Info formal, Info actual) {
  if (!formal || !actual || formal->kind != actual->kind) return;
  if (formal->kind == INFO_TUPLE && formal->n == actual->n)
    for (int i = 0; i < formal->n; i++) match_plain(m, formal->fields[i], actual->fields[i]);
  if (!formal->shape || !actual->shape || formal->ndim != actual->ndim) return;
  for (int i = 0; i < formal->ndim; i++)
    if (formal->shape[i]->op == OP_VAR && !tirc_map_has(&m->symbols, formal->shape[i]))
      (void)match_extent(m, formal->shape[i], actual->shape[i]);
}

bool tirc_match_info(Match *m, Info formal, Info actual) {
  if (formal->kind == INFO_OBJECT) return true;
  if (!actual) return fail(m, "an unknown value", formal, actual);
  if (formal->kind != actual->kind) return fail(m, "another kind of value", formal, actual);
  if (formal->kind == INFO_TUPLE) {
    if (formal->n != actual->n) return fail(m, "another number of fields", formal, actual);
    for (int i = 0; i < formal->n; i++)
      if (!tirc_match_info(m, formal->fields[i], actual->fields[i])) return false;
    return true;
  }
  if (formal->kind == INFO_PRIM)
    return !formal->value || (actual->value && match_extent(m, formal->value, actual->value)) ||
           fail(m, "another value", formal, actual);
  if (formal->dtype.code != TYPE_VOID && !tirc_dtype_equal(formal->dtype, actual->dtype))
    return fail(m, "another type", formal, actual);
  if (formal->ndim < 0) return true;
  if (formal->ndim != actual->ndim) return fail(m, "another rank", formal, actual);
  if (!formal->shape) return true;
  if (!actual->shape) return fail(m, "an unknown shape", formal, actual);
  return match_shape(m, formal->ndim, formal->shape, actual->shape) ||
         fail(m, "another shape", formal, actual);
}

int tirc_match_params(Match *m, int n, const Info *formals, const Info *actuals) {
  for (int i = 0; i < n; i++) match_plain(m, formals[i], actuals[i]);
  for (int i = 0; i < n; i++)
    if (formals[i] && !tirc_match_info(m, formals[i], actuals[i])) return i;
  return -1;
}

const Info *tirc_node_infos(Tirc *c, int n, const Node *nodes) {
  Info *infos = tirc_new_array(c, Info, n);
  for (int i = 0; i < n; i++) infos[i] = nodes[i]->info;
  return infos;
}

const Info *tirc_buffer_infos(Tirc *c, int n, const Buffer *buffers) {
  Info *infos = tirc_new_array(c, Info, n);
  for (int i = 0; i < n; i++) {
    Buffer b = buffers[i];
    if (b) infos[i] = tirc_info_tensor(c, b->dtype, b->ndim, b->shape);
  }
  return infos;
}

void tirc_match_fresh(Match *m, Info formal) {
  PtrMap seen = {0};
  Symbols symbols = {0};
  tirc_info_symbols(m->c, formal, &seen, &symbols);
  for (int i = 0; i < symbols.n; i++)
    if (!tirc_map_has(&m->symbols, symbols.at[i]))
      tirc_map_set(m->c, &m->symbols, symbols.at[i],
                   tirc_var(m->c, symbols.at[i]->u.s, symbols.at[i]->dtype));
}

/* --- two who know ----------------------------------------------------------------------------- */

Info tirc_meet_info(Match *m, Info said, Info found) {
  if (!said || !found) return said ? said : found;
  if (said->kind == INFO_OBJECT) return found;
  if (found->kind == INFO_OBJECT) return said;
  struct StructInfo both = *found;
  if (said->kind != found->kind || (said->kind == INFO_TUPLE && said->n != found->n)) {
    fail(m, "another kind of value", said, found);
    return NULL;
  }
  if (said->kind == INFO_TUPLE) {
    Info *fields = tirc_new_array(m->c, Info, said->n);
    for (int i = 0; i < said->n; i++)
      if (!(fields[i] = tirc_meet_info(m, said->fields[i], found->fields[i])) && said->fields[i])
        return NULL;
    return tirc_info_tuple(m->c, said->n, fields);
  }
  if (found->dtype.code == TYPE_VOID) both.dtype = said->dtype;
  if (found->ndim < 0) both.ndim = said->ndim;
  if (!found->shape) both.shape = said->shape;
  if (!found->value) both.value = said->value;
  /* Here both speak of the same variables. */
  const Match same = {.c = m->c};
  Match exact = same;
  for (int i = 0; said->shape && i < said->ndim; i++)
    if (said->shape[i]->op == OP_VAR)
      tirc_map_set(m->c, &exact.symbols, said->shape[i], said->shape[i]);
  if (!tirc_match_info(&exact, said, &both)) {
    m->why = exact.why;
    return NULL;
  }
  return tirc_info_copy(m->c, &both);
}

/* --- who tells symbols ------------------------------------------------------------------------ */

Expr tirc_untold_symbol(Tirc *c, int n, const Node *params, int n_bindings, const Binding *bindings,
                        bool shapes_tell) {
  PtrMap told = {0}, seen = {0};
  Symbols symbols = {0};
  for (int i = 0; i < n; i++) {
    const Info info = params[i]->info;
    const bool tells =
        info && (info->kind == INFO_TENSOR || (shapes_tell && info->kind == INFO_SHAPE));
    for (int d = 0; tells && info->shape && d < info->ndim; d++)
      if (info->shape[d]->op == OP_VAR) tirc_map_set(c, &told, info->shape[d], info);
    tirc_info_symbols(c, info, &seen, &symbols);
  }
  for (int i = 0; i < n_bindings; i++) {
    tirc_info_symbols(c, bindings[i].var->info, &seen, &symbols);
    tirc_node_symbols(c, bindings[i].value, &seen, &symbols);
  }
  for (int i = 0; i < symbols.n; i++)
    if (!tirc_map_has(&told, symbols.at[i])) return symbols.at[i];
  return NULL;
}

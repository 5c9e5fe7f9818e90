/* The products in a function, with values for their extents. */
#include "products.h"

#include "program.h"

#include "ir/arith/arith.h"
#include "ir/tree/visit.h"
#include "passes/module/products.h"

static int64_t value_of(Tirc *c, Expr e, const PtrMap *values) {
  int64_t v = -1;
  tirc_const_int(tirc_simplify0(c, tirc_substitute(c, e, values)), &v);
  return v;
}

/* The value of the symbol of this name. */
static void take_symbol(Tirc *c, Expr own, int n, const Expr *symbols, PtrMap *values) {
  for (int k = 0; k < n && !tirc_map_has(values, own); k++)
    if (strcmp(own->u.s, symbols[k]->u.s) == 0)
      tirc_map_set(c, values, own, tirc_map_get(values, symbols[k]));
}

/* What f, the function as it was before it was scheduled, knows as its symbols, and gets as
 * numbers: the scheduled one has the same, or others of their names. */
static void take_symbols(Tirc *c, const Func *f, int n, const Expr *symbols, PtrMap *values) {
  Expr *own;
  const int n_own = tirc_symbolic_params(c, f, &own);
  for (int i = 0; i < n_own; i++) take_symbol(c, own[i], n, symbols, values);
  for (int i = 0; i < f->n_params; i++)
    if (!f->buffers[i]) take_symbol(c, f->params[i], n, symbols, values);
}

int tirc_api_products(Tirc *c, const Func *f, int n_symbols, const Expr *symbols,
                      const int64_t *known, const tirc_product **out) {
  const Product *products;
  PtrMap values = {0};
  for (int i = 0; i < n_symbols; i++)
    tirc_map_set(c, &values, symbols[i], tirc_int(c, symbols[i]->dtype, known[i]));
  take_symbols(c, f, n_symbols, symbols, &values);
  const int n = tirc_products(c, f, &products);
  tirc_product *told = tirc_new_array(c, tirc_product, n);
  for (int i = 0; i < n; i++) {
    const Product *p = &products[i];
    told[i] = (tirc_product){.block = p->block,
                             .batch = value_of(c, p->batch, &values),
                             .m = value_of(c, p->m, &values),
                             .n = value_of(c, p->n, &values),
                             .k = value_of(c, p->k, &values),
                             .a = p->a,
                             .b = p->b,
                             .out = p->out,
                             .layout = p->layout,
                             .is_convolution = p->is_convolution};
  }
  *out = told;
  return n;
}

typedef struct OfCall {
  const tirc_program *p;
  const tirc_program_call *call;
  void (*tell)(void *self, const tirc_product *product);
  void *self;
} OfCall;

/* A function that packs was no function before it was scheduled, and has no products. */
static void of_call(Tirc *c, void *self) {
  const OfCall *k = self;
  const tirc_program_call *call = k->call;
  if (!k->p)
    tirc_fail(c, (Loc){0}, CODE_FILE, "run without the code cache",
              "the program was kept, and cannot be made again");
  const Func *f = tirc_api_func(c, k->p->module->m, call->func, NULL);
  const Func *plain = tirc_module_func(k->p->unscheduled->m, call->func);
  if (!plain) return;
  const tirc_product *products;
  Expr *shapes;
  const int n_shapes = tirc_symbolic_params(c, f, &shapes);
  Expr *symbols = tirc_new_array(c, Expr, n_shapes + f->n_params);
  int64_t *known = tirc_new_array(c, int64_t, n_shapes + f->n_params);
  tirc_bind_arguments(c, f, call->n, tirc_api_arguments(c, f, call->n, call->args), known);
  int n_symbols = n_shapes;
  for (int i = 0; i < n_shapes; i++) symbols[i] = shapes[i];
  for (int i = 0; i < f->n_params; i++)
    if (!f->buffers[i] && tirc_dtype_is_int(f->params[i]->dtype)) {
      symbols[n_symbols] = f->params[i];
      known[n_symbols++] = call->args[i].i;
    }
  const int n = tirc_api_products(c, plain, n_symbols, symbols, known, &products);
  for (int i = 0; i < n; i++) k->tell(k->self, &products[i]);
}

tirc_status tirc_program_products(const tirc_program *p, const tirc_program_call *call,
                                  void (*tell)(void *self, const tirc_product *product), void *self,
                                  tirc_error **error) {
  NEED(p, call, tell);
  if (!call->func) return TIRC_OK;
  OfCall k = {tirc_program_whole(p), call, tell, self};
  return tirc_api_scratch(of_call, &k, &p->sources, error);
}

/* The products in a function, with values for their extents. */
#include "api.h"

#include "ir/arith/arith.h"
#include "ir/tree/visit.h"
#include "passes/module/products.h"

typedef struct Asking {
  const tirc_module *m;
  const char *func;
  int n;
  const tirc_argument *args;
  void (*tell)(void *self, const tirc_product *product);
  void *self;
} Asking;

static int64_t value_of(Tirc *c, Expr e, const PtrMap *values) {
  int64_t v = -1;
  tirc_const_int(tirc_simplify0(c, tirc_substitute(c, e, values)), &v);
  return v;
}

static void find_products(Tirc *c, void *self) {
  const Asking *k = self;
  const Func *f = tirc_api_func(c, k->m->m, k->func, NULL);
  const Product *products;
  PtrMap values = {0};
  Expr *symbols;
  const int n_symbols = tirc_symbolic_params(c, f, &symbols);
  int64_t *known = tirc_new_array(c, int64_t, n_symbols);
  tirc_bind_arguments(c, f, k->n, tirc_api_arguments(c, f, k->n, k->args), known);
  for (int i = 0; i < n_symbols; i++)
    tirc_map_set(c, &values, symbols[i], tirc_int(c, symbols[i]->dtype, known[i]));
  for (int i = 0; i < f->n_params; i++)
    if (!f->buffers[i] && tirc_dtype_is_int(f->params[i]->dtype))
      tirc_map_set(c, &values, f->params[i], tirc_int(c, f->params[i]->dtype, k->args[i].i));
  const int n = tirc_products(c, f, &products);
  for (int i = 0; i < n; i++) {
    const Product *p = &products[i];
    const tirc_product told = {.block = p->block,
                               .batch = value_of(c, p->batch, &values),
                               .m = value_of(c, p->m, &values),
                               .n = value_of(c, p->n, &values),
                               .k = value_of(c, p->k, &values),
                               .a = tirc_dtype_name(c, p->a),
                               .b = tirc_dtype_name(c, p->b),
                               .out = tirc_dtype_name(c, p->out),
                               .layout = p->layout,
                               .is_convolution = p->is_convolution};
    k->tell(k->self, &told);
  }
}

tirc_status tirc_module_products(const tirc_module *m, const char *func, int n,
                                 const tirc_argument *args,
                                 void (*tell)(void *self, const tirc_product *product), void *self,
                                 tirc_error **error) {
  NEED(m, LIST(n, args), tell);
  Asking k = {m, func, n, args, tell, self};
  return tirc_api_scratch(find_products, &k, &m->sources, error);
}

/* Programs of operators on small arrays of integer expressions: what an ONNX file does with the
 * extents of its inputs (Shape, Gather, Concat, then Reshape) is worked out while the extents have
 * names.
 *
 *   (n, 3, 224, 224)  take [0]  ->  n       concat [n], [-1]  ->  (n, -1)
 *
 * Elements are int64 expressions, whatever integers the array is said to have: extents are not
 * negative and fit all types that exporters write. */
#ifndef TIRC_MODULE_SYMBOLIC_H
#define TIRC_MODULE_SYMBOLIC_H

#include "ir/tree/ir.h"

/* Row by row, one a parameter of f: given ones are filled in, results are NULL and made here.
 * False: it cannot be worked out (floats, a condition that depends on an extent, too many
 * elements). */
bool tirc_run_symbolic(Tirc *c, const Func *f, const Expr **arrays);

#endif

/* A builder, for programs that are made in code. */
#ifndef TIRC_TIRC_BUILD_H
#define TIRC_TIRC_BUILD_H

#include "module.h"

TIRC_C_BEGIN

typedef struct tirc_builder tirc_builder;

/* Every word of the language is a function here. tirc_build_func, _for, _block, _if ... begin what
 * the matching tirc_build_end ends. Statements go into the innermost of these. Terms (variables,
 * buffers, expressions) are handles that live as long as the builder.
 *
 *     tirc_build_func(b, "main");
 *     tirc_term n = tirc_build_int(b, NULL, 128);
 *     tirc_term A = tirc_build_buffer(b, "A", "float32", 1, &n, NULL);
 *     tirc_term B = tirc_build_buffer(b, "B", "float32", 1, &n, NULL);
 *     tirc_term i = tirc_build_for(b, "serial", "i", NULL, n, NULL, NULL);
 *     tirc_build_block(b, "B");
 *     tirc_term vi = tirc_build_axis(b, "spatial", "vi", NULL, n, i);
 *     tirc_build_store(b, B, 1, &vi, tirc_build_op(b, "*", tirc_build_load(b, A, 1, &vi),
 *                                                  tirc_build_float(b, "float32", 2)));
 *     tirc_build_end(b), tirc_build_end(b), tirc_build_end(b);
 *     status = tirc_builder_module(b, &m, &error);
 *
 * You need not check each call: after the first mistake, all further calls do nothing and return
 * NULL, and tirc_builder_module reports the mistake (code "build", or the code that a program's
 * text would get, with the line). If a name is taken, the new one gets a number: i, i_1. What a
 * program may leave out may be left out here, too. */
typedef const struct tirc_term_node *tirc_term;

TIRC_API tirc_status tirc_builder_new(tirc_builder **out, tirc_error **error);
TIRC_API void tirc_builder_free(tirc_builder *b);
/* A module of the functions that have been ended so far. */
TIRC_API tirc_status tirc_builder_module(tirc_builder *b, tirc_module **out, tirc_error **error);

TIRC_API void tirc_build_func(tirc_builder *b, const char *name);
TIRC_API void tirc_build_end(tirc_builder *b); /* ends the innermost one that is open */

/* Parameters and buffers. A symbol is an extent that the arrays of a call determine. A buffer is a
 * parameter; an alloc_buffer lives in the function or block in which it stands. options may be
 * NULL, and so may each of its fields. */
typedef struct tirc_buffer_options {
  const tirc_term *strides; /* one for each dimension */
  tirc_term elem_offset;
  const char *scope;
  int align, offset_factor; /* 0: the default */
} tirc_buffer_options;
TIRC_API tirc_term tirc_build_param(tirc_builder *b, const char *name, const char *dtype);
TIRC_API tirc_term tirc_build_symbol(tirc_builder *b, const char *name, const char *dtype);
TIRC_API tirc_term tirc_build_buffer(tirc_builder *b, const char *name, const char *dtype, int ndim,
                                     const tirc_term *shape, const tirc_buffer_options *options);
TIRC_API tirc_term tirc_build_alloc_buffer(tirc_builder *b, const char *name, const char *dtype,
                                           int ndim, const tirc_term *shape,
                                           const tirc_buffer_options *options);

/* Loops. kind: "serial", "parallel", "vectorized", "unroll", "thread_binding" (with thread:
 * "threadIdx.x" ..., otherwise NULL). A loop runs from start (NULL: 0) to stop. annotations: a dict
 * made by tirc_build_text, or NULL. End a grid only once. */
TIRC_API tirc_term tirc_build_for(tirc_builder *b, const char *kind, const char *name,
                                  tirc_term start, tirc_term stop, const char *thread,
                                  tirc_term annotations);
TIRC_API void tirc_build_grid(tirc_builder *b, int n, const char *const *names,
                              const tirc_term *extents, tirc_term *vars);

/* Blocks. An iterator runs over [begin, end) (begin NULL: from 0) and is bound to value. kind:
 * "spatial", "reduce", "opaque", "scan". Reads and writes that are not given are inferred. */
TIRC_API void tirc_build_block(tirc_builder *b, const char *name);
TIRC_API tirc_term tirc_build_axis(tirc_builder *b, const char *kind, const char *name,
                                   tirc_term begin, tirc_term end, tirc_term value);
TIRC_API void tirc_build_where(tirc_builder *b, tirc_term condition);
TIRC_API void tirc_build_reads(tirc_builder *b, int n, const tirc_term *regions);
TIRC_API void tirc_build_writes(tirc_builder *b, int n, const tirc_term *regions);
TIRC_API void tirc_build_block_attr(tirc_builder *b, const char *key, tirc_term value);
TIRC_API void tirc_build_func_attr(tirc_builder *b, const char *key, tirc_term value);
TIRC_API void tirc_build_init(tirc_builder *b);

/* Statements. Call tirc_build_else in place of the end of the if; the else is then ended itself. */
TIRC_API void tirc_build_store(tirc_builder *b, tirc_term buffer, int n, const tirc_term *indices,
                               tirc_term value);
TIRC_API void tirc_build_if(tirc_builder *b, tirc_term condition);
TIRC_API void tirc_build_else(tirc_builder *b);
TIRC_API void tirc_build_while(tirc_builder *b, tirc_term condition);
TIRC_API tirc_term tirc_build_let(tirc_builder *b, const char *name, const char *dtype,
                                  tirc_term value);
TIRC_API void tirc_build_assert(tirc_builder *b, tirc_term condition, const char *message);
TIRC_API void tirc_build_evaluate(tirc_builder *b, tirc_term e);

/* Expressions. If the dtype of an int is NULL, it takes the other operand's type. op: + - * / // %
 * << >> & | ^ < <= > >= == != and or. A call is one of the language's intrinsics without its "T.":
 * "exp", "max", "if_then_else". A region has a lower and an upper bound for each dimension. Text is
 * any expression of the language, with the names that the terms' variables got. */
TIRC_API tirc_term tirc_build_int(tirc_builder *b, const char *dtype, int64_t value);
TIRC_API tirc_term tirc_build_uint(tirc_builder *b, const char *dtype, uint64_t value);
TIRC_API tirc_term tirc_build_float(tirc_builder *b, const char *dtype, double value);
TIRC_API tirc_term tirc_build_string(tirc_builder *b, const char *text);
TIRC_API tirc_term tirc_build_op(tirc_builder *b, const char *op, tirc_term x, tirc_term y);
TIRC_API tirc_term tirc_build_load(tirc_builder *b, tirc_term buffer, int n,
                                   const tirc_term *indices);
TIRC_API tirc_term tirc_build_region(tirc_builder *b, tirc_term buffer, int n,
                                     const tirc_term *bounds);
TIRC_API tirc_term tirc_build_call(tirc_builder *b, const char *name, int n, const tirc_term *args);
TIRC_API tirc_term tirc_build_cast(tirc_builder *b, const char *dtype, tirc_term x);
TIRC_API tirc_term tirc_build_text(tirc_builder *b, const char *expression);

TIRC_C_END
#endif

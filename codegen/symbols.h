/* Names in files that others compile or link: what C, its library and compilers leave free. */
#ifndef TIRC_CODEGEN_SYMBOLS_H
#define TIRC_CODEGEN_SYMBOLS_H

#include "ir/tree/ir.h"

/* The name, as far as C allows (reserved.def): what is no letter or digit becomes "_", and words of
 * C and of its headers get "_" behind them. */
const char *tirc_c_identifier(Tirc *c, const char *name);

/* What the functions of a module are called in object files, assembly, LLVM IR, C source and its
 * header alike, one for each: their own names, unless C reserves such a name or a library has a
 * symbol of that name (library.def). Then there is "_" behind it, and a number where that is
 * taken. No two are the same, nor what is made of them (NAME__rt, NAME__packed,
 * NAME_error_text). */
const char *const *tirc_symbols(Tirc *c, const Module *m);

#endif

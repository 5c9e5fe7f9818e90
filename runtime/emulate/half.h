/* float16 many at a time: what ir/dtype.h's functions give. */
#ifndef TIRC_RUNTIME_EMULATE_HALF_H
#define TIRC_RUNTIME_EMULATE_HALF_H

#include "runtime/interp/code.h"

enum { SOME_HALVES = 64 };

/* at most SOME_HALVES of them */
void tirc_emu_halves_to_values(const uint16_t *from, int n, Cell *to);
/* Of values that float16 has; at most SOME_HALVES of them. */
void tirc_emu_values_to_halves(const Cell *from, int n, uint16_t *to);
/* To the nearest value of float16, ties to even. */
void tirc_emu_round_to_half(Cell *at, int n);
/* The same of sums and products of two values of float16, and of values of float32: with two more
 * than twice the bits, float32 in between changes nothing (Figueroa, When is double rounding
 * innocuous?). */
void tirc_emu_round_floats_to_half(Cell *at, int n);

#endif

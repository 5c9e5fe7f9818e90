/* A structural hash: equal programs (equal.h) have equal hashes, in every run, build and machine.
 * Programs that differ have different ones but by accident, so whoever keeps things by hash
 * compares as well. */
#ifndef TIRC_IR_HASH_H
#define TIRC_IR_HASH_H

#include "ir/tree/ir.h"

typedef struct ModuleHash {
  uint64_t word[2];
} ModuleHash;

ModuleHash tirc_hash_module(Tirc *c, const Module *m);

#endif

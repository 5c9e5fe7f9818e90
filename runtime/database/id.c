/* Ids: 128 bits of what a row is about. No secret and no signature, but spread so well that two
 * rows meet by accident once in 10^19 times. */
#include "driver.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t stir(uint64_t x) {
  x = (x ^ x >> 31) * UINT64_C(0x7fb5d329728ea185);
  x = (x ^ x >> 27) * UINT64_C(0x81dadef4bc2dd44d);
  return x ^ x >> 33;
}

static void add(uint64_t state[2], uint64_t word) {
  state[0] = stir(state[0] ^ word) + UINT64_C(0x9e3779b97f4a7c15);
  state[1] = stir(state[1] + word * UINT64_C(0xd6e8feb86659fd93)) ^ state[0];
}

DbId tirc_db_id(int n, const char *const *texts) {
  uint64_t state[2] = {1, 2};
  DbId id;
  for (int i = 0; i < n; i++) {
    const size_t length = texts[i] ? strlen(texts[i]) : 0;
    for (size_t at = 0; at < length; at += 8) {
      uint64_t word = 0; /* the same whatever the order of bytes */
      for (size_t k = 0; k < 8 && at + k < length; k++)
        word |= (uint64_t)(unsigned char)texts[i][at + k] << 8 * k;
      add(state, word);
    }
    add(state, texts[i] ? length : UINT64_MAX);
  }
  add(state, (uint64_t)n);
  snprintf(id.text, sizeof id.text, "%016" PRIx64 "%016" PRIx64, state[0], state[1]);
  return id;
}

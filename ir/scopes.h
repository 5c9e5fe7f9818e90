/* Where a buffer lies: the scopes of scopes.def, which are read once, when the buffer is made. */
#ifndef TIRC_IR_SCOPES_H
#define TIRC_IR_SCOPES_H

typedef enum Storage {
  STORAGE_GLOBAL,
  STORAGE_SHARED,
  STORAGE_SHARED_DYN,
  STORAGE_SHARED_PART, /* "shared.x" */
  STORAGE_WARP,
  STORAGE_WARP_PART,
  STORAGE_LOCAL,
  STORAGE_OF_TARGET,
  STORAGE_UNKNOWN /* no target has it */
} Storage;
Storage tirc_storage_of(const char *scope);

/* Who has storage of its own. */
typedef enum Owner { OWNER_THREAD, OWNER_BLOCK, OWNER_NONE } Owner;
static inline Owner tirc_owner(Storage s) {
  return s == STORAGE_GLOBAL ? OWNER_NONE : s <= STORAGE_SHARED_PART ? OWNER_BLOCK : OWNER_THREAD;
}

#endif

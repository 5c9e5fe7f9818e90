/* Compiled code that is kept on disk, so that what was compiled once is not compiled again.
 *
 *     FOLDER/code/3/31f0c2a98d1b7e54      one entry: its key, and the object file
 *
 * FOLDER is $TIRC_CACHE, else tirc in $XDG_CACHE_HOME, else ~/.cache/tirc; "off" for $TIRC_CACHE is
 * none. A key is all that decides what the code is, as text: it stands in the entry and is
 * compared, so the name, a hash of it, need not tell keys apart. Any number of processes may share
 * a folder: an entry is written under another name and then renamed. One that is not whole is
 * removed when it is met. $TIRC_CACHE_MB bounds the folder: beyond it go those that were used least
 * recently.
 *
 * Nothing here throws. A cache that does not work is one that has nothing. */
#ifndef TIRC_CODEGEN_CACHE_H
#define TIRC_CODEGEN_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CACHE_USUAL_MB = 512 };

typedef struct CodeCache {
  char folder[3800]; /* "": there is none */
  int64_t limit;     /* bytes */
  bool is_too_long;  /* the folder's path: there is none */
  bool is_limit_bad; /* $TIRC_CACHE_MB is no number from 1 on: the limit is the usual one */
} CodeCache;

typedef struct Kept {
  char *bytes; /* of the heap, to be freed: with `object` in it. NULL: there is none */
  const char *object;
  size_t n;
  bool was_damaged; /* there was one that is not whole, which has been removed */
} Kept;

/* A number that tells keys apart. */
uint64_t tirc_cache_sum(const char *key);
/* As the environment says. */
CodeCache tirc_cache_open(void);
/* The object of this key. */
Kept tirc_cache_find(const CodeCache *cache, const char *key);
void tirc_cache_keep(const CodeCache *cache, const char *key, const char *object, size_t n);
/* What there is. */
void tirc_cache_count(const CodeCache *cache, int64_t *entries, int64_t *bytes);
/* 0, or the errno that says why nothing can be written; EPERM: the folder is another user's, or
 * others may write into it. */
int tirc_cache_problem(const CodeCache *cache);
/* Removes all entries: 0, or the errno of the first that stays. */
int tirc_cache_clear(const CodeCache *cache);

#endif

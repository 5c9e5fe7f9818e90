/* What a search keeps in a database, and begins with when it finds something there. */
#ifndef TIRC_RUNTIME_TUNE_STORE_H
#define TIRC_RUNTIME_TUNE_STORE_H

#include "database/database.h"
#include "measure.h"

#include "../passes/search/search.h"

typedef struct Store {
  tirc_db *db; /* NULL: nothing is kept */
  char *environment;
} Store;
/* where: as for tirc_db_open, "" the default; NULL: nowhere. */
tirc_status tirc_store_open(Store *s, const char *where, tirc_error **error);
void tirc_store_close(Store *s);
/* *id: of the program on this machine. */
tirc_status tirc_store_task(const Store *s, const tirc_tune_task *task, const char *target,
                            int threads, char **id, tirc_error **error);
/* Tells the search of the trials that there are, the fastest first. heard gets those whose point
 * can be made again, and owns them. *n: how many trials there are, *failed of them without a time.
 */
typedef struct StoreListener {
  void *self;
  void (*heard)(void *self, SearchPoint *p, double seconds);
} StoreListener;
tirc_status tirc_store_recall(const Store *s, const char *task, Search *search,
                              const StoreListener *listener, int64_t *n, int64_t *failed,
                              tirc_error **error);
tirc_status tirc_store_trial(const Store *s, const char *task, const char *trace,
                             const SearchPoint *p, const Measured *m, int64_t seed,
                             tirc_error **error);
/* This machine: its processor and how many of them. */
void tirc_store_profile(char *out, size_t size);

#endif

/* The parts of `tirc doctor`. */
#ifndef TIRC_TOOLS_DOCTOR_H
#define TIRC_TOOLS_DOCTOR_H

#include "tools/results/database.h"

typedef struct DoctorOptions {
  Asked asked;
  const char *target;
  int threads;
  bool self_test, clear_cache;
} DoctorOptions;

typedef enum Health {
  FINE,
  AMISS, /* something is slower, less certain, or left out */
  BROKEN /* something does not work */
} Health;

typedef struct Finding {
  const char *group, *name;
  char value[400], advice[200]; /* "": none */
  Health health;
} Finding;

typedef struct Doctor {
  const DoctorOptions *o;
  int n;
  Finding at[80];
  int status; /* BAD: some file could not be written, which was reported */
} Doctor;

/* Notes what there is; nothing is amiss. */
void note(Doctor *d, const char *group, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The last one noted has something amiss, and what to do. */
void advise(Doctor *d, Health health, const char *advice);

/* machine.c: processor, caches, cores, governor, pages, load, counters */
void examine_machine(Doctor *d);
/* software.c: libraries, compilers, database, folders */
void examine_software(Doctor *d);
/* ladder.c: --self-test */
void climb_ladder(Doctor *d);

#endif

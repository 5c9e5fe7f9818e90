/* Timing candidates: schedules of one program that nobody has looked at. Each is compiled and run
 * in a process of its own, with limits of time and memory, so that one that crashes, hangs or eats
 * all memory costs itself alone. They are compiled several at a time, and timed one after the other
 * while nothing else of ours runs. */
#ifndef TIRC_RUNTIME_MEASURE_H
#define TIRC_RUNTIME_MEASURE_H

#include "runtime/api/api.h"
#include "sampling.h"

typedef struct Bed Bed;
typedef struct BedOptions {
  const char *target, *device; /* as for tirc_kernel_new_on */
  int threads, builders;       /* candidates that are compiled at a time */
  int64_t seed;                /* of the random arrays */
  double seconds;              /* of timed calls for a candidate */
  double hopeless;             /* see sampling.h */
  double build_limit;          /* seconds to compile one */
  int n_symbols;
  const tirc_symbol *symbols; /* of the program's shapes: their values are known */
  int n_ranges;
  const tirc_input_range
      *ranges; /* of what is drawn; others are as tirc_array_fill_random has them */
} BedOptions;
extern const BedOptions tirc_bed_defaults;

typedef struct Measured {
  double seconds; /* the median of the samples; INFINITY: there is a code */
  int n_samples;
  double samples[MOST_SAMPLES];
  double build; /* seconds to compile it */
  double load;  /* cores that others used meanwhile */
  bool checked; /* its results are right, or it has a code */
  /* "" when it ran; a code of the library's, or "timeout", "crash", "memory", "wrong-result"; or
   * "hopeless": it works and its samples are a bound. */
  char code[40], message[240];
} Measured;
bool tirc_is_hopeless(const Measured *m);

/* Makes arrays. The program must stay. */
tirc_status tirc_bed_new(const tirc_module *program, const BedOptions *options, Bed **out,
                         tirc_error **error);
void tirc_bed_free(Bed *b);
/* Whether a measurement has failed because the program itself does not run with these arrays. */
bool tirc_bed_refuses(const Bed *b);
/* Times n candidates; what takes `best` seconds at most is checked against the reference
 * interpreter (tirc_reference_check), which has limits of its own. told (or NULL) hears of each
 * when it is done; go_on (or NULL) says false when it is enough: the others then have the code
 * "interrupted"; waits (or NULL) is called about twice a second meanwhile. TIRC_BAD: the program
 * itself does not run.
 */
typedef struct BedListener {
  void *self;
  void (*told)(void *self, int i, const Measured *m);
  bool (*go_on)(void *self);
  void (*waits)(void *self);
} BedListener;
tirc_status tirc_bed_measure(Bed *b, int n, const Module *const *candidates, double best,
                             Measured *out, const BedListener *listener, tirc_error **error);
/* Begins to interpret the program, in a process of its own, which measuring waits for. */
void tirc_bed_start(Bed *b);
/* The same for the few best, in turns, so that what disturbs the machine disturbs all; told hears
 * of each turn, whose samples are single ones. One that is clearly slower than another is out.
 * There are up to most_rounds on a busy machine, whose turns say less, and while the fastest seems
 * much faster than candidate `base` (-1: none) and is not surely so. */
tirc_status tirc_bed_compare(Bed *b, int n, const Module *const *candidates, int base, int rounds,
                             int most_rounds, Measured *out, const BedListener *listener,
                             tirc_error **error);
/* By the turns that both had. */
bool tirc_measured_faster(const Measured *of, const Measured *base);

#endif

/* The table of what was measured on this very machine, which `tirc calibrate` writes:
 *
 *     # tirc calibration of znver3, 2 cores, caches of 32, 512 and 65536 KiB
 *     # 2026-11-29 14:02:11, by tirc 0.1.0
 *     from targets.usual import *
 *
 *     # PARALLEL: 150000; 50000 makes the same, 450000 is 0.780 times as fast, at least 0.744
 *     # LEAST_GOTO: 20000; 10000 is 1.040 times as fast, at least 1.030
 *     LEAST_GOTO = 10000
 *     # whole
 *
 * It stands for the embedded table where code is made for this machine, that is for the target
 * native, and for no other. It is $TIRC_CALIBRATION ("off": none), else a file in tirc's
 * folder of the user's data. */
#ifndef TIRC_SCRIPT_CALIBRATION_H
#define TIRC_SCRIPT_CALIBRATION_H

#include "ir/cpu.h"
#include "ir/user_file.h"

typedef struct Calibration {
  char file[USER_FILE]; /* "": it is off */
  const char *head;     /* its first line on this machine */
  const char *date;     /* its second line without what marks a comment; NULL: it is not used */
  const char *problem;  /* why one that is there is not used; or NULL */
} Calibration;

/* native: this machine. A table that is taken has been run once, apart, so that it runs. */
Calibration tirc_calibration_find(Tirc *c, const Cpu *native);
/* Whether there are answers of this machine from a run of `tirc calibrate` that was interrupted.
 * They are in a file of their own: rules do not see them. */
bool tirc_calibration_is_begun(Tirc *c, const Calibration *k, const Cpu *native);

#endif

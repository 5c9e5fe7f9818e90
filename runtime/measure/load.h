/* How busy others keep the machine, while something is measured. */
#ifndef TIRC_RUNTIME_LOAD_H
#define TIRC_RUNTIME_LOAD_H

typedef struct Load { /* seconds: of the clock, of all cores, of this process */
  double wall, busy, own;
} Load;
Load tirc_load_start(void);
/* Cores that other processes have used since; ours: seconds that processes of ours had meanwhile.
 */
double tirc_load_since(const Load *l, double ours);
/* Seconds of all threads of this process; of its children that have ended. */
double tirc_own_seconds(void);
double tirc_children_seconds(void);

/* What is called busy from so many cores on: quiet machines stay below half of it. */
#define BUSY_CORES 0.1

#endif

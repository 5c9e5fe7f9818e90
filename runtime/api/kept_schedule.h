/* Schedules that rules found, kept on disk beside the code (kept_entry.h): what they made of a
 * program once is not made again.
 *
 *     key      the program as text and where its statements stand, options, rules
 *     entry    warnings and what rules printed; the scheduled functions as text, and where their
 *              statements stand
 *
 * What is read is the module that was kept, but for its trace. */
#ifndef TIRC_RUNTIME_API_KEPT_SCHEDULE_H
#define TIRC_RUNTIME_API_KEPT_SCHEDULE_H

#include "kept_entry.h"

/* NULL: nothing is kept, and *made_of is that of the notes. What was told when it was made is told
 * again. */
const Module *tirc_schedule_find(Tirc *c, const tirc_module *from, const tirc_auto_options *rules,
                                 const tirc_schedule_options *options, uint64_t *made_of);
/* Keeps it, if it can be kept, and what it would be made of is still that of the notes. */
void tirc_schedule_keep(Tirc *c, const Module *scheduled, const tirc_module *from,
                        const tirc_auto_options *rules, const MakingNotes *notes);

#endif

/* Programs that are kept on disk, beside the code that they run (codegen/llvm/cache.h): what the
 * phases made of a model once is not made again.
 *
 *     key      the module as text, the options, and all scripts that making it may read
 *     entry    warnings and what scripts printed; the module with functions that are parameters
 *              alone, as text; the parameters of the lowered ones, likewise; object files
 *
 * Such a program runs as the one that it was kept of. What it does not have is bodies: whoever asks
 * for them, or for the reason why a run failed, gets them from a program that is made anew
 * (tirc_program_whole). A weight that is a parameter is no part of the key; one that a pass or the
 * import folded into the module is in its text. */
#ifndef TIRC_RUNTIME_API_KEPT_PROGRAM_H
#define TIRC_RUNTIME_API_KEPT_PROGRAM_H

#include "kept_entry.h"
#include "program.h"

/* A copy that outlives the caller's, and tells nobody anything again. */
tirc_program_options *tirc_options_to_keep(Tirc *c, const tirc_program_options *o);

/* Fills in p, whose context and sources are set, from what is kept; false: nothing is, and *made_of
 * is that of the notes. What was told when it was made is told again. */
bool tirc_program_find(Tirc *c, tirc_program *p, const tirc_module *from,
                       const tirc_program_options *options, uint64_t *made_of);
/* Keeps p, if it can be kept, and what it would be made of is still that of the notes. */
void tirc_program_keep(Tirc *c, tirc_program *p, const tirc_module *from,
                       const tirc_program_options *options, const MakingNotes *notes);

#endif

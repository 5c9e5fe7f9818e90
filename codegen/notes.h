/* Comments that say which block a loop nest or a store comes from, for generated source. */
#ifndef TIRC_CODEGEN_NOTES_H
#define TIRC_CODEGEN_NOTES_H

#include "ir/tree/ir.h"

typedef struct BlockNotes BlockNotes;
/* Of the blocks of a function that was lowered; NULL gives none. */
BlockNotes *tirc_notes(Tirc *c, const Func *scheduled);
void tirc_notes_add(BlockNotes *b, const Func *scheduled); /* and of another one */

/* What to say of a loop, or of a store; NULL when that is nothing, or *last, what was said last. */
const char *tirc_note_loop(const BlockNotes *b, Expr var, const char **last);
const char *tirc_note_store(const BlockNotes *b, Buffer buffer, const char **last);

#endif

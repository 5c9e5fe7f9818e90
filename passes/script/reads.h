/* All that scripts of the user's may read while they run, as text: where it is the same, they do
 * the same. A script imports by statements with the name in them (import.c), so that each word
 * behind `from` or `import` is looked for where that would look, whether it stands in a statement
 * or in a comment; a file that is absent counts, too, since it could be there the next time. */
#ifndef TIRC_SCRIPT_READS_H
#define TIRC_SCRIPT_READS_H

#include "ir/context.h"

typedef struct ScriptReads {
  Tirc *c;
  Text text;
  StrMap seen;
  VEC(const char *) files; /* those that are there, and JSON that a script names in a literal */
  bool is_open;            /* something may be read that cannot be told: text is not all */
  bool is_hidden;          /* nor are the files: JSON is read by names that are no literals */
} ScriptReads;

void tirc_script_reads(ScriptReads *r, const char *path);
/* Each script in the folder and below. */
void tirc_script_reads_folder(ScriptReads *r, const char *folder);

#endif

/* Files that belong to a user, and no project. */
#ifndef TIRC_IR_USER_FILE_H
#define TIRC_IR_USER_FILE_H

#include <stddef.h>

enum { USER_FILE = 4096 };
/* The path of a file in tirc's folder of the user's data: $XDG_DATA_HOME/tirc/NAME, else
 * ~/.local/share/tirc/NAME. "" where there is neither, or the path is too long. Gives out. */
char *tirc_user_file(char out[USER_FILE], const char *name);
/* Makes the folders that a path goes through, as private as a home is. One that cannot be made is
 * passed over: opening the file says why. */
void tirc_make_folders(const char *path);

#endif

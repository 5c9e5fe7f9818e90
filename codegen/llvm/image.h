/* An object file in memory, linked and ready to run, without LLVM: loading its library takes longer
 * than most programs run. */
#ifndef TIRC_CODEGEN_IMAGE_H
#define TIRC_CODEGEN_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Image {
  char *at; /* NULL: there is none */
  size_t size;
} Image;

/* False, and nothing is held: the object is of another machine or format, it has a relocation that
 * is not among those LLVM makes of a program, a symbol is nowhere, or memory is out. What it refers
 * to is looked up in this process. */
bool tirc_image_load(Image *to, const char *object, size_t n);
/* Of a global function; NULL: there is none. */
void *tirc_image_find(const Image *image, const char *object, size_t n, const char *name);
/* Each function of it, those that no other object sees as well. */
void tirc_image_functions(const Image *image, const char *object, size_t n,
                          void (*tell)(void *self, const char *name, const void *at, size_t size),
                          void *self);
void tirc_image_free(Image *image);

#endif

#ifndef SYSTEMS_STDLIB_H
#define SYSTEMS_STDLIB_H
#include <stddef.h>
void *malloc(size_t);
void *calloc(size_t, size_t);
void free(void *);
char *getenv(const char *);
long strtol(const char *, char **, int);
#ifndef _WIN32
void *aligned_alloc(size_t, size_t);
#endif
#endif

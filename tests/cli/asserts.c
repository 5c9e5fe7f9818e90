/* Each failed assertion has a code, in both functions, in parallel and in unrolled loops. */
#include "two_asserts.h"

#include <stdio.h>
#include <string.h>

static void call(int (*f)(const int32_t *, int32_t *), const char *(*text)(int), int at,
                 int value) {
  int32_t a[4] = {1, 2, 3, 4}, b[4];
  a[at] = value;
  int code = f(a, b);
  printf("%d %s\n", code, text(code));
}

int main(void) {
  call(first, first_error_text, 1, 2);
  call(first, first_error_text, 0, -1);
  call(first, first_error_text, 3, 12);
  call(second, second_error_text, 2, 7);
  puts(first_error_text(1));
  puts(first_error_text(4)); /* the other function's */
  return 0;
}

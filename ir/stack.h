/* Room for recursion. Texts, trees and LLVM's own passes are walked recursively, down to the fixed
 * limits of ir.h and syntax.h, which are the same on every machine; what such a walk needs of the
 * stack is known (STACK_ENOUGH). Where the calling thread has less left, the work is done on a
 * thread with a stack of its own, which is joined before the call returns. So no verdict depends on
 * the size of the caller's stack, and no walk, ours or LLVM's, leaves it. */
#ifndef TIRC_IR_STACK_H
#define TIRC_IR_STACK_H

#include <stdbool.h>
#include <stddef.h>

/* STACK_ENOUGH: more than the deepest program that is read has been seen to use, with the code
 * generators' part; a sanitizer's frames are larger. STACK_OWN: of the thread that is made. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STACK_ENOUGH = 6 << 20, STACK_OWN = 64 << 20 };
#else
enum { STACK_ENOUGH = 4 << 20, STACK_OWN = 16 << 20 };
#endif

/* Bytes between here and the end of the calling thread's stack; 0 where that cannot be told, as on
 * a coroutine's. */
size_t tirc_stack_left(void);
/* body(self), here where at least `bytes` of the stack are left, else on a thread of its own. False
 * if there is no such thread: then body did not run. */
bool tirc_on_stack(size_t bytes, void (*body)(void *self), void *self);

#endif

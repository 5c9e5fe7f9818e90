/* libtirc: a small TensorIR compiler. It reads programs or builds them, schedules them by a script
 * or call by call, and prints, lowers, compiles, runs and times them.
 *
 *     tirc_error *error = NULL;
 *     tirc_module *m, *fast;
 *     if (tirc_module_read("matmul.tir", 0, NULL, &m, &error) ||
 *         tirc_module_schedule(m, "tiled.sch", NULL, &fast, &error))
 *       puts(tirc_error_message(error));
 *
 * examples/embed/jit.c does all of the above in one short program. Compile with
 *
 *     cc $(pkg-config --cflags tirc) jit.c $(pkg-config --libs tirc)
 *
 * These are its parts, in the order in which you need them. Each can be included alone:
 *
 *     tirc/base.h      what every part needs: status values, errors, the ABI
 *     tirc/module.h    modules, which are programs: read, print and compare them; their parameters
 *     tirc/build.h     a builder, for programs that are made in code
 *     tirc/schedule.h  schedules by script, by rules and by trace; warnings about programs
 *     tirc/steps.h     schedules step by step: what each call of a script did
 *     tirc/call.h      schedules call by call, with values that go in and out
 *     tirc/code.h      lowering and code
 *     tirc/array.h     arrays and DLPack tensors
 *     tirc/run.h       running: the interpreter, the emulator, kernels on threads and devices
 *     tirc/check.h     what a function should compute, and what a run does
 *     tirc/spatial.h   what a program would cost on an array of processing elements
 *     tirc/measure.h   measuring contenders against each other
 *     tirc/profile.h   time by block and by loop inside one function
 *     tirc/tune.h      searching for the best schedule
 *     tirc/model.h     models: graphs, their operators and weights, files of other formats
 *     tirc/tables.h    the tables of errors, primitives, passes, processors and GPUs
 *
 * Conventions. A function that can fail returns a tirc_status and takes a `tirc_error **`. On
 * failure it stores the error there and leaves every other result unchanged. Free the error with
 * tirc_error_free; pass NULL if you do not want it. What a function returns through a pointer
 * belongs to the caller. Each type has a function ..._free, which accepts NULL. Free strings
 * returned as `char *` with tirc_string_free; a `const char *` belongs to the object that returned
 * it. Arguments that the library keeps are copied, unless a function says otherwise. A NULL that is
 * not documented as allowed, or a negative count, gives TIRC_BAD with the code "argument". A
 * function without a status returns NULL, 0, false or NaN in that case, and does nothing.
 *
 * Threads. Modules and kernels are immutable, and several threads may use them at once. Only one
 * thread at a time may use an array, builder, executor, launch or call, or a schedule together with
 * its copies (Python locks schedules, so threads may share them there). The library has no global
 * state. It reads and writes numbers and letters in the same way in every locale.
 *
 * Stack. 64 KB of the calling thread's stack are enough for any call. If it has less than 4 MB
 * left, recursive work is done on a separate thread, which has ended when the call returns; your
 * callbacks are then called from that thread. Code that tirc_module_emit returns needs up to 1 MB
 * of stack for the buffers of a function and of a parallel loop in it; a launch takes care of this
 * by itself.
 *
 * Versions. TIRC_ABI is the number in the library's soname and in the version of its symbols. It
 * grows when a program compiled against an older header would no longer work. New functions, enum
 * values and error codes do not change it. Set structs that you fill in (tirc_schedule_options,
 * tirc_argument, tirc_value, ...) to zero first. */
#ifndef TIRC_H
#define TIRC_H

#include "tirc/array.h"
#include "tirc/base.h"
#include "tirc/build.h"
#include "tirc/call.h"
#include "tirc/check.h"
#include "tirc/code.h"
#include "tirc/measure.h"
#include "tirc/model.h"
#include "tirc/module.h"
#include "tirc/profile.h"
#include "tirc/run.h"
#include "tirc/schedule.h"
#include "tirc/spatial.h"
#include "tirc/steps.h"
#include "tirc/tables.h"
#include "tirc/tune.h"

#endif

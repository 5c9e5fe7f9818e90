/* libtirc: a small TensorIR compiler. Read a program or build one, schedule it by a script or call
 * by call, print it, lower it, compile it, run it, time it.
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
 * Its parts, each of which can be included alone, in the order of their use:
 *
 *     tirc/base.h      what every part needs: the answer of a call, errors, the ABI
 *     tirc/module.h    modules, which are programs: read, printed, compared; what they take
 *     tirc/build.h     a builder, for programs that are made in code
 *     tirc/schedule.h  schedules by script, by rules and by trace; what a program is warned of
 *     tirc/steps.h     schedules step by step: what each call of a script did
 *     tirc/call.h      schedules call by call, with values that go in and out
 *     tirc/code.h      lowering and code
 *     tirc/array.h     arrays and DLPack tensors
 *     tirc/run.h       running: the interpreter, the emulator, kernels on threads and devices
 *     tirc/check.h     what a function should compute, and what a run does
 *     tirc/spatial.h   what a program would cost on an array of processing elements
 *     tirc/measure.h   measuring contenders against each other
 *     tirc/tune.h      searching for the best schedule
 *     tirc/model.h     models: graphs, their operators and weights, files of other formats
 *     tirc/tables.h    the tables of errors, primitives, passes, processors and GPUs
 *
 * Conventions. A function that can fail returns a tirc_status and takes a `tirc_error **`: on
 * failure the error is put there (free it with tirc_error_free; NULL if you do not want it) and no
 * other result is touched. What a function gives out through a pointer belongs to the caller; each
 * type has its ..._free, which accepts NULL. Strings given out as `char *` are freed by
 * tirc_string_free; `const char *` belong to the object that they were asked of. What is passed in
 * is copied where it is kept, unless a function says otherwise. NULL where nothing says that it may
 * be, and a negative count, give TIRC_BAD with the code "argument"; from functions without a status
 * they give NULL, 0, false or NaN, and do nothing.
 *
 * Threads. Modules and kernels are immutable and may be used by several threads at once; arrays,
 * builders, executors, launches and calls by one at a time, and so is a schedule together with its
 * copies (in Python, which locks them, any may share them). The library has no global state. It
 * reads and writes numbers and letters in one way, whatever the locale is.
 *
 * Stack. 64 KB of the calling thread's are enough for any call. Where it has less than 4 MB left,
 * what recurses is done on a thread of its own, which has ended when the call returns and which
 * your callbacks then are called from. Code that tirc_module_emit gives needs up to 1 MB for the
 * buffers of a function and of a parallel loop in it; a launch sees to it by itself.
 *
 * Versions. TIRC_ABI is the number in the library's soname and in the version of its symbols. It
 * grows when a program compiled against an older header would no longer work; functions, enum
 * values and error codes that are merely new do not change it. Structs that you fill in
 * (tirc_schedule_options, tirc_argument, tirc_value, ...) are to be zeroed first.
 */
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
#include "tirc/run.h"
#include "tirc/schedule.h"
#include "tirc/spatial.h"
#include "tirc/steps.h"
#include "tirc/tables.h"
#include "tirc/tune.h"

#endif

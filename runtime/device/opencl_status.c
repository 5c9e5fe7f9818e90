/* What OpenCL's statuses mean, for messages. */
#include "opencl_abi.h"

#define ROW(number, name, words)                                                                   \
  { number, name " (" #number "): " words }

static const struct {
  cl_int status;
  const char *words;
} rows[] = {
    ROW(-2, "CL_DEVICE_NOT_AVAILABLE", "another process uses it, or it is switched off"),
    ROW(-3, "CL_COMPILER_NOT_AVAILABLE", "it takes no source"),
    ROW(-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE", "an array does not fit on it"),
    ROW(-5, "CL_OUT_OF_RESOURCES",
        "registers, shared memory or the time that its driver gives a kernel were not enough, or a "
        "kernel reached outside of its arrays"),
    ROW(-6, "CL_OUT_OF_HOST_MEMORY", "its driver has no memory on this machine"),
    ROW(-11, "CL_BUILD_PROGRAM_FAILURE", "it does not compile the source"),
    ROW(-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", "a kernel before it failed"),
    ROW(-15, "CL_COMPILE_PROGRAM_FAILURE", "it does not compile the source"),
    ROW(-17, "CL_LINK_PROGRAM_FAILURE", "it does not link the source"),
    ROW(-34, "CL_INVALID_CONTEXT", "it is gone"),
    ROW(-36, "CL_INVALID_COMMAND_QUEUE", "it is lost, for example because a kernel was stopped"),
    ROW(-38, "CL_INVALID_MEM_OBJECT", "an array is gone"),
    ROW(-45, "CL_INVALID_PROGRAM_EXECUTABLE", "there is no code of the kernel for it"),
    ROW(-46, "CL_INVALID_KERNEL_NAME", "the source has no kernel of that name"),
    ROW(-48, "CL_INVALID_KERNEL", "the kernel is gone"),
    ROW(-49, "CL_INVALID_ARG_INDEX", "the kernel has fewer parameters than were given"),
    ROW(-50, "CL_INVALID_ARG_VALUE", "the kernel takes an argument of another kind"),
    ROW(-51, "CL_INVALID_ARG_SIZE", "the kernel takes an argument of another type"),
    ROW(-52, "CL_INVALID_KERNEL_ARGS", "not all of the kernel's arguments are given"),
    ROW(-53, "CL_INVALID_WORK_DIMENSION", "it has fewer axes of blocks"),
    ROW(-54, "CL_INVALID_WORK_GROUP_SIZE",
        "the kernel was compiled for another block size, or the device allows fewer threads in a "
        "block of it"),
    ROW(-55, "CL_INVALID_WORK_ITEM_SIZE", "it allows fewer threads along one axis of a block"),
    ROW(-61, "CL_INVALID_BUFFER_SIZE", "an array is larger than it allows"),
    ROW(-63, "CL_INVALID_GLOBAL_WORK_SIZE", "it takes fewer blocks"),
};

const char *tirc_opencl_words(cl_int status) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].status == status) return rows[i].words;
  return NULL;
}

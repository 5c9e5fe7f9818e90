/* What runs before main on a Cortex-M: the table of vectors, the floating-point unit, memory. */
#include <stdint.h>
#include <string.h>

extern uint32_t data_from[], data_begin[], data_end[], bss_begin[], bss_end[], stack_top[];
extern void initialise_monitor_handles(void); /* newlib's: printf through the debugger, or QEMU */
extern int main(void);
extern void _exit(int status);

void reset(void);
void reset(void) {
  volatile uint32_t *const access = (uint32_t *)0xE000ED88;
  *access |= UINT32_C(0xF) << 20; /* coprocessors 10 and 11: floats */
  __asm__ volatile("dsb\n\tisb");
  memcpy(data_begin, data_from, (size_t)((char *)data_end - (char *)data_begin));
  memset(bss_begin, 0, (size_t)((char *)bss_end - (char *)bss_begin));
  initialise_monitor_handles();
  _exit(main());
}

static void fault(void) { _exit(3); }

/* The end of the stack, reset, and the fourteen exceptions after it. */
__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    stack_top,     (void *)reset, (void *)fault, (void *)fault,
    (void *)fault, (void *)fault, (void *)fault};

/* Of Windows' header what the runtime of kernels uses, as Microsoft documents it. */
#ifndef SYSTEMS_WINDOWS_H
#define SYSTEMS_WINDOWS_H
#include <stddef.h>
#define WINAPI __stdcall
#define CALLBACK __stdcall
#define TRUE 1
#define INFINITE 0xffffffff
#define STACK_SIZE_PARAM_IS_A_RESERVATION 0x10000
typedef int BOOL;
typedef unsigned long DWORD;
typedef unsigned short WORD;
typedef void *PVOID, *LPVOID, *HANDLE;
typedef struct { PVOID Ptr; } SRWLOCK, CONDITION_VARIABLE;
typedef union { PVOID Ptr; } INIT_ONCE, *PINIT_ONCE;
#define INIT_ONCE_STATIC_INIT {0}
typedef struct { DWORD dwOemId, dwPageSize; PVOID lowest, highest; size_t mask; DWORD dwNumberOfProcessors, type, granularity; WORD level, revision; } SYSTEM_INFO;
void WINAPI InitializeSRWLock(SRWLOCK *);
void WINAPI AcquireSRWLockExclusive(SRWLOCK *);
void WINAPI ReleaseSRWLockExclusive(SRWLOCK *);
void WINAPI InitializeConditionVariable(CONDITION_VARIABLE *);
BOOL WINAPI SleepConditionVariableSRW(CONDITION_VARIABLE *, SRWLOCK *, DWORD, unsigned long);
void WINAPI WakeAllConditionVariable(CONDITION_VARIABLE *);
HANDLE WINAPI CreateThread(void *, size_t, DWORD(WINAPI *)(LPVOID), LPVOID, DWORD, DWORD *);
DWORD WINAPI WaitForSingleObject(HANDLE, DWORD);
BOOL WINAPI CloseHandle(HANDLE);
void WINAPI GetSystemInfo(SYSTEM_INFO *);
DWORD WINAPI GetCurrentProcessorNumber(void);
BOOL WINAPI InitOnceExecuteOnce(PINIT_ONCE, BOOL(CALLBACK *)(PINIT_ONCE, PVOID, PVOID *), PVOID, PVOID *);
#endif

/* The library itself, shared or linked in. */
#include <tirc.h>

int main(void) { return tirc_abi() != TIRC_ABI; }

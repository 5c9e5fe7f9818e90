/* `--profile=blocks`: where the time of one function goes, by block and loop. */
#ifndef TIRC_BENCH_BLOCKS_H
#define TIRC_BENCH_BLOCKS_H

#include "runtime/tirc.h"
#include "tools/kit/json.h"

#include <stdio.h>

/* What the word of --profile asks for: blocks. BAD, after a complaint, for another word. */
int check_profile_word(const char *word, bool of_model);

typedef struct BlockTimes BlockTimes;
/* Measures the program's function on these arguments; DONE or BAD. device: as of
 * tirc_profile_new_on; seconds 0: as long as is usual. */
int time_blocks(const tirc_module *m, const char *device, const char *target, tirc_executor *x,
                double seconds, int n, const tirc_argument *args, BlockTimes **out);
void free_block_times(BlockTimes *t);
void put_block_times(FILE *to, const BlockTimes *t);
Json *block_times_json(const BlockTimes *t);

#endif

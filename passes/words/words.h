/* The room of words: one row of facts a primitive (primitives.def), what may go wrong
 * (ir/codes.def), and what a reader is told of both (docs.h: primitive_docs.def, definitions.def).
 * Knows nothing of schedules: who runs a primitive has a function for each row. */
#ifndef TIRC_WORDS_H
#define TIRC_WORDS_H

#include "ir/dialect.h"

/* --- primitives ------------------------------------------------------------------------------- */

typedef enum ParamKind {
  PARAM_STR,
  PARAM_OPT_STR,
  PARAM_FUNC, /* a function's name; None becomes the one that is worked on */
  PARAM_INT,
  PARAM_OPT_INT,
  PARAM_INTS,     /* arrive as VAL_LIST of VAL_INT */
  PARAM_OPT_INTS, /* None or that */
  PARAM_FLOATS,   /* VAL_LIST of VAL_FLOAT */
  PARAM_BOOL,
  PARAM_BLOCK,          /* a block handle or a block's name; arrives as VAL_BLOCK, alive */
  PARAM_LOOP,           /* arrives as VAL_LOOP, alive */
  PARAM_LOCATION,       /* a loop, or what sample_compute_location gave: arrives as VAL_LOOP */
  PARAM_BLOCK_OR_LOOP,  /* either; a str is a block's name */
  PARAM_LOOPS,          /* *args: all positional arguments from here on; arrives as VAL_LIST */
  PARAM_OPT_BLOCKS,     /* None or a list of blocks or names */
  PARAM_FACTORS,        /* a list of int, None, EXPR or loop handles (their extents) */
  PARAM_LOOP_OR_BLOCKS, /* a loop, or a list of blocks or names */
  PARAM_ACCESS,         /* "read" or "write", a number in traces; any str arrives */
  PARAM_FUNCTION,       /* a function of the script, for ranges; arrives as VAL_FUNCTION */
  PARAM_BUFFER_INDEX,   /* an int, a buffer's name, or a buffer */
  PARAM_BUFFER,         /* a tuple ("read" or "write", int), a buffer's name, or a buffer */
  PARAM_INDEX_MAP,      /* arrives as VAL_FUNCTION: layout/layout.h */
  PARAM_PAD_VALUE,      /* None, a bool, int, float or expression, or a function of the indices */
  PARAM_ANY /* an annotation: None, bool, int, float, str, lists and dicts of these, exprs */
} ParamKind;

typedef struct Param {
  const char *name;
  ParamKind kind;
  const char *default_text; /* NULL: required */
  bool keyword_only;
} Param;

/* Of its instructions in traces. */
enum {
  INST_PURE = 1,       /* does nothing when its results are not used */
  INST_POSTPROC = 2,   /* postprocessing begins here */
  INST_POSITIONAL = 4, /* arguments print without their names */
  INST_ALL_INPUTS = 8,
  INST_UNTRACED = 16, /* no instruction at all */
  INST_LISTED = 32,   /* its result is a list, even of one */
  INST_MAP_IS_ATTR = 64,
};

typedef struct Primitive {
  const char *name;
  int n_params;
  const Param *params;
  const char *help;        /* one line */
  const char *instruction; /* what traces call it */
  unsigned flags;          /* INST_... */
  const char *sentence;    /* what a call did, with {param} and {result} */
} Primitive;

extern const Primitive tirc_primitives[];
extern const int tirc_n_primitives;
/* By its name in either dialect; NULL when there is none. */
const Primitive *tirc_find_primitive(const char *name);
/* By what traces call it, in either dialect. */
const Primitive *tirc_instruction_primitive(const char *instruction);
/* A primitive's signature for messages and help: "split(loop, factors, preserve_unit_iters=True)".
 */
const char *tirc_primitive_signature(Tirc *c, const Primitive *p);
/* Whether a parameter is among the inputs of its instructions: what may depend on a random
 * variable. The decision is neither input nor attribute. */
bool tirc_is_input(const Primitive *of, const Param *p);
bool tirc_is_decision(const Param *p);

#endif

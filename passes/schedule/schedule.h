/* A schedule: a module, its sref tree (who is whose parent), what is known of each block scope, and
 * the primitives that rewrite it. Semantics: tvm.tir.Schedule of release 0.20.
 *
 * Trees are immutable, so a primitive builds the new subtree first and installs it with
 * tirc_sched_replace as its last step. tirc_sched_call restores the old module when a primitive
 * fails at any point: a failed primitive changes nothing.
 *
 * Handles: a loop is its variable, a block its id (ir.h), so a handle is alive exactly while the
 * state holds a statement of that identity. Rewritten copies keep variable and id; whatever is to
 * be a new loop or block gets a new one.
 */
#ifndef TIRC_SCHEDULE_SCHEDULE_H
#define TIRC_SCHEDULE_SCHEDULE_H

#include "ir/arith/arith.h"
#include "passes/record/value.h"
#include "passes/schedule/random.h"
#include "passes/words/words.h"

typedef struct SRef SRef;
typedef VEC(SRef *) SRefs;
typedef struct Trace Trace; /* trace.h */
struct SchedSteps;          /* steps.h */
struct Sets;                /* ir/arith/set.h */

typedef enum DepKind { DEP_RAW, DEP_WAW, DEP_WAR, DEP_OPAQUE } DepKind;
typedef struct Dep {
  SRef *src, *dst;
  DepKind kind;
} Dep;

/* What is known of one block as a scope: its child blocks (those not inside of another block) in
 * order of execution, and who uses which buffer. Dependences between them (TVM's BlockScope) follow
 * from that, and are found when somebody asks: state.h. */
typedef struct Scope {
  int n_blocks, room;
  SRef **blocks; /* changed in place by a replacement */
  PtrMap users;  /* buffer, or handle variable -> the blocks that mention it (state_users.c) */
  int n_broken;  /* children known not to be region-covered, or to write what one before has read */
  int n_hidden;  /* children of which blocks inside access what they do not declare */
  bool loose;    /* something else than loops, sequences and blocks stands around its children */
  /* Children of which a change may have changed region_cover: it is found when somebody asks. */
  VEC(SRef *) unknown;
} Scope;

/* A node of the sref tree: a loop or a block of the current program. */
struct SRef {
  Stmt stmt;      /* NULL once it is gone */
  SRef *parent;   /* the next loop or block above; NULL for a function's root block */
  int seq_index;  /* where in the parent's body it was last seen: tirc_item_index */
  int func;       /* index of the function in the module */
  uint32_t stamp; /* the last replacement that met it */
  uint32_t dirty; /* blocks: the last replacement that changed it or the loops around it */
  /* blocks only */
  Scope *scope;   /* this block as a scope */
  int64_t order;  /* grows in order of execution within the scope around it */
  int n_mentions; /* see Scope.users */
  const void **mentions;
  int n_accesses[2];
  /* Reads and writes: its own, then what it does not declare; of reads, first what decides where,
   * on which elements and whether it or a block inside of it runs. */
  const Region *accesses[2];
  int n_deciding; /* of these */
  bool binding_known, cover_known;
  bool affine_binding; /* its bindings are quasi-affine: tirc_has_affine_binding */
  bool region_cover;   /* its producers write all that it reads: tirc_has_region_cover */
  const Scope *waits;  /* in whose list of children with unknown flags it is */
  bool overwrites;     /* it writes a buffer that a block before it has read */
  bool broken;         /* it counts in n_broken */
  bool hidden;         /* ... in n_hidden */
  uint32_t asked;      /* ... that instances_depend is about: meaning/instances.c */
  bool instances_depend;
  uint32_t asked_first; /* ... that stores_first is about: meaning/flow.c */
  bool stores_first;    /* each instance, before it reads what it stores to */
};

typedef struct Warning {
  DiagCode code; /* CODE_WARNING unless it has one of its own */
  Loc loc;
  const char *message;
} Warning;

/* Who is told what there is to warn of in a program. */
typedef struct Telling {
  struct Sched *s;
  void (*tell)(void *self, Warning w);
  void *self;
} Telling;

/* What a call made of a loop or block: its kind, or an annotation. */
typedef struct SetMark {
  const void *node; /* its identity: a loop's variable, a block's id */
  const char *key;  /* of an annotation; NULL: the loop's kind */
  LoopKind kind;
  const char *thread;
  int func;         /* the number of the function that it is in; -1: any */
  bool set;         /* otherwise it was taken away */
  const char *what; /* "loop i" */
  Loc loc;          /* of the call */
} SetMark;
typedef struct SetMarks {
  SetMark *at;
  int n, cap;
} SetMarks;

typedef struct Sched Sched;

/* What is known of a program for some of its sizes. */
typedef struct SchedRecords {
  /* A trace without decisions, for these sizes ({"n": 288}); NULL: none is known. */
  const Trace *(*find)(void *self, Sched *s, Value sizes);
  void (*told)(void *self, Value sizes, const char *failure); /* NULL: it fits */
  void *self;
} SchedRecords;
struct TensorIntrin; /* tensor_intrin.h */
struct Sched {
  Tirc *c;
  const Module *mod;
  PtrMap loops;        /* loop variable -> SRef */
  PtrMap blocks;       /* (void *)(uintptr_t)id -> SRef */
  StrMap names;        /* of blocks -> those of that name */
  SRef **roots;        /* one a function; NULL for functions without a root block */
  uint32_t stamp;      /* counts replacements */
  bool lets;           /* the program it began with has a let around blocks */
  bool replacing;      /* one is under way; if it fails, the state is to be made anew */
  const char *work_on; /* function that get_block looks in; "main" by habit */
  Loc loc;             /* the script's place of the running call */
  int n_marks;         /* statements to underline if this call fails */
  const Stmt *marks;
  SetMarks set_marks;     /* by calls so far, as far as they are still there */
  SetMarks changed_marks; /* by the running call */
  VEC(Warning) warnings;  /* of the running call */
  bool strict;            /* they are errors */
  bool unchecked;         /* what only changes the results is carried out: to show how it would */
  void (*warn)(void *self, Warning w); /* hears of them when the call has succeeded; or NULL */
  void *warn_self;
  const struct Cpu *target;           /* what code will be made for */
  const struct Gpu *gpu;              /* it is for this one instead; or NULL */
  Trace *trace;                       /* what it did so far */
  const char *rule, *reason;          /* whose calls these are (rules.h), and why; or NULL */
  struct SchedSteps *steps;           /* records its calls; or NULL */
  uint32_t *next_rv;                  /* numbers given to random variables; shared with copies */
  const struct TensorIntrin *intrins; /* registered so far, newest first; or NULL */
  PtrMap removed;                     /* numbers of random variables that remove_rv took away */
  Random random;                      /* what it samples with */
  Value decision;                     /* what the running sampling primitive decided */
  int n_drawn;                        /* sampling primitives so far, those of its origin included */
  const ValueList *guide; /* decides for number n_drawn where a call does not (None, the list's end,
                           * what does not fit: drawn); or NULL */
  const struct SchedRecords *records; /* of copies for a size; or NULL */
  bool likely;                        /* what is drawn from several is the likeliest of them */
  struct Sets *sets; /* what questions of meaning are asked with; NULL: none was yet */
  int calls;         /* primitives that run inside of one another; the outermost is traced */
  int debug_mask;    /* SCHED_VERIFY_...: what is verified after each primitive */
  Expr root_mark, inline_mark; /* what sample_compute_location gives besides loops; or NULL */
  /* Makes a value of Python text in a trace that was read; NULL: such a trace fails. */
  Value (*eval)(Sched *s, const char *python, Loc loc);
  /* Registers the tensor intrinsic of that name if there is one that comes with the binary; NULL.
   */
  void (*offer_intrin)(Sched *s, const char *name);
};
enum { SCHED_VERIFY_TREE = 1, SCHED_VERIFY_FLAGS = 2, SCHED_VERIFY_ALL = 3 };

/* A schedule of m in context c (which from then on depends on m->c). Throws when m is ill-formed.
 */
Sched *tirc_sched_new(Tirc *c, const Module *m);
/* A schedule of the same program, with the same trace, that can go its own way. Handles are good in
 * both. It samples from a seed that s gives it. */
Sched *tirc_sched_copy(Sched *s);
/* What s is, to go back to after some calls: the program, its handles, the trace. Programs are
 * immutable and traces know what was done to them, so keeping costs nothing, and returning what
 * changed. */
typedef struct KeptSched {
  Sched was;
  int mark; /* of the trace */
} KeptSched;
KeptSched tirc_sched_keep(Sched *s);
void tirc_sched_return_to(Sched *s, const KeptSched *to);
/* A module of one function that copies an array of f's parameter, from the layout that it had
 * before the schedule into the one it has now, or with `back` from now to before; behind the two
 * arrays it takes the scalars in their shapes that are no extent. NULL: it is the same. */
const Module *tirc_relayout(Tirc *c, const Module *m, const Func *f, int param, bool back);
/* What of `mask` differs between the state as primitives kept it up and one made anew, in words;
 * NULL when all is right. Costs as much as a new schedule. */
const char *tirc_sched_fault(Sched *s, int mask);
void tirc_sched_seed(Sched *s, int64_t seed); /* -1: one that differs from run to run */
int64_t tirc_sched_fork_seed(Sched *s);

/* --- primitives ------------------------------------------------------------------------------- */

/* Each on arguments that were bound and converted; nothing is put back when it fails. */
#define PRIMITIVE(name, params, help, instruction, flags, sentence)                                \
  void tirc_prim_##name(Sched *s, const Value *args, Value *result);
#include "passes/words/primitives.def"
#undef PRIMITIVE

/* One call as a script makes it. Binds arguments (too many, missing, twice, unknown, wrong type:
 * status BAD, code "argument"), runs the primitive, and on failure restores the schedule, renders
 * the ScheduleError into c->diag and unwinds. loc: the call's place in the script. */
Value tirc_sched_call(Sched *s, const Primitive *p, Loc loc, const Args *args);
/* The call as text: "sch.fuse(i_0, j_0)". Loops and blocks stand with their present names. */
const char *tirc_sched_call_text(Sched *s, const Primitive *p, const Args *args);

/* --- errors ----------------------------------------------------------------------------------- */

/* Underline this statement in the IR that comes with the error. */
void tirc_sched_mark(Sched *s, Stmt stmt);
/* Raise a ScheduleError (status NO, or BAD for an ARGUMENT_ERROR row) about a statement, which is
 * marked, too (NULL: about none). `condition` says which condition of which definition failed, or
 * NULL. `hint` NULL takes the table's. */
_Noreturn void tirc_sched_error(Sched *s, Stmt at, DiagCode id, const char *condition,
                                const char *hint, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
#define tirc_refuse(s, at, id, ...) tirc_sched_error(s, at, id, NULL, NULL, __VA_ARGS__)
/* Harmless but suspicious; a strict schedule turns it into an error, */
#define tirc_sched_warn(s, ...) tirc_sched_warn_code(s, CODE_WARNING, __VA_ARGS__)
/* The same with a code of its own, one of ir/codes.def. */
void tirc_sched_warn_code(Sched *s, DiagCode code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* which is this one. */
_Noreturn void tirc_raise_warning(Tirc *c, Warning w);
/* All that is warned of in a program: spatial dependences (meaning/instances.c), loops that race
 * (loops/for_kind.c), accesses outside of their buffers (meaning/bounds.c). In a schedule of its
 * own: what is asked there leaves warnings behind. */
void tirc_program_warnings(Sched *s, void (*tell)(void *self, Warning w), void *self);

/* --- state ------------------------------------------------------------------------------------ */

SRef *tirc_sref_of_loop(Sched *s, Expr var);        /* throws stale-handle when gone */
SRef *tirc_sref_of_block(Sched *s, uint32_t id);    /* same */
SRef *tirc_sref_find(Sched *s, Stmt loop_or_block); /* of the current tree; NULL when not in it */
SRef *tirc_scope_root(const SRef *sref);            /* the nearest block above (not itself); for the
                                                     * root block: NULL */
SRefs tirc_loops_above(Sched *s, SRef *sref);       /* within the scope, outermost first */
SRefs tirc_child_blocks(Sched *s, SRef *sref);      /* blocks directly below, in order */
/* Installs `with` (a loop or block) in the place of `old` in its function: the parents are rebuilt
 * up to the root, the sref maps follow (identities gone from the subtree die, new ones appear), and
 * the block info of what changed is computed again: of new blocks in the subtree, and of the scope
 * that encloses it. Costs no more than the depth and the subtree. */
void tirc_sched_replace(Sched *s, SRef *old, Stmt with);
/* Back to `old`, the module as it was before a primitive that failed, or to one in which other
 * functions have a root block: maps, scopes and block
 * information are those of `old` again, and the handles of `old` are alive. */
void tirc_sched_restore(Sched *s, const Module *old);

#endif

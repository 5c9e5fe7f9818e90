/* Values of the schedule language: what primitives take and give, and what scripts compute with. */
#ifndef TIRC_RECORD_VALUE_H
#define TIRC_RECORD_VALUE_H

#include "ir/tree/ir.h"

typedef enum ValueKind {
  VAL_NONE,
  VAL_BOOL,
  VAL_INT,
  VAL_FLOAT,
  VAL_STR,
  VAL_LIST,
  VAL_TUPLE,
  VAL_DICT,
  VAL_EXPR,     /* a symbolic expression: a symbolic extent, T.int64(4), a product of such */
  VAL_BLOCK,    /* handle: u.block_id (0 is no block: an inlined or removed one stays its old id) */
  VAL_LOOP,     /* handle: u.expr is the loop variable */
  VAL_BUFFER,   /* u.buffer */
  VAL_FUNCTION, /* def or lambda of a script; u.object belongs to the interpreter */
  VAL_OBJECT /* sch itself, results of sch.get(...), builtins, exceptions: u.object + type name */
} ValueKind;

typedef struct Value Value;
typedef struct ValueList { /* lists are mutable and shared, as in Python */
  int n, cap;
  Value *at;
} ValueList;

struct Value {
  ValueKind kind;
  uint32_t rv; /* number of the random variable that it is in the trace; 0: none */
  union {
    bool b;
    int64_t i;
    double f;
    const char *s;
    ValueList *list; /* LIST, TUPLE; DICT: alternating keys and values, in order of insertion */
    Expr expr;       /* EXPR, LOOP */
    uint32_t block_id;
    Buffer buffer;
    void *object;
  } u;
  const char *type; /* OBJECT: "Schedule", "Block", "For", "IterVar", ...; otherwise NULL */
};

#define VALUE_NONE ((Value){.kind = VAL_NONE})
static inline Value tirc_value_bool(bool b) { return (Value){.kind = VAL_BOOL, .u.b = b}; }
static inline Value tirc_value_int(int64_t i) { return (Value){.kind = VAL_INT, .u.i = i}; }
static inline Value tirc_value_float(double f) { return (Value){.kind = VAL_FLOAT, .u.f = f}; }
static inline Value tirc_value_str(const char *s) { return (Value){.kind = VAL_STR, .u.s = s}; }
static inline Value tirc_value_block(uint32_t id) {
  return (Value){.kind = VAL_BLOCK, .u.block_id = id};
}
static inline Value tirc_value_loop(Expr var) { return (Value){.kind = VAL_LOOP, .u.expr = var}; }
static inline Value tirc_value_expr(Expr e) { return (Value){.kind = VAL_EXPR, .u.expr = e}; }
static inline Value tirc_value_buffer(Buffer b) {
  return (Value){.kind = VAL_BUFFER, .u.buffer = b};
}
/* Python text that is to be evaluated where a value is wanted: an index map that was read. "$17$"
 * in it stands for random variable number 17 of its trace. */
static inline Value tirc_value_python(const char *text) {
  return (Value){.kind = VAL_OBJECT, .u.object = (void *)(uintptr_t)text, .type = "python"};
}
static inline bool tirc_value_is_python(Value v) {
  return v.kind == VAL_OBJECT && v.type && !strcmp(v.type, "python");
}
/* What the object of a VAL_FUNCTION starts with: index maps are called with VAL_EXPR arguments and
 * give a VAL_EXPR or VAL_INT, or a list or tuple of these. */
typedef struct Callable Callable;
struct Callable {
  Value (*call)(Callable *self, int n, const Value *args);
  int n_params; /* positional parameters; -1 when it takes any number */
  const char *name;
};

/* What a call gives, keyword argument i by its name. */
typedef struct Args {
  int n;
  const Value *at;
  int n_keywords;
  const char *const *names;
  const Value *keywords;
} Args;

static inline bool tirc_is_sequence(Value v) { return v.kind == VAL_LIST || v.kind == VAL_TUPLE; }
static inline bool tirc_is_container(Value v) { return tirc_is_sequence(v) || v.kind == VAL_DICT; }
bool tirc_is_axis_separator(Value v); /* the value of tir.IndexMap.AXIS_SEPARATOR */
Value tirc_value_list(Tirc *c, ValueKind list_or_tuple, int n, const Value *at);
void tirc_value_append(Tirc *c, Value list, Value item);
/* As Python's repr; loops print their variable's name, blocks their id as "<block 3>" unless the
 * caller knows better. */
const char *tirc_value_repr(Tirc *c, Value v);
/* A list, a tuple or a dict as Python writes it, its items as `add` does. */
typedef void AddValue(Text *t, Value v, int depth, const void *self);
void tirc_add_container(Text *t, Value v, int depth, AddValue *add, const void *self);
Value tirc_default_value(Tirc *c, const char *python); /* of a parameter's default_text */
const char *tirc_value_type_name(Value v); /* "int", "LoopRV", "BlockRV", ... for messages */
const char *tirc_a_type(Tirc *c, const char *name); /* "an int", "a LoopRV", "None" */

#endif

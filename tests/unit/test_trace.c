/* Traces: recorded, printed, stored, read and done again; the sampling primitives; copies of a
 * schedule; the check of its state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <malloc.h>
#include <math.h>

#include "ir/arith/equal.h"
#include "ir/tree/print.h"
#include "parser/program.h"
#include "passes/replay/replay.h"
#include "passes/schedule/random.h"
#include "passes/schedule/shape/shape.h"
#include "passes/script/script.h"

static const char program[] =
    "@T.prim_func\n"
    "def main(A: T.Buffer((32, 24), \"float32\"), B: T.Buffer((24, 30), \"float32\"),\n"
    "         D: T.Buffer((32, 30), \"float32\")):\n"
    "    C = T.alloc_buffer((32, 30))\n"
    "    X = T.alloc_buffer((32, 24))\n"
    "    for i, k in T.grid(32, 24):\n"
    "        with T.block(\"X\"):\n"
    "            vi, vk = T.axis.remap(\"SS\", [i, k])\n"
    "            X[vi, vk] = A[vi, vk] * T.float32(2)\n"
    "    for i, j, k in T.grid(32, 30, 24):\n"
    "        with T.block(\"C\"):\n"
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
    "            with T.init():\n"
    "                C[vi, vj] = T.float32(0)\n"
    "            C[vi, vj] = C[vi, vj] + X[vi, vk] * B[vk, vj]\n"
    "    for i, j in T.grid(32, 30):\n"
    "        with T.block(\"D\"):\n"
    "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "            D[vi, vj] = T.max(C[vi, vj], T.float32(0))\n";

static const Module *parse_text(Tirc *c, const char *text) {
  Source source = {"program", text, strlen(text)};
  return tirc_parse_module(c, &source, 0, NULL);
}

static const Module *parse(Tirc *c) { return parse_text(c, program); }

static void collect(void *self, const char *text) { tirc_text_add(self, text); }

/* The schedule after the script, or NULL with c->diag; what it printed goes to *out. */
static Sched *try_on(Tirc *c, const Module *m, const char *text, const char **out) {
  Sched *s = tirc_sched_new(c, m);
  Text *printed = tirc_new(c, Text);
  Source source = {"script", text, strlen(text)};
  printed->c = c;
  tirc_text_add(printed, "");
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    tirc_run_script(s, &source, NULL, collect, NULL, printed);
    TIRC_END(c, trap);
    if (out) *out = printed->at;
    return s;
  }
  return NULL;
}

static Sched *try_script(Tirc *c, const char *text, const char **out) {
  return try_on(c, parse(c), text, out);
}

static Sched *run(Tirc *c, const char *text, const char **out) {
  Sched *s = try_script(c, text, out);
  if (!s) fail_msg("%s: %s", tirc_codes[c->diag.code].text, c->diag.message);
  return s;
}

static void assert_prints(const char *script, const char *expected) {
  Tirc *c = tirc_context_new();
  const char *out;
  run(c, script, &out);
  assert_string_equal(out, expected);
  tirc_context_release(c);
}

static void assert_raises(const char *script, const char *code, const char *part) {
  Tirc *c = tirc_context_new();
  if (try_script(c, script, NULL)) fail_msg("no error from: %s", script);
  if (strcmp(tirc_codes[c->diag.code].text, code))
    fail_msg("%s: [%s] %s", script, tirc_codes[c->diag.code].text, c->diag.message);
  if (!strstr(c->diag.message, part)) fail_msg("'%s' lacks '%s'", c->diag.message, part);
  tirc_context_release(c);
}

static const char everything[] =
    "block = sch.get_block('C')\n"
    "i, j, k = sch.get_loops(block)\n"
    "sch.get_loops('D')\n"
    "tile = sch.sample_perfect_tile(i, n=2, decision=[4, 8])\n"
    "i0, i1 = sch.split(i, factors=tile)\n"
    "j0, j1 = sch.split(j, [None, 16], preserve_unit_iters=False)\n"
    "step = sch.sample_categorical([0, 16], [0.5, 0.5], decision=1)\n"
    "sch.annotate(i0, 'pragma_x', step)\n"
    "sch.annotate(block, 'note', [1, 2.5, 'a\"b', {'k': [True, None]}])\n"
    "sch.reorder(i0, j0, k, i1, j1)\n"
    "cache = sch.cache_write(block, 'C', 'global', consumer_blocks=['D'])\n"
    "sch.reverse_compute_at(cache, j0)\n"
    "sch.enter_postproc()\n"
    "sch.parallel(i0)\n"
    "sch.decompose_reduction(block, k)\n";

static const char everything_printed[] =
    "# from tvm import tir\n"
    "def apply_trace(sch: tir.Schedule) -> None:\n"
    "  b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
    "  l1, l2, l3 = sch.get_loops(block=b0)\n"
    "  b4 = sch.get_block(name=\"D\", func_name=\"main\")\n"
    "  l5, l6 = sch.get_loops(block=b4)\n"
    "  v7, v8 = sch.sample_perfect_tile(loop=l1, n=2, max_innermost_factor=16, decision=[4, 8])\n"
    "  l9, l10 = sch.split(loop=l1, factors=[v7, v8], preserve_unit_iters=True, "
    "disable_predication=False)\n"
    "  l11, l12 = sch.split(loop=l2, factors=[None, 16], preserve_unit_iters=False, "
    "disable_predication=False)\n"
    "  v13 = sch.sample_categorical(candidates=[0, 16], probs=[0.5, 0.5], decision=1)\n"
    "  sch.annotate(block_or_loop=l9, ann_key=\"pragma_x\", ann_val=v13)\n"
    "  sch.annotate(block_or_loop=b0, ann_key=\"note\", ann_val=[1, 2.5, \"a\\\"b\"])\n"
    "  sch.reorder(l9, l11, l3, l10, l12)\n"
    "  b14 = sch.get_block(name=\"D\", func_name=\"main\")\n"
    "  b15 = sch.cache_write(block=b0, write_buffer_index=0, storage_scope=\"global\", "
    "consumer_blocks=[b14])\n"
    "  sch.reverse_compute_at(block=b15, loop=l11, preserve_unit_loops=False, index=-1)\n"
    "  sch.enter_postproc()\n"
    "  sch.parallel(loop=l9)\n"
    "  b16 = sch.decompose_reduction(block=b0, loop=l3)";

/* The schedule above, without the dictionary that is no annotation of the reference. */
static const char *plain_script(Tirc *c) {
  const char *cut = ", {'k': [True, None]}", *at = strstr(everything, cut);
  return tirc_format(c, "%.*s%s", (int)(at - everything), everything, at + strlen(cut));
}

/* --- printing, storing, doing again ----------------------------------------------------------- */

static void test_python(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  Sched *s = run(c, plain_script(c), NULL);
  assert_string_equal(tirc_trace_python(c, s->trace, false, DIALECT_TIR), everything_printed);
  assert_non_null(strstr(everything_printed, tirc_trace_python(c, s->trace, true, DIALECT_TIR)));
  /* The text is a script that makes the same program and prints the same trace. */
  Sched *again = run(c, everything_printed, NULL);
  assert_null(tirc_module_difference(c, s->mod, again->mod));
  assert_string_equal(tirc_trace_python(c, again->trace, false, DIALECT_TIR), everything_printed);
  Trace *empty = tirc_trace_new(c);
  assert_non_null(strstr(tirc_trace_python(c, empty, false, DIALECT_TIR), "\n  pass"));
  tirc_context_release(c);
}

static void test_simplified(void **state) {
  (void)state;
  assert_prints("b = sch.get_block('C')\n"
                "i, j, k = sch.get_loops(b)\n"
                "v = sch.sample_categorical([1, 2], [0.5, 0.5], decision=0)\n"
                "sch.get_loops('D')\n"
                "sch.split(i, [None, 4])\n"
                "sch.enter_postproc()\n"
                "sch.parallel(j)\n"
                "for inst in sch.trace.simplified(remove_postproc=True).as_python(): print(inst)\n"
                "print(len(sch.trace.simplified().insts), len(sch.trace.insts))\n"
                "print(len(sch.trace.decisions), [d for d in sch.trace.decisions.values()])\n",
                "b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
                "l1, l2, l3 = sch.get_loops(block=b0)\n"
                "l4, l5 = sch.split(loop=l1, factors=[None, 4], preserve_unit_iters=True, "
                "disable_predication=False)\n"
                "5 8\n1 [0]\n");
}

static void test_json(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  Sched *s = run(c, plain_script(c), NULL);
  const char *json = tirc_value_to_json(c, tirc_trace_as_value(c, s->trace, false, DIALECT_TIR));
  assert_non_null(strstr(json, "[\"GetBlock\",[],[\"C\",\"main\"],[\"b0\"]]"));
  assert_non_null(strstr(json, "[\"Split\",[\"l1\",\"v7\",\"v8\"],[1,0],[\"l9\",\"l10\"]]"));
  assert_non_null(strstr(json, "[\"Split\",[\"l2\",\"None\",16],[0,0],[\"l11\",\"l12\"]]"));
  assert_non_null(strstr(json, "[\"CacheWrite\",[\"b0\",[\"b14\"]],[0,\"global\"],[\"b15\"]]"));
  assert_non_null(strstr(json, ",[[4,[4,8]],[7,1]]]"));
  Sched *again = tirc_sched_new(c, parse(c));
  TraceRecord r = tirc_trace_read(c, "trace", json, strlen(json), 0);
  tirc_trace_apply(again, r.trace, false, NULL, r.loc, r.what);
  assert_null(tirc_module_difference(c, s->mod, again->mod));
  assert_string_equal(
      tirc_value_to_json(c, tirc_trace_as_value(c, again->trace, false, DIALECT_TIR)), json);
  tirc_context_release(c);
}

#define GET "[\"GetBlock\",[],[\"C\",\"main\"],[\"b0\"]]"
#define RECORD(block, seconds)                                                                     \
  "[0,[[[[\"GetBlock\",[],[\"" block "\",\"main\"],[\"b0\"]]],[]],[" seconds "],{},[]]]\n"

static void test_records(void **state) {
  (void)state;
  static const char file[] = RECORD("C", "3, 1") RECORD("D", "1.5") "\n" RECORD("X", "");
  static const struct {
    int64_t record;
    const char *block;
    int line;
  } rows[] = {{0, "D", 2}, {1, "C", 1}, {2, "D", 2}, {3, "X", 4}};
  Tirc *c = tirc_context_new();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    TraceRecord r = tirc_trace_read(c, "file", file, strlen(file), rows[i].record);
    assert_string_equal(r.trace->at[0]->args[0].u.s, rows[i].block);
    assert_int_equal(r.loc.line, rows[i].line);
  }
  tirc_context_release(c);
}

static void assert_trace_fails(const char *text, int64_t record, const char *message) {
  Tirc *c = tirc_context_new();
  Sched *s = tirc_sched_new(c, parse(c));
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    TraceRecord r = tirc_trace_read(c, "file", text, strlen(text), record);
    tirc_trace_apply(s, r.trace, false, NULL, r.loc, r.what);
    TIRC_END(c, trap);
    fail_msg("no error from %s", text);
  }
  if (!strstr(c->diag.message, message))
    fail_msg("%s: '%s' lacks '%s'", text, c->diag.message, message);
  assert_string_equal(c->diag.loc.file, "file");
  tirc_context_release(c);
}

static void test_bad_json(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t record;
    const char *message;
  } rows[] = {
      {"", 0, "no trace"},
      {"[[", 0, "ends too early"},
      {"hello", 0, "not JSON"},
      {"null", 0, "not JSON"},
      {"{}", 0, "the trace: a trace is"},
      {"[[" GET "]]", 0, "the trace: a trace is"},
      {"[[" GET ",[\"Foo\",[],[],[]]],[]]", 0, "instruction 1 (Foo)"},
      {"[[" GET ",[\"Fuse\"]],[]]", 0, "instruction 1: an instruction is"},
      {"[[[\"GetLoops\",[\"b7\"],[],[\"l0\"]]],[]]", 0, "\"b7\" is not defined"},
      {"[[" GET ",[\"ComputeAt\",[\"b0\"],[1,-1],[]]],[]]", 0, "argument 'loop' is missing"},
      {"[[[\"GetBlock\",[],[\"C\",\"main\",3],[\"b0\"]]],[]]", 0, "3 attributes"},
      {"[[[\"GetBlock\",[],[\"C\",\"main\"],[7]]],[]]", 0, "an output must be the name"},
      {"[[" GET "],[[0,1]]]", 0, "instruction 0, which takes none"},
      {"[[" GET "],[[5,1]]]", 0, "instruction 5, which takes none"},
      {RECORD("C", "1"), 2, "there is no record 2: the file has 1"},
      {RECORD("Q", "1"), 0,
       "record 1, instruction 0 (GetBlock): Cannot find a block with the name: Q"},
      {"[[[\"GetBlock\",[],[5,\"main\"],[\"b0\"]]],[]]", 0, "must be a str"},
      {"[[[\"GetBlock\",[],[\"C\",\"main\"],[\"b0\",\"b1\"]]],[]]", 0, "1 result here, but 2"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_trace_fails(rows[i].text, rows[i].record, rows[i].message);
}

static void test_trace_objects(void **state) {
  (void)state;
  assert_prints("b = sch.get_block('C')\n"
                "i, j, k = sch.get_loops(b)\n"
                "sch.split(i, sch.sample_perfect_tile(i, 2, decision=[2, 16]))\n"
                "t = sch.trace\n"
                "inst = t.insts[2]\n"
                "print(inst.kind.name, inst.attrs, t.get_decision(inst), len(inst.outputs))\n"
                "other = sch.copy()\n"
                "print(t.with_decision(inst, [8, 4], False).get_decision(inst))\n"
                "print(t.with_decision(inst, [8, 4], False).insts[2])\n"
                "print(len(t.as_json()[0]), t.as_json()[1])\n",
                "SamplePerfectTile [2, 16] [2, 16] 2\n"
                "[8, 4]\n"
                "v0, v1 = sch.sample_perfect_tile(loop=_, n=2, max_innermost_factor=16, "
                "decision=[8, 4])\n"
                "4 [[2, [2, 16]]]\n");
}

/* What a trace hands out are copies. */
static void test_copies(void **state) {
  (void)state;
  assert_prints("i, j, k = sch.get_loops('C')\n"
                "sch.annotate(i, 'key', [1, [2, 3]])\n"
                "before = str(sch.trace)\n"
                "t = sch.trace\n"
                "t.insts.append(t.insts[0])\n"
                "t.insts[2].inputs[1].append(4)\n"
                "t.insts[2].inputs[1][1].append(4)\n"
                "t.insts[2].attrs.append(4)\n"
                "t.insts[1].outputs.append(4)\n"
                "def provider(inst, inputs, attrs, decision):\n"
                "    inputs.append(4)\n"
                "    attrs.append(4)\n"
                "other = sch.copy()\n"
                "t.apply_to_schedule(other, decision_provider=provider)\n"
                "print(str(sch.trace) == before, other.trace.insts[-1].inputs)\n",
                "True [i, [1, [2, 3]]]\n");
}

static void test_decision_provider(void **state) {
  (void)state;
  assert_prints("fresh = sch.copy()\n"
                "i, j, k = sch.get_loops(sch.get_block('C'))\n"
                "sch.split(i, sch.sample_perfect_tile(i, 2, decision=[2, 16]))\n"
                "t = sch.trace\n"
                "Trace = tvm.tir.schedule.Trace\n"
                "print(Trace(t.insts, {}).decisions, Trace(t.insts, t.decisions).as_json()[1])\n"
                "u = Trace(t.insts[:2], {})\n"
                "u.append(t.insts[2], [4, 8])\n"
                "u.append(inst=t.insts[3])\n"
                "print(u.get_decision(t.insts[2]), t.get_decision(t.insts[2]), len(u.insts))\n"
                "def provider(inst, inputs, attrs, decision):\n"
                "    if decision is not None:\n"
                "        print(inst.kind.name, inputs, attrs, decision)\n"
                "        return [8, 4]\n"
                "u.apply_to_schedule(fresh, False, provider)\n"
                "print([fresh.get(x).extent for x in fresh.get_loops('C')])\n"
                "print(fresh.trace.as_json()[1])\n",
                "{} [[2, [2, 16]]]\n"
                "[4, 8] [2, 16] 4\n"
                "SamplePerfectTile [i] [2, 16] [4, 8]\n"
                "[8, 4, 30, 24]\n"
                "[[2, [8, 4]]]\n");
  assert_raises("sch.get_loops('C')\n"
                "sch.trace.apply_to_schedule(sch.copy(), "
                "decision_provider=lambda inst, inputs, attrs, decision: 1)\n",
                "trace", "it takes no decision");
  /* what a provider raises is its own: it stands in the message as it was raised */
  assert_raises("i, j, k = sch.get_loops('C')\n"
                "other = sch.copy()\n"
                "def endless(inst, inputs, attrs, decision):\n"
                "    sch.trace.apply_to_schedule(other, decision_provider=endless)\n"
                "sch.trace.apply_to_schedule(other, decision_provider=endless)\n",
                "limit", "more than 200 function calls");
  assert_prints("i, j, k = sch.get_loops('C')\n"
                "bad = sch.trace.from_json([[['GetBlock', [], ['Q', 'main'], ['b0']]], []])\n"
                "def provider(inst, inputs, attrs, decision):\n"
                "    bad.apply_to_schedule(sch)\n"
                "try:\n"
                "    sch.trace.apply_to_schedule(sch.copy(), decision_provider=provider)\n"
                "except ScheduleError as e:\n"
                "    print(e)\n",
                "the trace, instruction 0 (GetBlock): Cannot find a block with the name: Q; the "
                "blocks are: root, X, C, D\n");
  assert_raises("tvm.tir.schedule.Trace([1], {})\n", "type", "a list of instructions");
  assert_raises("tvm.tir.schedule.Trace([], 3)\n", "type", "must be a dict");
  assert_raises("sch.trace.append(3)\n", "type", "takes an instruction");
  assert_raises("i, j, k = sch.get_loops('C')\n"
                "sch.sample_perfect_tile(i, 2)\n"
                "own = []\n"
                "own.append(own)\n"
                "sch.trace.append(sch.trace.insts[-1], own)\n",
                "value", "nested more than");
}

/* Handles that a popped instruction gave are looked up by their names. */
static void test_popped(void **state) {
  (void)state;
  assert_prints("fresh = sch.copy()\n"
                "b = sch.get_block('C')\n"
                "i, j, k = sch.get_loops(b)\n"
                "print(sch.trace.pop().kind.name, sch.trace.pop().kind.name)\n"
                "sch.parallel(i)\n"
                "sch.unroll(k)\n"
                "sch.annotate(b, 'key', 1)\n"
                "v = sch.sample_categorical([4], [1.0], decision=0)\n"
                "sch.trace.pop()\n"
                "sch.split(j, [None, v])\n"
                "print(sch.trace)\n"
                "sch.trace.apply_to_schedule(fresh)\n"
                "print(str(fresh.mod) == str(sch.mod))\n"
                "sch.transform_layout(b, 'B', lambda x, y: (y, x))\n"
                "print(sch.trace.insts[-1].inputs[-1](3, 4))\n",
                "GetLoops GetBlock\n"
                "# from tvm import tir\n"
                "def apply_trace(sch: tir.Schedule) -> None:\n"
                "  b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
                "  l1, l2, l3 = sch.get_loops(block=b0)\n"
                "  sch.parallel(loop=l1)\n"
                "  sch.unroll(loop=l3)\n"
                "  sch.annotate(block_or_loop=b0, ann_key=\"key\", ann_val=1)\n"
                "  l4, l5 = sch.split(loop=l2, factors=[None, 4], preserve_unit_iters=True, "
                "disable_predication=False)\n"
                "True\n"
                "(4, 3)\n");
}

/* Back to a mark, whatever was recorded and popped behind it. */
static void test_undone(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  Sched *s = run(c, everything, NULL);
  const char *before = tirc_trace_python(c, s->trace, false, DIALECT_TIR),
             *was = tirc_print_module(c, s->mod, NULL);
  const Value block = tirc_value_str("D");
  for (int round = 0; round < 3; round++) {
    const KeptSched kept = tirc_sched_keep(s);
    for (int i = 0; i < 3; i++) tirc_trace_pop(c, s->trace);
    const Value loops = tirc_sched_call(s, tirc_find_primitive("get_loops"), (Loc){"test", 1, 1},
                                        &(Args){.n = 1, .at = &block});
    tirc_sched_call(s, tirc_find_primitive("unroll"), (Loc){"test", 1, 1},
                    &(Args){.n = 1, .at = &loops.u.list->at[1]});
    tirc_trace_pop(c, s->trace);
    assert_string_not_equal(before, tirc_trace_python(c, s->trace, false, DIALECT_TIR));
    tirc_sched_return_to(s, &kept);
    assert_string_equal(before, tirc_trace_python(c, s->trace, false, DIALECT_TIR));
    assert_string_equal(was, tirc_print_module(c, s->mod, NULL));
  }
  tirc_context_release(c);
}

/* --- sampling --------------------------------------------------------------------------------- */

/* What libstdc++'s distributions draw from the same generator and seeds. */
static void test_random(void **state) {
  (void)state;
  static const struct {
    int64_t seed;
    int extent, n;
    int64_t factors[5];
  } rows[] = {
      {1, 768, 2, {1, 768}},
      {1, 3072, 3, {1, 3, 1024}},
      {1, 720720, 4, {1, 231, 1560, 2}},
      {1, 65537, 5, {65537, 1, 1, 1, 1}},
      {1, 97, 2, {1, 97}},
      {1, 12, 3, {1, 3, 4}},
      {1, 1073741824, 4, {1, 4, 65536, 4096}},
      {42, 768, 2, {3, 256}},
      {42, 3072, 3, {3, 64, 16}},
      {42, 720720, 4, {1287, 4, 35, 4}},
      {42, 65537, 5, {65537, 1, 1, 1, 1}},
      {42, 97, 2, {1, 97}},
      {42, 12, 3, {3, 2, 2}},
      {42, 1073741824, 4, {1, 256, 512, 8192}},
      {987654321, 768, 2, {24, 32}},
      {987654321, 3072, 3, {96, 16, 2}},
      {987654321, 720720, 4, {36, 1001, 2, 10}},
      {987654321, 65537, 5, {1, 1, 65537, 1, 1}},
      {987654321, 97, 2, {1, 97}},
      {987654321, 12, 3, {6, 2, 1}},
      {987654321, 1073741824, 4, {16, 512, 4096, 32}},
  };
  Tirc *c = tirc_context_new();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Random r = tirc_random(rows[i].seed);
    int64_t factors[5];
    tirc_random_tile(c, &r, rows[i].extent, rows[i].n, factors);
    for (int k = 0; k < rows[i].n; k++) assert_int_equal(factors[k], rows[i].factors[k]);
  }
  static const double weights[] = {0.25, 0.1, 0.5, 0, 3};
  static const int choices[] = {4, 4, 4, 4, 4, 4, 0, 4, 4, 4, 4, 4,
                                4, 0, 4, 4, 4, 2, 4, 4, 2, 4, 4, 0};
  Random r = tirc_random(42);
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
    assert_int_equal(tirc_random_weighted(c, &r, 5, weights), choices[i]);
  Random forked = tirc_random(1);
  assert_int_equal(tirc_random_fork(&forked), (int64_t)48271 * 32767 % 1999999973);
  assert_int_equal(tirc_random(0).state, 1);
  assert_int_equal(tirc_random(-5).state, 2147483642);
  tirc_context_release(c);
}

static void test_tiles(void **state) {
  (void)state;
  assert_prints(
      "i, j, k = sch.get_loops('C')\n"
      "for seed in range(1, 60):\n"
      "    sch.seed(seed)\n"
      "    a, b, d = sch.sample_perfect_tile(i, n=3, max_innermost_factor=4)\n"
      "    assert a * b * d == 32 and d <= 4\n"
      "    a, b, d = sch.sample_partitioned_tile(k, 3, partition_pos=1, innerpart_factor=6)\n"
      "    assert a * b * d == 24 and b * d % 6 == 0\n"
      "    assert sch.sample_categorical([3, 5, 7], [0.1, 0, 0.9]) in [3, 7]\n"
      "sch.seed(7)\n"
      "x = sch.sample_perfect_tile(i, n=4)\n"
      "sch.seed(7)\n"
      "print(x == sch.sample_perfect_tile(i, n=4))\n"
      "print(sch.sample_perfect_tile(i, n=3, decision=[9, 3, 4]))\n" /* 3 does not divide 8 */
      "print(sch.sample_perfect_tile(i, n=2, decision=[9, 5]))\n"
      "print(sch.sample_partitioned_tile(k, 3, 1, 6, decision=[24, 1, 1]))\n"
      "print(sch.sample_partitioned_tile(k, 3, 1, 5))\n" /* 5 does not divide 24 */
      "print(sch.sample_perfect_tile(i, n=1, max_innermost_factor=-1))\n",
      "True\n[1, 8, 4]\n[1, 32]\n[4, 6, 1]\n[None, 1, 1]\n[32]\n");
}

static void test_bad_samples(void **state) {
  (void)state;
  static const struct {
    const char *call, *code, *part;
  } rows[] = {
      {"sample_perfect_tile(i, 0)", "tile-count", "n is 0"},
      {"sample_perfect_tile(i, 1)", "tile-count", "n is 1"},
      {"sample_perfect_tile(i, 99999999999)", "tile-count", "n is"},
      {"sample_perfect_tile(i, 2, 0)", "tile-count", "max_innermost_factor is 0"},
      {"sample_perfect_tile(i, 2, decision=[1])", "decision", "1 factors"},
      {"sample_perfect_tile(i, 2, decision=[32, 0])", "decision", "not positive"},
      {"sample_perfect_tile(i, 2, decision=3)", "argument", "None or a list of ints"},
      {"sample_partitioned_tile(i, 2, 2, 4)", "tile-count", "partition_pos is 2"},
      {"sample_partitioned_tile(i, 2, 1, 0)", "tile-count", "innerpart_factor is 0"},
      {"sample_categorical([1, 2], [1])", "probabilities", "2 candidates, but 1"},
      {"sample_categorical([], [])", "probabilities", "0 candidates"},
      {"sample_categorical([1, 2], [0, 0])", "probabilities", "all of them are 0"},
      {"sample_categorical([1, 2], [-1, 2])", "probabilities", "not a probability"},
      {"sample_categorical([1, 2], [1, 1], decision=2)", "decision", "2 of 2"},
      {"sample_categorical([1, 'a'], [1, 1])", "argument", "candidates[1]"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char script[200];
    snprintf(script, sizeof script, "i, j, k = sch.get_loops('C')\nsch.%s\n", rows[i].call);
    assert_raises(script, rows[i].code, rows[i].part);
  }
}

static void test_compute_location(void **state) {
  (void)state;
  /* X can be inlined, left, or computed under i or j of its consumer; k is a reduction. */
  assert_prints("seen = []\n"
                "for seed in range(1, 80):\n"
                "    s = sch.copy()\n"
                "    s.seed(seed * 26843543)\n"
                "    at = s.sample_compute_location('X')\n"
                "    d = s.trace.get_decision(s.trace.insts[-1])\n"
                "    if d not in seen: seen.append(d)\n"
                "    before = s.mod.script()\n"
                "    s.compute_at(s.get_block('X'), at)\n"
                "    assert (s.mod.script() == before) == (d == -1)\n"
                "print(sorted(seen))\n"
                "s.sample_compute_location('D', decision=5)\n"
                "print(s.trace.get_decision(s.trace.insts[-1]))\n"
                "print(sch.mod.script() == sch.copy().mod.script())\n",
                "[-2, -1, 0, 1]\n-1\nTrue\n");
}

/* --- the schedule ----------------------------------------------------------------------------- */

static void test_copy(void **state) {
  (void)state;
  assert_prints("b = sch.get_block('C')\n"
                "i, j, k = sch.get_loops(b)\n"
                "other = sch.copy()\n"
                "o = other.split(i, [4, 8])\n"
                "sch.parallel(i)\n"
                "print(other.get(o[1]).extent, sch.get(i).kind, len(other.get_loops(b)))\n"
                "print(len(sch.trace.insts), len(other.trace.insts))\n"
                "try:\n    other.parallel(i)\nexcept ValueError as e:\n    print(e.code)\n"
                "try:\n    sch.parallel(o[0])\nexcept ValueError as e:\n    print(e.code)\n"
                "try:\n    sch.get_sref(o[0])\nexcept IndexError as e:\n    print(e.code)\n"
                "try:\n    sch.parallel(o[0])\nexcept KeyError:\n    pass\n"
                "except LookupError as e:\n    print(e.code)\n",
                "8 parallel 4\n3 4\nstale-handle\nstale-handle\nstale-handle\nstale-handle\n");
  Tirc *c = tirc_context_new();
  Sched *s = run(c, "i = sch.get_loops('D')[0]\nsch = sch.copy()\nsch.parallel(i)\n", NULL);
  assert_non_null(strstr(tirc_print_module(c, s->mod, NULL), "T.parallel(32)"));
  tirc_context_release(c);
}

/* A map with axis separators is two instructions, as in the reference's traces. */
static void test_axis_separators(void **state) {
  (void)state;
  assert_prints(
      "sep = tvm.tir.IndexMap.AXIS_SEPARATOR\n"
      "sch.transform_layout('C', ('write', 0), lambda x, y: (y, sep, x, sep))\n"
      "for line in sch.trace.as_python()[1:]: print(line)\n"
      "other = tvm.tir.Schedule(main)\n"
      "sch.trace.apply_to_schedule(other, False)\n"
      "print(other.mod.script() == sch.mod.script())\n",
      "sch.transform_layout(block=b0, buffer=(\"write\", 0), index_map=lambda i0, i1: (i1, "
      "i0), pad_value=None, assume_injective_transform=False)\n"
      "sch.set_axis_separator(block=b0, buffer=(\"write\", 0), axis_separators=[1, 2])\n"
      "True\n");
}

/* Arguments that the reference's records have in another form: all of them inputs, ranges as one
 * map to their bounds, paddings as maps. */
static void test_layout_of_records(void **state) {
  (void)state;
  static const char hide[] = "sch.unsafe_hide_buffer_access('C', 'read', [0])\n"
                             "print(sch.trace.as_json()[0][-1])\n";
  static const char ranges[] =
      "b = sch.get_block('D')\n"
      "sch.annotate_buffer_access(b, 0, 'write', lambda x, y: ((x, x + 1), (0, 30)))\n"
      "sch.annotate_buffer_access(b, 0, 'read', lambda x, y: (x, y))\n"
      "for i in sch.trace.as_json()[0][1:]: print(i[1][:3], 'tir.IndexMap' in i[1][3], i[2])\n"
      "for i in sch.trace.insts[1:]: print(i.inputs[3])\n";
  static const char padding[] =
      "m = lambda x, y: (x // 5, y, x % 5)\n"
      "sch.transform_layout('X', 'X', m, 1.0)\n"
      "sch.transform_layout('C', 'C', m, lambda a, b, c: T.Cast('float32', a))\n"
      "for i in sch.trace.insts[1::2]: print(i.attrs)\n"
      "for i in sch.trace.as_json()[0][1::2]: print('tir.IndexMap' in i[2][2])\n";
  static const char blocks[] =
      "sch.transform_block_layout('C', lambda i, j, k: (j, i, k))\n"
      "sch.cache_index('D', 'global')\n"
      "for i in sch.trace.as_json()[0][1::2]: print(i[1], [str(a)[:8] for a in i[2]])\n";
  static const char again[] =
      "other = tvm.tir.Schedule(main)\n"
      "tvm.tir.schedule.Trace.apply_json_to_schedule(sch.trace.as_json(), other)\n"
      "print(other.mod.script() == sch.mod.script(), other.trace.as_json() == "
      "sch.trace.as_json())\n";
  Tirc *c = tirc_context_new();
  assert_prints(tirc_format(c, "%s%s", hide, again),
                "['UnsafeHideBufferAccess', ['b0', '\"read\"', [0]], [], []]\nTrue True\n");
  assert_prints(tirc_format(c, "%s%s", ranges, again),
                "['b0', 0, 1] True []\n['b0', 0, 0] True []\n"
                "<function lambda i0, i1: (i0, i0 + 1, 0, 30)>\n"
                "<function lambda i0, i1: (i0, i0 + 1, i1, i1 + 1)>\nTrue True\n");
  assert_prints(tirc_format(c, "%s%s", padding, again),
                "[0, 1, <function lambda i0, i1, i2: (T.float32(1.0),)>, False]\n"
                "[0, 1, <function lambda i0, i1, i2: T.Cast(\"float32\", i0)>, False]\n"
                "True\nTrue\nTrue True\n");
  assert_prints(tirc_format(c, "%s%s", blocks, again),
                "['b0'] ['{\"root\":']\n['b1'] ['global', '0']\nTrue True\n");
  tirc_context_release(c);
}

/* Numbers keep their types on the way through a saved map. */
static void test_saved_constants(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  DType half, byte;
  assert_true(tirc_dtype_parse("float16", &half));
  assert_true(tirc_dtype_parse("int8", &byte));
  Expr x = tirc_var(c, "x", DT_INT32);
  Value all[] = {tirc_value_expr(tirc_float(c, half, 0.5)),
                 tirc_value_expr(tirc_int(c, byte, -1)),
                 tirc_value_expr(tirc_float(c, DT_FLOAT32, HUGE_VAL)),
                 tirc_value_float(1e10),
                 tirc_value_int(3),
                 tirc_value_expr(tirc_cast(c, half, x))};
  const char *saved = tirc_lambda_saved(c, 1, &x, 0, NULL, tirc_value_list(c, VAL_TUPLE, 6, all));
  assert_non_null(saved);
  assert_string_equal(
      tirc_saved_lambda(c, tirc_value_of_json(c, saved), false, NULL),
      "lambda i0: (T.float16(0.5), T.int8(-1), T.float32(\"inf\"), 10000000000.0, 3, "
      "T.Cast(\"float16\", i0), )");
  tirc_context_release(c);
}

/* A whole number that pads is of the buffer's type, and indices may be of another. */
static void test_saved_integer_padding(void **state) {
  (void)state;
  static const struct {
    const char *extent, *dtype, *pad;
  } cases[] = {{"T.int64(14)", "int32", "T.int32(3)"},
               {"T.int64(14)", "int32", "3"},
               {"14", "int64", "T.int64(3)"},
               {"14", "int64", "3"},
               {"14", "int32", "3"},
               {"T.int64(14)", "int64", "3"},
               {"T.int64(14)", "int8", "T.int8(3)"}};
  static const char script[] =
      "sch.transform_layout('B', 'B', lambda i: (i // 4, i %% 4), pad_value=%s)\n"
      "other = tvm.tir.Schedule(main)\n"
      "tvm.tir.schedule.Trace.apply_json_to_schedule(sch.trace.as_json(), other)\n"
      "print(other.mod.script() == sch.mod.script(), other.trace.as_json() == "
      "sch.trace.as_json())\n";
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Tirc *c = tirc_context_new();
    const char *out = "";
    const char *text = tirc_format(c,
                                   "@T.prim_func\n"
                                   "def main(A: T.Buffer((%s,), \"%s\"), "
                                   "B: T.Buffer((%s,), \"%s\")):\n"
                                   "    for i in range(%s):\n"
                                   "        with T.block(\"B\"):\n"
                                   "            vi = T.axis.spatial(%s, i)\n"
                                   "            B[vi] = A[vi]\n",
                                   cases[i].extent, cases[i].dtype, cases[i].extent, cases[i].dtype,
                                   cases[i].extent, cases[i].extent);
    if (!try_on(c, parse_text(c, text), tirc_format(c, script, cases[i].pad), &out))
      fail_msg("%s, %s: %s", cases[i].dtype, cases[i].pad, c->diag.message);
    assert_string_equal(out, "True True\n");
    tirc_context_release(c);
  }
}

static void test_methods(void **state) {
  (void)state;
  assert_prints("sch.seed(1)\nprint(sch.fork_seed())\nsch.work_on('main')\n"
                "print(sch.func_working_on, sch.state.debug_mask)\n"
                "v = sch.sample_categorical([4], [1])\nprint(sch.get(v) + 1)\n",
                "1581695857\nmain 0\n5\n");
  assert_raises("i = sch.get_loops('D')[0]\nsch.remove_rv(i)\nsch.parallel(i)\n", "stale-handle",
                "remove_rv");
  assert_raises("i = sch.get_loops('D')[0]\nsch.remove_rv(i)\nsch.get(i)\n", "stale-handle",
                "loop was removed with remove_rv");
  assert_raises("b = sch.get_block('D')\nsch.remove_rv(b)\nsch.get_sref(b)\n", "stale-handle",
                "block was removed with remove_rv");
  assert_raises("v = sch.sample_categorical([4], [1])\nsch.remove_rv(v)\nsch.get(v)\n",
                "stale-handle", "number was removed with remove_rv");
  assert_prints("b = sch.get_block('D')\nother = sch.copy()\nsch.remove_rv(b)\n"
                "print(other.get(b).name_hint, sch.get(sch.get_block('D')).name_hint)\n",
                "D D\n");
  assert_raises("sch.remove_rv(3)\n", "type", "remove_rv");
  assert_raises("sch.debug_mask = 'some'\n", "value", "debug_mask");
  assert_raises("sch.mod = 3\n", "attribute", "mod");
}

static void test_debug_mask(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  Sched *s = run(c, plain_script(c), NULL);
  assert_null(tirc_sched_fault(s, SCHED_VERIFY_ALL));
  SRef *block = s->roots[0]->scope->blocks[0];
  block->region_cover = !block->region_cover;
  assert_non_null(strstr(tirc_sched_fault(s, SCHED_VERIFY_ALL), "region_cover"));
  assert_null(tirc_sched_fault(s, SCHED_VERIFY_TREE));
  block->region_cover = !block->region_cover;
  s->roots[0]->scope->blocks[1]->order = 0;
  assert_non_null(tirc_sched_fault(s, SCHED_VERIFY_TREE));
  assert_null(tirc_sched_fault(s, SCHED_VERIFY_FLAGS));
  s->debug_mask = SCHED_VERIFY_ALL;
  Value block_name = tirc_value_str("X");
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    tirc_sched_call(s, tirc_find_primitive("get_loops"), (Loc){"test", 1, 1},
                    &(Args){.n = 1, .at = &block_name});
    fail_msg("the fault was not seen");
  }
  assert_string_equal(tirc_codes[c->diag.code].text, "internal");
  tirc_context_release(c);
}

/* Memory that is given back is used again, across chunks too. */
static void test_rewind(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  char *kept = tirc_strdup(c, "kept");
  for (int round = 0; round < 1000; round++) {
    ArenaMark mark = tirc_mark(c);
    size_t bytes = c->bytes;
    for (int i = 1; i < 40; i++) {
      char *at = tirc_alloc(c, (size_t)i * 1000);
      for (int k = 0; k < i * 1000; k++) assert_int_equal(at[k], 0);
      memset(at, 1, (size_t)i * 1000);
    }
    tirc_rewind(c, mark);
    assert_int_equal(c->bytes, bytes);
    if (round > 3) break;
  }
  assert_string_equal(kept, "kept");
  tirc_context_release(c);
}

/* What malloc has given out; always the same under AddressSanitizer, which has an allocator of its
 * own and finds leaks itself. */
static size_t memory_in_use(void) {
#if !defined __has_feature
#define __has_feature(name) 0
#endif
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
  return SIZE_MAX;
#else
  return mallinfo2().uordblks + mallinfo2().hblkhd;
#endif
}

/* Many schedules of one program, made and freed: the memory in use does not grow. (Alone it is run
 * with the GLIBC_TUNABLES of unit/meson.build: what was freed counts as in use while it is kept.)
 */
static void test_memory_returns(void **state) {
  (void)state;
  size_t first = 0, bytes = 0;
  for (int round = 0; round < 20; round++) {
    Tirc *c = tirc_context_new();
    const Sched *s = run(c, plain_script(c), NULL);
    assert_true(s->trace->n > 10);
    if (round) assert_int_equal(c->bytes, bytes); /* each takes the same */
    bytes = c->bytes;
    assert_true(memory_in_use() >= bytes);
    tirc_context_release(c);
    const size_t now = memory_in_use();
    if (round == 1) first = now; /* what the C library keeps for itself is there by now */
    if (round > 1) assert_int_equal(now, first);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_python),
      cmocka_unit_test(test_simplified),
      cmocka_unit_test(test_json),
      cmocka_unit_test(test_records),
      cmocka_unit_test(test_bad_json),
      cmocka_unit_test(test_trace_objects),
      cmocka_unit_test(test_copies),
      cmocka_unit_test(test_decision_provider),
      cmocka_unit_test(test_popped),
      cmocka_unit_test(test_random),
      cmocka_unit_test(test_tiles),
      cmocka_unit_test(test_bad_samples),
      cmocka_unit_test(test_compute_location),
      cmocka_unit_test(test_copy),
      cmocka_unit_test(test_axis_separators),
      cmocka_unit_test(test_layout_of_records),
      cmocka_unit_test(test_saved_constants),
      cmocka_unit_test(test_saved_integer_padding),
      cmocka_unit_test(test_methods),
      cmocka_unit_test(test_debug_mask),
      cmocka_unit_test(test_undone),
      cmocka_unit_test(test_rewind),
      cmocka_unit_test(test_memory_returns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

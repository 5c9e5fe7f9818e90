/* The script interpreter: rows of a script and what it prints, or the error that it ends with. */
#include "ir/tree/print.h"
#include "parser/program.h"
#include "passes/script/library.h"
#include "passes/script/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const char program[] = "M = 32\n"
                              "NAME = \"tile\"\n"
                              "@T.prim_func\n"
                              "def main(A: T.Buffer((32, 64), \"float32\"), B: T.Buffer((32, 64), "
                              "\"float32\")):\n"
                              "    for i, j in T.grid(32, 64):\n"
                              "        with T.block(\"B\"):\n"
                              "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                              "            B[vi, vj] = A[vi, vj] * T.float32(2.0)\n";

typedef struct Row {
  const char *script;
  const char *prints;
} Row;

static const Row prints[] = {
    /* tensor expressions */
    {"A = te.placeholder((4, 8), 'float16', 'A')\nprint(A, A.shape, A.dtype, A.name, A.ndim, "
     "isinstance(A, te.Tensor))",
     "Tensor((4, 8), \"float16\") (4, 8) float16 A 2 True\n"},
    {"A = te.placeholder((4,), 'float16', 'A')\nB = te.compute((4,), lambda i: T.exp(A[i] * 0.5) + "
     "1)\nprint(B)",
     "Tensor((4,), \"float16\")\n"},
    {"A = te.placeholder((4, 8), name='A')\nk = te.reduce_axis((0, 8), 'k')\n"
     "B = te.compute((4,), lambda i: te.max(A[i, k], axis=k), "
     "name='B')\nprint(te.create_prim_func([A, B]))",
     "@T.prim_func\n"
     "def main(A: T.Buffer((4, 8), \"float32\"), B: T.Buffer((4,), \"float32\")):\n"
     "    T.func_attr({\"tir.noalias\": T.bool(True)})\n"
     "    # with T.block(\"root\"):\n"
     "    for i, k in T.grid(4, 8):\n"
     "        with T.block(\"B\"):\n"
     "            v_i, v_k = T.axis.remap(\"SR\", [i, k])\n"
     "            T.reads(A[v_i, v_k])\n"
     "            T.writes(B[v_i])\n"
     "            with T.init():\n"
     "                B[v_i] = T.float32(\"-inf\")\n"
     "            B[v_i] = T.max(B[v_i], A[v_i, v_k])\n\n"},
    /* values and how they print */
    {"print(1, 2.5, True, None, 'a')", "1 2.5 True None a\n"},
    {"print([1, 'a', (2,), {}], (), {'k': [1]}, sep=';', end='!')",
     "[1, 'a', (2,), {}];();{'k': [1]}!"},
    {"print(0.1, 1e16, 1e-5, 100.0, -0.5, 1e15)",
     "0.1 1e+16 1e-05 100.0 -0.5 1000000000000000.0\n"},
    {"print(repr('it\\'s'), repr('a\\n'), str(3), repr(2.0))", "\"it's\" 'a\\n' 3 2.0\n"},
    /* the target */
    {"t = sch.target\nprint(t, t.kind.name, t.name, t.keys)",
     "llvm -mcpu=haswell -mtriple=x86_64-pc-linux-gnu llvm haswell ['cpu']\n"},
    {"t = sch.target\nprint(t.vector_width, t.vector_registers, t.isa, t.num_cores, '+fma' in "
     "t.mattr)",
     "256 16 AVX2+FMA None True\n"},
    {"t = sch.target\nprint(t.l1_cache_size_bytes, t.l2_cache_size_bytes, t.l3_cache_size_bytes)",
     "32768 262144 2097152\n"},
    {"print(sch.target.attrs['mcpu'], sch.copy().target.mcpu)", "haswell haswell\n"},
    /* arithmetic */
    {"print(7 // 2, -7 // 2, 7 % 3, -7 % 3, 7 / 2, 2 ** 10, 2 ** -1)", "3 -4 1 2 3.5 1024 0.5\n"},
    {"print(7.5 // 2, -7.5 % 2, 1 + 2.0, 3 * 0.5)", "3.0 0.5 3.0 1.5\n"},
    {"print(1 << 4, 256 >> 4, 6 & 3, 6 | 3, 6 ^ 3, ~5, -(-3), +4)", "16 16 2 7 5 -6 3 4\n"},
    {"print('ab' + 'c', 'ab' * 2, [1] + [2], 2 * (1, 2), [0] * 3)",
     "abc abab [1, 2] (1, 2, 1, 2) [0, 0, 0]\n"},
    {"print(2 + 3 * 4 - 10 // 3, (2 + 3) * 4)", "11 20\n"},
    /* comparison and logic */
    {"print(1 < 2 < 3, 1 < 3 < 2, 3 > 2 >= 2 != 1, 1 == 1.0, True == 1)",
     "True False True True True\n"},
    {"print(1 in [1, 2], 3 not in (1, 2), 'b' in 'abc', 'k' in {'k': 1}, None is None, 1 is not "
     "None)",
     "True True True True True True\n"},
    {"print([1, 2] < [1, 3], (1,) == (1,), 'a' < 'b', [] == (), {'a': 1} == {'a': 1})",
     "True True True False True\n"},
    {"print(0 or 'x', 1 and 'y', not 0, 1 if [] else 2)", "x y True 2\n"},
    {"n = []\ndef f():\n  n.append(1)\n  return 2\nprint(1 < f() < 3, len(n))", "True 1\n"},
    /* names and unpacking */
    {"a, b = 1, 2\na, b = b, a\nprint(a, b)", "2 1\n"},
    {"a, *b, c = range(5)\nprint(a, b, c)", "0 [1, 2, 3] 4\n"},
    {"(a, [b, c]) = 1, (2, 3)\nx = y = 4\nprint(a, b, c, x, y)", "1 2 3 4 4\n"},
    {"*h, t = [1]\nprint(h, t)", "[] 1\n"},
    {"x: int = 3\nx += 2\nx *= 2\nx -= 1\nx //= 2\nprint(x)", "4\n"},
    {"l = [1]\nk = l\nl += [2]\nk[0] += 5\nprint(k)", "[6, 2]\n"},
    {"d = {'a': 1}\nd['b'] = 2\nd['a'] += 1\ndel d['b']\nprint(d)", "{'a': 2}\n"},
    {"print(M, NAME)", "32 tile\n"},
    /* control */
    {"if 0:\n  print(1)\nelif 1:\n  print(2)\nelse:\n  print(3)", "2\n"},
    {"for i in range(5):\n  if i == 1: continue\n  if i == 3: break\n  print(i, end=' ')", "0 2 "},
    {"for i in []: pass\nelse: print('done')", "done\n"},
    {"for i in [1]: break\nelse: print('no')\nprint('x')", "x\n"},
    {"i = 0\nwhile i < 3:\n  i += 1\nelse:\n  print('end', i)", "end 3\n"},
    {"for i, (a, b) in enumerate([(1, 2), (3, 4)]): print(i, a, b)", "0 1 2\n1 3 4\n"},
    /* functions */
    {"def f(a, b=2, *rest, k=0, **more):\n  return (a, b, rest, k, more)\nprint(f(1))\nprint(f(1, "
     "3, 4, 5, k=6, z=7))",
     "(1, 2, (), 0, {})\n(1, 3, (4, 5), 6, {'z': 7})\n"},
    {"def f(a, b): return a - b\nprint(f(b=1, a=3), f(*[5, 2]), f(**{'a': 9, 'b': 1}))", "2 3 8\n"},
    {"def counter():\n  n = 0\n  def add():\n    nonlocal n\n    n += 1\n    return n\n  return "
     "add\nc = counter()\nc()\nprint(c(), c())",
     "2 3\n"},
    {"x = 1\ndef f():\n  global x\n  x = 2\nf()\nprint(x)", "2\n"},
    {"x = 1\ndef f():\n  x = 2\n  return x\nprint(f(), x)", "2 1\n"},
    {"fs = [lambda x, k=k: x + k for k in range(3)]\nprint([f(10) for f in fs])", "[10, 11, 12]\n"},
    {"def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\nprint(fib(12))", "144\n"},
    {"def f(): pass\nprint(f())", "None\n"},
    {"def f(n: int, s: str = 'a') -> int:\n  \"\"\"Doc.\"\"\"\n  return n\nprint(f(4))", "4\n"},
    /* comprehensions and generators */
    {"print([i * j for i in range(3) for j in range(3) if i != j])", "[0, 0, 0, 2, 0, 2]\n"},
    {"i = 7\n_ = [i for i in range(3)]\nprint(i)", "7\n"},
    {"print(sum(x * x for x in range(4)), max(len(s) for s in ['a', 'bcd']))", "14 3\n"},
    /* indexing and slices */
    {"l = list(range(6))\nprint(l[-1], l[1:3], l[::-1], l[:-4], l[4:], l[::2], l[10:], l[3:0:-2])",
     "5 [1, 2] [5, 4, 3, 2, 1, 0] [0, 1] [4, 5] [0, 2, 4] [] [3, 1]\n"},
    {"print('hello'[1], 'hello'[-3:], (1, 2, 3)[1:], 'abc'[::-1])", "e llo (2, 3) cba\n"},
    {"print(range(10)[3], range(2, 10, 3)[-1], len(range(0, 10, 3)), list(range(5, 0, -2)))",
     "3 8 4 [5, 3, 1]\n"},
    /* builtins */
    {"print(len('abc'), min(3, 1, 2), max([1, 5]), abs(-3), sum([1, 2], 10))", "3 1 5 3 13\n"},
    {"print(any([0, 1]), all([]), any([]), all([1, 0]))", "True True False False\n"},
    {"print(list(zip([1, 2], 'ab')), list(enumerate('ab', 1)), list(reversed([1, 2])))",
     "[(1, 'a'), (2, 'b')] [(1, 'a'), (2, 'b')] [2, 1]\n"},
    {"print(sorted([3, 1, 2], reverse=True), sorted(['bb', 'a'], key=len))",
     "[3, 2, 1] ['a', 'bb']\n"},
    {"print(sorted([(1, 'b'), (1, 'a'), (0, 'c')], key=lambda p: p[0], reverse=True))",
     "[(1, 'b'), (1, 'a'), (0, 'c')]\n"},
    {"print(int('42'), int(3.9), int(-3.9), float('2.5'), str(1.5), bool(''), int('ff', 16))",
     "42 3 -3 2.5 1.5 False 255\n"},
    {"print(list(map(lambda x: x + 1, [1, 2])), list(filter(None, [0, 1, 2])), tuple([1]))",
     "[2, 3] [1, 2] (1,)\n"},
    {"print(divmod(7, 2), pow(2, 5), round(2.5), round(3.14159, 2), round(7))",
     "(3, 1) 32 2 3.14 7\n"},
    {"print(isinstance(1, int), isinstance('a', (int, str)), isinstance(1.0, int), type(1) == int, "
     "type('a').__name__)",
     "True True False True str\n"},
    {"require([2 < 3, True], 'no')\nprint(known(2 < 3), known(3 < 2), simplify(3))",
     "True False 3\n"},
    {"try:\n    require([True, 3 < 2], 'three')\nexcept ValueError as e:\n    print(e)", "three\n"},
    {"print(min([3, 1, 2], key=lambda x: -x), max([], default=0), dict([('a', 1)]))",
     "3 0 {'a': 1}\n"},
    /* methods */
    {"l = [3, 1]\nl.append(2)\nl.extend((5, 4))\nl.insert(0, 9)\nprint(l.pop(), l.pop(0), "
     "l.index(1), l.count(3))\nl.sort()\nprint(l)\nl.reverse()\nprint(l)",
     "4 9 1 1\n[1, 2, 3, 5]\n[5, 3, 2, 1]\n"},
    {"d = {'a': 1}\nd.update({'b': 2})\nprint(d.get('z'), d.get('z', 0), d.setdefault('c', 3), "
     "list(d.keys()), d.values(), d.items(), d.pop('a'))",
     "None 0 3 ['a', 'b', 'c'] [1, 2, 3] [('a', 1), ('b', 2), ('c', 3)] 1\n"},
    {"print('{} {:>4} {1}'.format(1, 2)) if 0 else print('{} {:>4} {n}'.format(1, 2, n=3))",
     "1    2 3\n"},
    {"print(','.join(['a', 'b']), 'a b  c'.split(), 'a,b'.split(','), ' x '.strip(), "
     "'abc'.upper(), 'ABC'.lower())",
     "a,b ['a', 'b', 'c'] ['a', 'b'] x ABC abc\n"},
    {"print('abc'.startswith('ab'), 'abc'.endswith(('x', 'c')), 'aXbX'.replace('X', '-'), "
     "'abc'.find('c'), 'abc'.find('z'), 'aaa'.count('a'))",
     "True True a-b- 2 -1 3\n"},
    /* f-strings */
    {"x = 3.14159\nn = "
     "7\nprint(f\"{x:>8.2f}|{n:<4}|{n:04d}|{n:^5}|{'s':>3}|{n!r}|{x:.1e}|{1234567:,}|{255:#x}|{0.5:"
     "%}\")",
     "    3.14|7   |0007|  7  |  s|7|3.1e+00|1,234,567|0xff|50.000000%\n"},
    {"a = [1, 2]\nprint(f'{a[0]} {{}} {len(a) + 1} {a}')", "1 {} 3 [1, 2]\n"},
    /* errors */
    {"try:\n  1 // 0\nexcept ZeroDivisionError as e:\n  print(e)", "division by zero\n"},
    {"try:\n  {}['a']\nexcept (IndexError, KeyError): print('caught')", "caught\n"},
    {"try:\n  x_y\nexcept Exception as e: print(e.code)\nelse: print('no')\nfinally: print('fin')",
     "name\nfin\n"},
    {"try:\n  pass\nexcept: print('no')\nelse: print('else')\nfinally: print('fin')",
     "else\nfin\n"},
    {"def f():\n  try:\n    return 1\n  finally:\n    print('fin')\nprint(f())", "fin\n1\n"},
    {"try:\n  try:\n    raise ValueError('a')\n  finally:\n    print('x')\nexcept ValueError as e: "
     "print(e)",
     "x\na\n"},
    {"try:\n  try:\n    [][0]\n  except IndexError: raise\nexcept LookupError: print('outer')",
     "outer\n"},
    {"try:\n  assert 1 == 2, 'msg'\nexcept AssertionError as e: print(e)", "msg\n"},
    {"for i in range(3):\n  try:\n    if i == 1: continue\n    if i == 2: break\n  finally:\n    "
     "print(i, end=' ')",
     "0 1 2 "},
    {"try:\n  raise ScheduleError('mine')\nexcept ScheduleError as e: print(e.message, e.code, "
     "e.primitive)",
     "mine raised None\n"},
    {"try:\n  sch.get_block('nope')\nexcept ScheduleError as e: print(e.code, e.primitive)",
     "block-not-found get_block\n"},
    {"try:\n  sch.get_block('nope')\nexcept tvm.tir.ScheduleError: print('ok')", "ok\n"},
    {"try:\n  sch.split(3, [1])\nexcept ScheduleError: print('no')\nexcept TypeError: "
     "print('type')",
     "type\n"},
    /* the schedule */
    {"import tvm\nfrom tvm import tir\nb = sch.get_block('B')\nprint(sch.get(b).name_hint, b.name, "
     "[l.extent for l in sch.get_loops(b)])",
     "B B [32, 64]\n"},
    {"b = sch.get_block('B')\nfor v in sch.get(b).iter_vars: print(v.var.name, v.dom.min, "
     "v.dom.extent, v.kind, v.iter_type)",
     "vi 0 32 spatial 0\nvj 0 64 spatial 0\n"},
    {"b = sch.get(sch.get_block('B'))\nprint(b.reads[0].buffer.name, b.reads[0].buffer.shape, "
     "b.writes[0].buffer.dtype, b.writes[0].buffer.scope(), b.init, b.alloc_buffers)",
     "A [32, 64] float32 global None []\n"},
    {"i, j = sch.get_loops('B')\nl = sch.get(j)\nprint(l.kind, l.min, l.extent // 2, "
     "l.annotations, l.loop_var.name, l.thread_binding, l.extent == 64)",
     "serial 0 32 {} j None True\n"},
    {"def schedule(sch):\n  print(sch.get_loops(sch.get_block('B'))[-1].name)", "j\n"},
    {"i = sch.get(sch.get_loops('B')[0]).loop_var\ncall = tir.if_then_else(i < 3, i, 0)\n"
     "print(type(call).__name__, call.op.name)",
     "Call tir.if_then_else\n"},
    {"print(T.int64(4) + 1 == 5, T.int64(4).dtype, tir.const(2, 'int32').value * 2, "
     "T.float32(0).dtype)",
     "True int64 4 float32\n"},
    {"i, j = sch.get_loops('B')\nb = sch.get_block('B')\nprint(b.same_as(sch.get_block('B')), "
     "b.same_as(i), i.same_as(j), sch.get(j).same_as(sch.get(sch.get_loops(b)[1])), "
     "sch.get(j).loop_var.same_as(sch.get(j).loop_var), sch.get_sref(b).same_as(sch.get_sref(i)))",
     "True False False True True False\n"},
    {"from tvm import te\nprint(te.const(3, 'int64'), te.min_value('int8'), te.max_value('int8'))",
     "T.int64(3) T.int8(-128) T.int8(127)\n"},
    /* what scripts import: what there is, under the names that they give it */
    {"from tvm.tir.schedule import Trace, ScheduleDebugMask as M, BlockRV\nimport tvm.tir.schedule "
     "as S, math as m\nprint(Trace, S.Trace, M.VERIFY_CACHED_FLAGS, isinstance(sch.get_block('B'), "
     "BlockRV), m.floor(2.5))",
     "<class Trace> <class Trace> 2 True 2\n"},
    {"from math import (ceil,  # up\n  gcd as g)\nfrom tvm.script import ir as I, tir as TT\n"
     "from tvm.ir import IRModule\nprint(ceil(1.5), g(4, 6), TT.int64(3), IRModule)",
     "2 2 T.int64(3) <class IRModule>\n"},
    {"import numpy as np\nfrom tvm import te, meta_schedule as ms\nfrom typing import List\nx: "
     "List[int] = []\nprint('never used')",
     "never used\n"},
    {"import numpy as np\nnp = 3\nprint(np)", "3\n"},
    {"def f():\n  from math import sqrt as r\n  return r(4)\nprint(f())", "2.0\n"},
    /* schedules that a script makes */
    {"sch = tvm.tir.Schedule(main, seed=1, debug_mask='all', error_render_level='fast', "
     "enable_check=False)\ni, j = sch.get_loops('B')\nsch.parallel(i)\nprint(sch.debug_mask, "
     "sch.trace.as_python()[-1])",
     "3 sch.parallel(loop=l1)\n"},
    {"a, b = [tvm.tir.Schedule(sch.mod, seed=s) for s in (7, 7)]\nprint(a.fork_seed() == "
     "b.fork_seed())",
     "True\n"},
    {"s = tvm.tir.Schedule(mod=sch.mod)\ni, j = sch.get_loops('B')\ns.parallel(i)\nprint("
     "s.trace.as_python(), len(sch.trace.insts))",
     "['b0 = sch.get_block(name=\"B\", func_name=\"main\")', 'l1, l2 = sch.get_loops(block=b0)', "
     "'sch.parallel(loop=l1)'] 2\n"},
    {"c = sch.copy()\nb = c.get_block('B')\nsch.get_loops(b)\nprint(sch.trace.as_python()[0])",
     "b0 = sch.get_block(name=\"B\", func_name=\"main\")\n"},
    /* references to statements */
    {"b = sch.get_block('B')\nr = sch.get_sref(b)\nprint(r.stmt.name_hint, "
     "r.parent.stmt.loop_var.name, sch.get(r).name_hint, r == sch.state.get_sref(sch.get(b)), "
     "r.parent == r, r.seq_index, r.parent.parent.parent.parent)",
     "B j B True False -1 None\n"},
    {"i, j = sch.get_loops('B')\nr = sch.get_sref(i)\nsch.fuse(i, j)\nprint(r.stmt, r.parent, "
     "r.seq_index)",
     "None None -1\n"},
    {"b = sch.get_block('B')\nsch.cache_read(b, 0, 'local')\nr = sch.get_sref(b)\nscope = "
     "sch.state.get_block_scope(sch.get_sref(sch.get_block('root')))\nfor d in "
     "scope.get_deps_by_dst(r): print(d.src.stmt.name_hint, d.dst == r, d.kind == "
     "tvm.tir.schedule.DepKind.RAW, scope.get_deps_by_src(r))",
     "A_local True True []\n"},
    {"k = "
     "tvm.tir.schedule.InstructionKind\nsch.get_block('B')\nprint(sch.trace.insts[0].kind.is_pure, "
     "k.get('Split').is_pure, k.get(name='GetBlock').name)",
     "True False GetBlock\n"},
    {"print(T.min_value('float32'), tir.max_value('int8'), tir.infinity(dtype='float64'))",
     "T.float32(-340282346638528859811704183484516925440.0) T.int8(127) T.float64(\"inf\")\n"},
    {"print([v.name_hint for v in sch.mod.get_global_vars()], sch.func_working_on.name_hint, [(g, "
     "f.name) for g, f in sch.mod.functions_items()], sch.mod.functions['main'].name)",
     "['main'] main [('main', 'main')] main\n"},
    {"f = sch.mod['main']\nprint([p.name for p in f.params], [b.name for b in "
     "f.buffer_map.values()], "
     "f.attrs, sch.get(sch.get_block('B')).match_buffers)",
     "['A_handle', 'B_handle'] ['A', 'B'] {} []\n"},
    {"b = sch.get(sch.get_block('B')).reads[0].buffer\nsch.set_axis_separator('B', 'A', [1])\nnow "
     "= "
     "sch.get(sch.get_block('B')).reads[0].buffer\nprint(b.axis_separators, now.axis_separators, "
     "b.elem_offset, b.data_alignment)",
     "[] [1] 0 64\n"},
    {"print(sch.mod.get_global_var('main'))\n"
     "try:\n  sch.mod.get_global_var('other')\nexcept ValueError as e: print(e)",
     "main\nthe module has no function 'other'\n"},
    {"from tvm import te\n"
     "print(te.AXIS_SEPARATOR == tvm.te.AXIS_SEPARATOR == tir.IndexMap.AXIS_SEPARATOR)",
     "True\n"},
    {"sch.transform_layout('B', 'A', lambda *rest, k: (k // 4, *rest, k % 4))\n"
     "sch.transform_layout('B', 'B', lambda x, *, y=3: (y, x))\n"
     "sch.transform_layout('B', 'B', lambda x, y, *, n=8: (x // n, y, x % n))\n"
     "b = sch.get(sch.get_block('B'))\nprint(b.reads[0].buffer.shape, b.writes[0].buffer.shape)",
     "[16, 32, 4] [8, 32, 8]\n"},
    {"i, j = sch.get_loops('B')\nsch.bind(i, 'threadIdx.x')\nprint("
     "sch.get(i).thread_binding.thread_tag)",
     "threadIdx.x\n"},
    {"print(tir.const(value=3, dtype='int64'), tir.IntImm(dtype='int8', value=3), "
     "tir.TensorIntrin.get(name='x', allow_missing=True))\nm = "
     "tir.IndexMap.from_func(mapping_function=lambda a, b: (b, a), ndim=2)\n"
     "sch.transform_layout('B', 'B', m)\nprint(sch.get(sch.get_block('B')).writes[0].buffer.shape)",
     "T.int64(3) T.int8(3) None\n[64, 32]\n"},
    {"v = sch.get(sch.get_block('B')).iter_vars[0].var\nprint(T.if_then_else(v < 3, 1, 2), "
     "T.Select(v < 3, T.float32(1), 2), T.truncdiv(-7, 2), T.truncmod(-7, 2), T.Cast('float32', "
     "v), "
     "T.float16('nan'))",
     "T.if_then_else(vi < 3, 1, 2) T.Select(vi < 3, T.float32(1.0), T.float32(2.0)) -3 -1 "
     "T.Cast(\"float32\", vi) T.float16(\"nan\")\n"},
    {"i = sch.get(sch.get_block('B')).iter_vars[0].var\nc = i < 3\nprint(T.if_then_else(c, 1.5, "
     "i), "
     "T.if_then_else(c, i, 0.5), T.if_then_else(c, 1.5, 2), T.if_then_else(c, 2, True), "
     "T.if_then_else(c, T.Cast('int8', i), 300), T.Select(c, T.Cast('float16', i), 2), "
     "T.if_then_else(True, i, 1.5))",
     "T.if_then_else(vi < 3, T.float32(1.5), T.Cast(\"float32\", vi)) "
     "T.if_then_else(vi < 3, T.Cast(\"float32\", vi), T.float32(0.5)) "
     "T.if_then_else(vi < 3, T.float32(1.5), T.float32(2.0)) T.if_then_else(vi < 3, 2, 1) "
     "T.if_then_else(vi < 3, T.Cast(\"int32\", T.Cast(\"int8\", vi)), 300) "
     "T.Select(vi < 3, T.Cast(\"float16\", vi), T.float16(2.0)) T.Cast(\"float32\", vi)\n"},
    {"def f(a, *, b=1): return a - b\ng = lambda *, c: c\nprint(f(5), f(5, b=2), g(c=3))",
     "4 3 3\n"},
    {"sch.seed(3)\nsch.work_on('main')\nprint('main' in sch.mod.script(), sch.mod['main'].name)",
     "True main\n"},
};

typedef struct ErrorRow {
  const char *script, *code;
  int line, column, status;
} ErrorRow;

static const ErrorRow errors[] = {
    {"x = 1\ny = x + z", "name", 2, 9, TIRC_STATUS_BAD},
    {"'a' + 1", "type", 1, 1, TIRC_STATUS_BAD},
    {"sch.transform_layout('B', 'B', lambda *, x, y, z: (x, y))", "type", 1, 1, TIRC_STATUS_BAD},
    {"[1, 2][5]", "index", 1, 1, TIRC_STATUS_BAD},
    {"{'a': 1}['b']", "key", 1, 1, TIRC_STATUS_BAD},
    {"1 % 0", "zero-division", 1, 1, TIRC_STATUS_BAD},
    {"int('x')", "value", 1, 1, TIRC_STATUS_BAD},
    {"import numpy as np\nnp.zeros(3)", "import", 2, 1, TIRC_STATUS_BAD},
    {"from tvm.tir.tensor_intrin.hexagon import V\nsch.tensorize('B', V)", "import", 2, 20,
     TIRC_STATUS_BAD},
    {"from tvm import te\nte.create_schedule", "import", 2, 1, TIRC_STATUS_BAD},
    {"A = te.placeholder((4, 8))\nA[1]", "index", 2, 1, TIRC_STATUS_BAD},
    {"A = te.placeholder((4, 8))\nA[1, 0.5]", "type", 2, 1, TIRC_STATUS_BAD},
    {"te.placeholder((4, -8))", "value", 1, 1, TIRC_STATUS_BAD},
    {"te.placeholder((4,), 'float31')", "value", 1, 1, TIRC_STATUS_BAD},
    {"te.compute((4, 4), lambda i: i)", "type", 1, 1, TIRC_STATUS_BAD},
    {"te.compute((4, 4), 3)", "type", 1, 1, TIRC_STATUS_BAD},
    {"te.compute((4,), lambda i: 'a')", "type", 1, 1, TIRC_STATUS_BAD},
    {"te.sum(1, axis=2)", "type", 1, 1, TIRC_STATUS_BAD},
    {"A = te.placeholder((4,), name='A')\nB = te.compute((4,), lambda i: "
     "A[i])\nte.create_prim_func([B])",
     "value", 3, 1, TIRC_STATUS_BAD},
    {"A = te.placeholder((4,))\nte.create_prim_func([A, A])", "value", 2, 1, TIRC_STATUS_BAD},
    {"te.create_prim_func([3])", "type", 1, 1, TIRC_STATUS_BAD},
    {"te.call_prim_func(3, [])", "type", 1, 1, TIRC_STATUS_BAD},
    {"x = 1\nfor i in range(400): x = te.compute((1,), lambda a: x) if i == 0 else "
     "te.compute((1,), lambda a: x[a])\n"
     "te.create_prim_func([x, x])",
     "value", 3, 1, TIRC_STATUS_BAD},
    {"from tvm.tir.Schedule.x import y\ny", "import", 2, 1, TIRC_STATUS_BAD},
    {"from math import *", "import", 1, 1, TIRC_STATUS_BAD},
    {"import nonsense", "import", 1, 1, TIRC_STATUS_BAD},
    {"tvm.tir.Schedule()", "type", 1, 1, TIRC_STATUS_BAD},
    {"tvm.tir.Schedule(3)", "type", 1, 1, TIRC_STATUS_BAD},
    {"tvm.tir.Schedule(main, 1)", "type", 1, 1, TIRC_STATUS_BAD},
    {"tvm.tir.Schedule(main, seed=0)", "value", 1, 1, TIRC_STATUS_BAD},
    {"tvm.tir.Schedule(main, seed=2 ** 31)", "value", 1, 1, TIRC_STATUS_BAD},
    {"tvm.tir.Schedule(main, seed='x')", "type", 1, 1, TIRC_STATUS_BAD},
    {"tvm.tir.Schedule(main, debug_mask='some')", "value", 1, 1, TIRC_STATUS_BAD},
    {"tvm.tir.Schedule(main, error_render_level='x')", "value", 1, 1, TIRC_STATUS_BAD},
    {"tvm.tir.Schedule(main, enable_check=1)", "type", 1, 1, TIRC_STATUS_BAD},
    {"tvm.tir.schedule.Instruction()", "type", 1, 1, TIRC_STATUS_BAD},
    {"tvm.tir.schedule.InstructionKind.get('Nope')", "value", 1, 1, TIRC_STATUS_BAD},
    {"tir.max_value('whole')", "value", 1, 1, TIRC_STATUS_BAD},
    {"tir.infinity('int32')", "value", 1, 1, TIRC_STATUS_BAD},
    {"tvm.tir.nonsense", "attribute", 1, 1, TIRC_STATUS_BAD},
    {"tvm.tir.IndexMap.nonsense", "attribute", 1, 1, TIRC_STATUS_BAD},
    {"def f(a, *): pass", "syntax", 1, 10, TIRC_STATUS_BAD},
    {"f = lambda a, *, b: a\nf(1, 2)", "type", 2, 1, TIRC_STATUS_BAD},
    {"tir.TensorIntrin.get()", "type", 1, 1, TIRC_STATUS_BAD},
    {"tir.TensorIntrin.get(3)", "type", 1, 1, TIRC_STATUS_BAD},
    {"tir.IndexMap.from_func(3)", "type", 1, 1, TIRC_STATUS_BAD},
    {"T.if_then_else(3, 1, 2)", "type", 1, 1, TIRC_STATUS_BAD},
    {"T.Select(True, T.float32(1), T.float16(2))", "type", 1, 1, TIRC_STATUS_BAD},
    {"T.Cast('x', 2)", "value", 1, 1, TIRC_STATUS_BAD},
    {"T.float32('x')", "type", 1, 1, TIRC_STATUS_BAD},
    {"tir.const()", "type", 1, 1, TIRC_STATUS_BAD},
    {"tir.IntImm('int8')", "type", 1, 1, TIRC_STATUS_BAD},
    {"sch.get(sch)", "type", 1, 1, TIRC_STATUS_BAD},
    {"sch.get_sref('B')", "type", 1, 1, TIRC_STATUS_BAD},
    {"sch.state.get_block_scope(sch.get_block('B'))", "type", 1, 1, TIRC_STATUS_BAD},
    {"sch.seed(-5)", "value", 1, 1, TIRC_STATUS_BAD},
    {"sch.seed(2 ** 40)", "value", 1, 1, TIRC_STATUS_BAD},
    {"9223372036854775807 + 1", "overflow", 1, 1, TIRC_STATUS_BAD},
    {"2 ** 64", "overflow", 1, 1, TIRC_STATUS_BAD},
    {"1 << 63", "overflow", 1, 1, TIRC_STATUS_BAD},
    {"a, b = [1]", "value", 1, 1, TIRC_STATUS_BAD},
    {"a, b = 5", "type", 1, 1, TIRC_STATUS_BAD},
    {"assert False", "assert", 1, 1, TIRC_STATUS_BAD},
    {"(1)()", "type", 1, 1, TIRC_STATUS_BAD},
    {"def f(a): pass\nf()", "type", 2, 1, TIRC_STATUS_BAD},
    {"def f(a): pass\nf(1, 2)", "type", 2, 1, TIRC_STATUS_BAD},
    {"def f(a): pass\nf(b=1)", "type", 2, 1, TIRC_STATUS_BAD},
    {"def f():\n  print(x)\n  x = 1\nx = 0\nf()", "name", 2, 9, TIRC_STATUS_BAD},
    {"len(1, 2)", "type", 1, 1, TIRC_STATUS_BAD},
    {"sorted([1, 'a'])", "type", 1, 1, TIRC_STATUS_BAD},
    {"open('x')", "name", 1, 1, TIRC_STATUS_BAD},
    {"'abc'.nope", "attribute", 1, 1, TIRC_STATUS_BAD},
    {"sch.nope()", "attribute", 1, 1, TIRC_STATUS_BAD},
    {"(1, 2)[0] = 3", "type", 1, 1, TIRC_STATUS_BAD},
    {"f'{1:q}'", "value", 1, 4, TIRC_STATUS_BAD},
    {"raise ValueError('x')", "value", 1, 7, TIRC_STATUS_BAD},
    {"raise ScheduleError('x')", "raised", 1, 7, TIRC_STATUS_NO},
    {"raise 3", "type", 1, 1, TIRC_STATUS_BAD},
    {"try:\n  1 // 0\nexcept NameError: pass", "zero-division", 2, 3, TIRC_STATUS_BAD},
    {"for i in range(3):\n  sch.get_block('none')", "block-not-found", 2, 3, TIRC_STATUS_NO},
    {"b = sch.get_block('B')\nsch.parallel(b)", "argument", 2, 1, TIRC_STATUS_BAD},
    {"sch.split()", "argument", 1, 1, TIRC_STATUS_BAD},
    {"sch.get_block('B', nope=1)", "argument", 1, 1, TIRC_STATUS_BAD},
    {"sch.get_block('B', name='B')", "argument", 1, 1, TIRC_STATUS_BAD},
    {"i, j = sch.get_loops('B')\nsch.split(i, [None, 2.5])", "argument", 2, 1, TIRC_STATUS_BAD},
    {"sch.fuse(sch.get_loops('B'))", "argument", 1, 1, TIRC_STATUS_BAD},
    {"i, j = sch.get_loops('B')\nsch.split(i, [None, 8])\ni.extent", "stale-handle", 3, 1,
     TIRC_STATUS_BAD},
    {"i, j = sch.get_loops('B')\nsch.split(i, [None, 8])\nsch.parallel(i)", "stale-handle", 3, 1,
     TIRC_STATUS_BAD},
    /* limits are no exceptions that a script catches */
    {"try:\n  while True: pass\nexcept: pass", "limit", 2, 9, TIRC_STATUS_BAD},
    {"def f(n): return f(n + 1)\nf(0)", "limit", 1, 18, TIRC_STATUS_BAD},
    {"def f(n):\n  try:\n    for x in [n]:\n      if x >= 0:\n        while True:\n          "
     "return [[[[[[[[[[f(n + 1)]]]]]]]]]]\n  finally:\n    pass\nf(0)",
     "limit", 0, 0, TIRC_STATUS_BAD},
    {"l = []\nl.append(l)\nprint(l == [l])", "limit", 3, 7, TIRC_STATUS_BAD},
    {"it = [1]\nfor i in range(5000): it = map(abs, it)\nlist(it)", "limit", 3, 1, TIRC_STATUS_BAD},
    {"s = 'x'\nwhile True: s += s", "memory", 2, 13, TIRC_STATUS_BAD},
    {"x = [0] * 10 ** 12", "limit", 1, 5, TIRC_STATUS_BAD},
    {"break", "syntax", 1, 1, TIRC_STATUS_BAD},
    {"x = (1,\n", "syntax", 0, 0, TIRC_STATUS_BAD},
};

typedef struct Result {
  Tirc *c;
  Text out;
  bool failed;
} Result;

static void collect(void *self, const char *text) { tirc_text_add(&((Result *)self)->out, text); }

static Result run(const char *script) {
  static const ScriptLimits limits = {.steps = 300000, .bytes = 4 << 20};
  Result r = {.c = tirc_context_new()};
  Result *volatile result = &r;
  Source source = {"test.sch", script, strlen(script)};
  Source text = {"test.tir", program, sizeof program - 1};
  r.out.c = r.c;
  Trap trap;
  if (TIRC_TRY(r.c, trap)) {
    tirc_text_add(&r.out, "");
    Sched *s = tirc_sched_new(r.c, tirc_parse_module(r.c, &text, 0, NULL));
    tirc_run_script(s, &source, &limits, collect, NULL, &r);
    TIRC_END(r.c, trap);
  } else {
    result->failed = true;
  }
  return r;
}

static void test_prints(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof prints / sizeof *prints; i++) {
    Result r = run(prints[i].script);
    const char *got = r.failed ? r.c->diag.message : r.out.at;
    if (r.failed || strcmp(got, prints[i].prints))
      fail_msg("%s\n--- printed\n%s\n--- instead of\n%s", prints[i].script, got, prints[i].prints);
    tirc_context_release(r.c);
  }
}

static void test_errors(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    const ErrorRow *row = &errors[i];
    Result r = run(row->script);
    const Diag *d = &r.c->diag;
    bool place = !row->line || (d->loc.line == row->line && d->loc.column == row->column);
    if (!r.failed) fail_msg("%s\n--- no error", row->script);
    if (strcmp(tirc_codes[d->code].text, row->code) || !place || d->status != row->status ||
        !*d->message)
      fail_msg("%s\n--- error %s at %d:%d, status %d: %s", row->script, tirc_codes[d->code].text,
               d->loc.line, d->loc.column, d->status, d->message);
    tirc_context_release(r.c);
  }
}

/* A failed call says what it was, and the program with the error can be shown. */
static void test_diagnostic(void **state) {
  (void)state;
  Result r = run("i, j = sch.get_loops('B')\nsch.fuse(j, i)");
  const Diag *d = &r.c->diag;
  assert_true(r.failed);
  assert_int_equal(d->status, TIRC_STATUS_NO);
  assert_string_equal(d->primitive, "fuse");
  assert_string_equal(d->call, "sch.fuse(j, i)");
  assert_non_null(d->hint);
  assert_non_null(strstr(tirc_print_marked(r.c, d->ir), "def main"));
  assert_string_equal(d->loc.file, "test.sch");
  tirc_context_release(r.c);
}

/* --- outlines --------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

static void assert_same(Tirc *c, const Syn *a, const Syn *b);

static void assert_same_list(Tirc *c, const SynList *a, const SynList *b) {
  assert_int_equal(a->n, b->n);
  for (int i = 0; i < a->n; i++) assert_same(c, a->at[i], b->at[i]);
}

static void assert_same(Tirc *c, const Syn *a, const Syn *b) {
  assert_true(!a == !b);
  if (!a) return;
  const Syn *whole = tirc_syn_whole(c, a);
  const SynList decorators = a->decorators;
  a = whole;
  assert_int_equal(a->kind, b->kind);
  assert_true(same_text(a->s, b->s) && same_text(a->op, b->op) && a->i == b->i && a->f == b->f);
  assert_true(same_text(a->loc.file, b->loc.file) && a->loc.line == b->loc.line &&
              a->loc.column == b->loc.column);
  assert_same(c, a->a, b->a);
  assert_same(c, a->b, b->b);
  assert_same(c, a->c, b->c);
  assert_same_list(c, &a->kids, &b->kids);
  assert_same_list(c, &a->body, &b->body);
  assert_same_list(c, &a->orelse, &b->orelse);
  assert_same_list(c, &a->finalbody, &b->finalbody);
  assert_same_list(c, &decorators, &b->decorators);
}

/* How many bodies the outline leaves out; with them it is what the whole text gives. */
static int check_outline(const char *name, const char *text) {
  Tirc *c = tirc_context_new();
  const Source source = {name, text, strlen(text)};
  const SynList outline = tirc_parse_outline(c, &source), all = tirc_parse_syntax(c, &source);
  int n = 0;
  for (int i = 0; i < outline.n; i++) n += tirc_syn_whole(c, outline.at[i]) != outline.at[i];
  assert_same_list(c, &outline, &all);
  tirc_context_release(c);
  return n;
}

static void test_outlines(void **state) {
  (void)state;
  int n = 0;
  for (int i = 0; i < tirc_n_rule_libraries; i++)
    n += check_outline(tirc_rule_libraries[i].name, tirc_rule_libraries[i].code);
  assert_true(n > 300);
  static const struct {
    const char *text;
    int n;
  } rows[] = {
      {"", 0},
      {"def f(x): return x", 0},
      {"def f(x): return x\n\nx = 1\n", 0},
      {"def f(x):\n    return x", 1},
      {"x = 1\ndef f(x):\n\n# why\n    y = 'a\\n'\n\n    return x\n\n\ny = f\n", 1},
      {"def f(x,\n      y={1: 2}):\n    def g(z):\n        return z\n    return g(x)\nf(1)\n", 1},
      {"@g\ndef f(x):\n    return x\n@g\n\ndef h(x):\n    return x\n", 0},
      {"class A:\n    def f(x):\n        return x\ndef f(x):\n\treturn x\ndef g():\n  pass\n", 2},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (check_outline("text", rows[i].text) != rows[i].n)
      fail_msg("%s\n--- other bodies left out than %d", rows[i].text, rows[i].n);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_outlines),
      cmocka_unit_test(test_prints),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_diagnostic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

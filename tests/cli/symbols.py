"""Functions of all the names that the machine's C library and libm export, and of all words and
macros of C: each form of code calls them alike, and by no name of those libraries; the C compiles
without a warning, the header behind all others, in C and C++; and a program that calls a kernel and
the library's function of that name gets both. Usage: symbols.py TIRC FOLDER"""
import ctypes, os, re, shutil, subprocess, sys
from kernels import COMPILERS, STRICT, run, write

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from every import sample  # noqa: E402

tirc, folder = sys.argv[1:]
HEADERS = ('assert ctype errno fenv float inttypes limits locale math signal stdalign stdarg stdbool stddef stdint '
           'stdio stdlib string time wchar').split()
# Functions of libm that code may call (codegen/libm.def) and that glibc declares.
LIBM1 = ('acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 fabs floor lgamma log log10 '
         'log1p log2 nearbyint rint round sin sinh sqrt tan tanh tgamma trunc').split()
LIBM2 = 'atan2 copysign fdim fmax fmin fmod hypot pow remainder nextafter'.split()


def loaded(library):
    """The file from which the loader takes it."""
    ctypes.CDLL(library)
    with open('/proc/self/maps') as f:
        return next(line.split()[-1] for line in f if '/' + library in line)


def exported(path, dynamic):
    out = run('nm', *(['-D'] if dynamic else []), '--defined-only', path).stdout
    return {line.split()[-1].split('@')[0] for line in out.splitlines() if re.search(r' [B-Zi] ', line)}  # A: the names of versions


def is_word(name):
    return re.fullmatch(r'[A-Za-z_][A-Za-z0-9_]*', name)


PYTHON = set('False None True and as assert async await break class continue def del elif else except finally for '
             'from global if import in is lambda nonlocal not or pass raise return try while with yield'.split())
library = exported(loaded('libc.so.6'), True) | exported(loaded('libm.so.6'), True)
headers = ''.join('#include <%s.h>\n' % h for h in HEADERS)
macros = subprocess.run(['cc', '-std=gnu17', '-D_GNU_SOURCE', '-dM', '-E', '-x', 'c', '-'], text=True, input=headers,
                        capture_output=True).stdout
macros = {m for m in re.findall(r'^#define (\w+)', macros, re.M)}
words = set('auto break case char const continue default do double else enum extern float for goto if inline int long '
            'register restrict return short signed sizeof static struct switch typedef union unsigned void volatile '
            'while alignas alignof and and_eq asm bitand bitor bool catch class compl concept const_cast consteval '
            'constexpr constinit decltype delete explicit export false friend mutable namespace new noexcept not '
            'not_eq nullptr operator or or_eq private protected public reinterpret_cast requires static_assert template '
            'this thread_local throw true try typeid typename typeof using virtual wchar_t xor xor_eq'.split())
own = {'main', 'aligned_alloc', 'tirc_default_runtime', 'tirc_alloc', 'VLOAD', 'status', 'lanes', 'GOMP_parallel',
       'omp_get_thread_num', 'pthread_x', 'atomic_y', 'int_', 'exp_', 'a', 'a__rt', 'a__packed', 'a__rt__rt', '_x', '__y', '_Z', 'plain'}
names = sorted(n for n in set(sample(sorted(library | macros))) | words | own if is_word(n) and n not in PYTHON and not re.match('__[A-Z]', n))

F = '@T.prim_func\ndef %s(A: T.Buffer((1,), "float32"), B: T.Buffer((1,), "float32")):\n    B[0] = A[0]\n'
program = write(os.path.join(folder, 'names.tir'), 'from tvm.script import tir as T\n' + '\n'.join(F % n for n in names))
few = write(os.path.join(folder, 'few.tir'), 'from tvm.script import tir as T\n' + '\n'.join(F % n for n in sorted(words - PYTHON | own)))
base, base_few = os.path.join(folder, 'names'), os.path.join(folder, 'few')
for kind, ending in [('obj', '.o'), ('c', '.c'), ('header', '.h')]:
    said = run(tirc, 'build', program, '--emit=' + kind, '-o', base + ending).stderr
for kind, ending in [('obj', '.o'), ('asm', '.s'), ('llvm', '.ll')]:
    run(tirc, 'build', few, '--emit=' + kind, '-o', base_few + ending)
in_object = exported(base + '.o', False)
header = open(base + '.h').read()
declared = re.findall(r'^int (\w+)\((?!.*const tirc_runtime \*\);$)', header, re.M)
with_runtime = re.findall(r'^int (\w+)\(.*const tirc_runtime \*\);$', header, re.M)
renamed = dict(re.findall(r'^/\* (\w+): the name (\w+) is C', header, re.M))
noted = {s: n for n, s in re.findall(r'note: (\S+) is called (\w+) in the code', said)}
c_source = set(re.findall(r'^int (\w+)\(.*\{$', open(base + '.c').read(), re.M))
few_symbols = exported(base_few + '.o', False)
assembly = set(re.findall(r'^\s*\.globl\s+(\w+)', open(base_few + '.s').read(), re.M))
ir = set(re.findall(r'^define (?:noundef )?i32 @(\w+)\(', open(base_few + '.ll').read(), re.M))
complaints = []


def expect(holds, what):
    if not holds:
        complaints.append(what)


expect(len(declared) == len(set(declared)) == len(names), 'the header declares %d of %d' % (len(set(declared)), len(names)))
expect(sorted(with_runtime) == sorted(n + '__rt' for n in declared), 'each has one with a runtime')
expect(set(declared) == c_source, 'C defines others: %s' % sorted(set(declared) ^ c_source)[:9])
all_symbols = {s + e for s in declared for e in ('', '__rt', '__packed')}
expect(in_object == all_symbols, 'the object: %s' % sorted(in_object ^ all_symbols)[:9])
expect(assembly == few_symbols, 'assembly: %s' % sorted(assembly ^ few_symbols)[:9])
expect(ir == few_symbols, 'LLVM IR: %s' % sorted(ir ^ few_symbols)[:9])
taken = sorted(all_symbols & library)
expect(not taken, 'symbols of the library are taken: %s' % taken)
expect(not {s for s in all_symbols if re.match('_[A-Z_]', s)}, 'names that are reserved')
for n in names:
    kept = n in declared
    expect(not (n in library or n in words) or not kept, '%s is kept' % n)
for n in ('int_', 'exp_', 'a', 'plain'):
    expect(n in declared and n not in renamed, '%s is renamed' % n)
expect(renamed == {s: ('names' if n == 'main' else n) for s, n in noted.items()}, 'notices and header differ: %s' %
       sorted(set(renamed.items()) ^ set(noted.items()))[:9])
user = write(os.path.join(folder, 'user.c'), headers + '#include "names.h"\n')
strict = STRICT + ['-fsyntax-only', '-I' + folder]
for c in COMPILERS:
    run(c, '-std=gnu17', *strict, base + '.c')
    for std in ('gnu17', 'c17', 'gnu2x'):
        run(c, '-std=' + std, *(['-D_GNU_SOURCE'] if std == 'gnu17' else []), *strict, user)
if shutil.which('g++'):
    for std in ('c++11', 'c++20', 'gnu++20'):
        run('g++', '-x', 'c++', '-std=' + std, *strict, user)

# A program with both.
both = [(n + f, n, f, k) for k, group in ((1, LIBM1), (2, LIBM2)) for n in group for f in ('', 'f')]
text = ['from tvm.script import tir as T\n']
for name, n, f, k in both:
    t = 'float32' if f else 'float64'
    x = ['T.%s(A[i])', 'T.%s(A[i], A[i])'][k - 1] % n
    if n in ('cbrt erfc expm1 fabs fdim fmax fmin lgamma remainder rint tgamma').split():
        x = 'T.call_extern("%s", "%s", A[i]%s)' % (t, name, ', A[i]' * (k - 1))
    text.append('@T.prim_func\ndef %s(A: T.Buffer((4,), "%s"), B: T.Buffer((4,), "%s")):\n    for i in range(4):\n        B[i] = %s\n'
                % (name, t, t, x))
text.append('@T.prim_func\ndef free(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):\n'
            '    C = T.alloc_buffer((100000,), "float32")\n    for i in range(100000):\n        C[i] = A[i % 4]\n'
            '    for i in range(4):\n        B[i] = C[i + 99996]\n')
both_program = write(os.path.join(folder, 'both.tir'), ''.join(text))
main = ['#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include "both.h"\nint main(void) {\n  int bad = 0;\n'
        '  float p[4] = {1, 2, 3, 4}, q[4];\n  volatile double x = 0.7;\n  void *m = malloc(10);\n  free(m);\n  bad += free_(p, q) || q[3] != 4;\n']
for name, n, f, k in both:
    t = 'float' if f else 'double'
    call = '%s((%s)x%s)' % (name, t, ', (%s)x' % t * (k - 1))
    main.append('  { %s a[4] = {0.7%s, 0.7%s, 0.7%s, 0.7%s}, b[4], want = %s;\n    if (%s_(a, b) || !(fabs((double)(b[3] - want)) < 1e-5 || b[3] == want || '
                '(want != want && b[3] != b[3]))) { printf("%s: %%g, libm %%g\\n", (double)b[3], (double)want); bad++; } }\n'
                % (t, f, f, f, f, call, name, name))
main.append('  return bad != 0;\n}\n')
write(os.path.join(folder, 'main.c'), ''.join(main))
b = os.path.join(folder, 'both')
for kind, ending in [('obj', '.o'), ('c', '.c'), ('header', '.h')]:
    run(tirc, 'build', both_program, '--emit=' + kind, '-o', b + ending)
for c in COMPILERS:
    for code in ('.o', '.c'):
        run(c, '-std=gnu17', '-O1', *STRICT, '-I' + folder, os.path.join(folder, 'main.c'), b + code, '-lm', '-o', b)
        run(b)
    run(tirc, 'run', write(os.path.join(folder, 'one.tir'), F % 'tanh'), '--check')
print('%d names, %d renamed' % (len(names), len(renamed)))
if complaints:
    sys.exit('\n'.join(complaints))

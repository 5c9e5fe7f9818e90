"""For tests of emitted code: a module in each of its forms, loaded into this process."""
import ctypes, os, shutil, subprocess, sys

COMPILERS = [c for c in ('gcc', 'clang-19', 'clang') if shutil.which(c)]
STRICT = ['-Wall', '-Wextra', '-Werror']


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit('%s: status %d\n%s%s' % (' '.join(command), done.returncode, done.stdout[-3000:],
                                          done.stderr[-3000:]))
    return done


def write(path, text):
    with open(path, 'w') as f:
        f.write(text)
    return path


def libraries(tirc, program, folder, script=None, flags=('-O3', '-march=haswell'), only=None):
    """(name, ctypes library) of the object file and of the C source by each compiler."""
    source = [program] + ([script] if script else [])
    base = os.path.join(folder, os.path.splitext(os.path.basename(program))[0])
    run(tirc, 'build', *source, '--emit=obj', '-o', base + '.o')
    run('cc', '-shared', '-o', base + '.obj.so', base + '.o', '-lm')
    yield 'machine code', ctypes.CDLL(base + '.obj.so')
    run(tirc, 'build', *source, '--emit=c', '-o', base + '.c')
    for compiler in only or COMPILERS:
        so = '%s.%s.so' % (base, compiler)
        run(compiler, '-std=gnu17', *STRICT, *flags, '-shared', '-fPIC', '-o', so, base + '.c', '-lm')
        yield 'C by ' + compiler, ctypes.CDLL(so)

#!/usr/bin/env python3
"""Is the WGSL that programs become accepted? wgsl.py TIRC SOURCES

Kernels by hand, by schedules and by rules are written as WGSL and given to Dawn, the compiler of Chromium, as the package
`webgpu` of npm has it (`npm install webgpu`, found by NODE_PATH, or in /usr/local/lib/node_modules); else to the parser
`wgsl_reflect`. No GPU is needed: Dawn checks with the backend that draws nothing. Status 77, saying so, without either.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

TIRC, SOURCES = sys.argv[1], pathlib.Path(sys.argv[2])
CHECK = r"""
const { createRequire } = require('module');
const { readFileSync } = require('fs');
const { pathToFileURL } = require('url');
const find = (name) => { try { return require.resolve(name); } catch { return null; } };
(async () => {
  let bad = 0;
  const files = process.argv.slice(2);
  const say = (file, line, text) => { bad++; console.log(`${file}:${line}: ${text}`); };
  if (find('webgpu')) {
    const { create } = await import(pathToFileURL(find('webgpu')));
    const gpu = create(['backend=null']);
    const adapter = await gpu.requestAdapter();
    const half = adapter.features.has('shader-f16') ? ['shader-f16'] : [];
    const device = await adapter.requestDevice({ requiredFeatures: half });
    for (const file of files) {
      device.pushErrorScope('validation');
      const made = device.createShaderModule({ code: readFileSync(file, 'utf8') });
      for (const m of (await made.getCompilationInfo()).messages) if (m.type === 'error') say(file, m.lineNum, m.message);
      await device.popErrorScope();
    }
    device.destroy();
    console.log('by Dawn');
  } else if (find('wgsl_reflect')) {
    const { WgslParser } = await import(pathToFileURL(find('wgsl_reflect')));
    for (const file of files) {
      try { new WgslParser().parse(readFileSync(file, 'utf8')); } catch (e) { say(file, 0, e.message || e); }
    }
    console.log('by wgsl_reflect');
  } else process.exit(77);
  process.exit(bad ? 1 : 0);
})();
"""
RULES = ["examples/gpu/matmul.tir -D M=45 -D N=70 -D K=21", "examples/softmax/softmax.tir -D M=5 -D N=130",
         "examples/layer_norm/layer_norm.tir -D M=3 -D N=100", "examples/operators/transpose.tir -D M=20 -D N=35",
         "examples/operators/max_pool.tir -D C=3 -D H=6 -D W=6", "examples/operators/row_sum.tir -D M=3 -D N=500",
         "examples/vector_add/vector_add.tir -D N=100", "examples/operators/cumsum.tir", "tests/gpu/wgsl/updates.tir",
         "tests/gpu/wgsl/half.tir", "tests/gpu/wgsl/numbers.tir"]


def main():
    wrong, files = [], []
    with tempfile.TemporaryDirectory() as folder:
        for n, words in enumerate(RULES + ["examples/shared_memory/smooth.tir examples/shared_memory/smooth.sch"]):
            program, *options = words.split()
            options = [str(SOURCES / o) if o.endswith(".sch") else o for o in options]
            out = "%s/%d-%s.wgsl" % (folder, n, pathlib.Path(program).stem)
            how = [] if options and options[0].endswith(".sch") else ["--auto"]
            done = subprocess.run([TIRC, "build", str(SOURCES / program), *options, *how, "--emit=wgsl", "-o", out], capture_output=True, text=True)
            if done.returncode:
                wrong.append("%s: %s" % (words, done.stderr))
            else:
                files.append(out)
        if wrong:
            print("\n".join(wrong))
            return 1
        script = folder + "/check.js"
        pathlib.Path(script).write_text(CHECK, encoding="utf-8")
        paths = os.pathsep.join(filter(None, [os.environ.get("NODE_PATH"), "/usr/local/lib/node_modules", "/usr/lib/node_modules"]))
        try:
            done = subprocess.run(["node", script, *files], capture_output=True, text=True, env=dict(os.environ, NODE_PATH=paths), timeout=120)
        except FileNotFoundError:
            print("node is not here: %d sources are written, and nobody reads them" % len(files))
            return 77
        if done.returncode == 77:
            print("neither webgpu nor wgsl_reflect of npm is here: %d sources are written, and nobody reads them" % len(files))
            return 77
        print("%d sources, %s%s" % (len(files), done.stdout, done.stderr))
        return done.returncode


sys.exit(main())

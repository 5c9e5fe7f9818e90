#!/usr/bin/env python3
"""Is the WGSL that programs become accepted? wgsl.py TIRC SOURCES

Kernels by hand, by schedules and by rules are written as WGSL and given to Dawn, the compiler of Chromium, as the package
`webgpu` of npm has it (`npm install webgpu`, found by NODE_PATH, or in /usr/local/lib/node_modules); else to the parser
`wgsl_reflect`. No GPU is needed: Dawn checks with the backend that draws nothing. Status 77, saying so, without either.

Where Vulkan has an adapter for Dawn, as Chromium's SwiftShader is one in software, those of one kernel run on it, and must
give what the program gives.
"""
import json
import os
import pathlib
import re
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
SWIFTSHADER = "/usr/lib/chromium/vk_swiftshader_icd.json"
RUN = r"""
const { readFileSync } = require('fs');
const { pathToFileURL } = require('url');
const array = (c) => {
  const b = readFileSync(c.npy), at = 10 + b.readUInt16LE(8), bytes = b.buffer.slice(b.byteOffset + at, b.byteOffset + b.length);
  return c.type === 'f32' ? new Float32Array(bytes) : new Int32Array(bytes);
};
(async () => {
  const gpu = (await import(pathToFileURL(require.resolve('webgpu')))).create(['backend=vulkan']);
  const adapter = await gpu.requestAdapter();
  if (!adapter) { console.log('no adapter runs them'); process.exit(0); }
  const device = await adapter.requestDevice();
  let bad = 0, ran = 0;
  for (const c of JSON.parse(readFileSync(process.argv[2], 'utf8'))) {
    const module = device.createShaderModule({ code: readFileSync(c.file, 'utf8') });
    const pipeline = device.createComputePipeline({ layout: 'auto', compute: { module } });
    const U = { STORAGE: 128, COPY_SRC: 4, COPY_DST: 8, MAP_READ: 1 };
    const wanted = c.arrays.map(array);
    const buffers = c.arrays.map((a, i) => {
      const b = device.createBuffer({ size: wanted[i].byteLength, usage: U.STORAGE | U.COPY_SRC | U.COPY_DST });
      device.queue.writeBuffer(b, 0, a.stored ? new Uint8Array(wanted[i].byteLength) : wanted[i]);
      return b;
    });
    const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0),
      entries: buffers.map((buffer, i) => ({ binding: i, resource: { buffer } })) });
    const commands = device.createCommandEncoder(), pass = commands.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(...c.blocks);
    pass.end();
    const reads = buffers.map((b) => {
      const r = device.createBuffer({ size: b.size, usage: U.COPY_DST | U.MAP_READ });
      commands.copyBufferToBuffer(b, 0, r, 0, b.size);
      return r;
    });
    device.queue.submit([commands.finish()]);
    for (let i = 0; i < reads.length; i++) {
      await reads[i].mapAsync(1);
      const got = new wanted[i].constructor(reads[i].getMappedRange().slice(0));
      const most = wanted[i].reduce((m, x) => Math.max(m, Math.abs(x)), 0);
      const off = got.findIndex((x, k) => !(Math.abs(x - wanted[i][k]) <= 1e-4 * most));
      if (off >= 0) { bad++; console.log(`${c.file}: ${c.arrays[i].name}[${off}] is ${got[off]}, not ${wanted[i][off]}`); }
    }
    ran++;
  }
  console.log(`${ran} of them ran on ${adapter.info.description || adapter.info.device}`);
  process.exit(bad ? 1 : 0);
})();
"""
RULES = ["examples/gpu/matmul.tir -D M=45 -D N=70 -D K=21", "examples/softmax/softmax.tir -D M=5 -D N=130",
         "examples/layer_norm/layer_norm.tir -D M=3 -D N=100", "examples/operators/transpose.tir -D M=20 -D N=35",
         "examples/operators/max_pool.tir -D C=3 -D H=6 -D W=6", "examples/operators/row_sum.tir -D M=3 -D N=500",
         "examples/vector_add/vector_add.tir -D N=100", "examples/operators/cumsum.tir", "tests/gpu/wgsl/updates.tir",
         "tests/gpu/wgsl/half.tir", "tests/gpu/wgsl/numbers.tir"]


def runnable(out, program, options, how):
    """What is needed to run it; None: several kernels, sizes of the run, or types that an array of JavaScript has not."""
    text = pathlib.Path(out).read_text()
    arrays = re.findall(r"var<storage, (\w+)> (\w+): array<(\w+)>", text)
    if text.count("@compute") != 1 or "var<uniform>" in text or any(t not in ("f32", "i32") for _, _, t in arrays):
        return None
    given = [{"name": name, "type": t, "stored": access == "read_write", "npy": "%s.%s.npy" % (out, name)} for access, name, t in arrays]
    words = [w for w in options if not w.endswith(".sch")]
    done = subprocess.run([TIRC, "run", program, *words, *[w for a in given for w in ("--out", "%s=%s" % (a["name"], a["npy"]))]],
                          capture_output=True, text=True)
    host = subprocess.run([TIRC, "lower", program, *options, *how, "--target", "webgpu"], capture_output=True, text=True).stdout
    axes = re.search(r'"tir.kernel_launch_params": \[([^\]]*)\]', host)
    call = re.search(r"T\.call_packed\((.*)\)\n", host)
    if done.returncode or not axes or not call:
        return None
    axes = re.findall(r'"(\S+)"', axes[1])
    extents = dict(zip(axes, call[1].split(", ")[-len(axes):]))
    return {"file": out, "arrays": given, "blocks": [int(extents.get("blockIdx." + d, 1)) for d in "xyz"]}


def run_all(cases, folder, env):
    """On an adapter, where there is one: the exit status."""
    listed = pathlib.Path(folder) / "cases.json"
    listed.write_text(json.dumps(cases))
    (pathlib.Path(folder) / "run.js").write_text(RUN, encoding="utf-8")
    if os.path.exists(SWIFTSHADER):
        env = {"VK_ICD_FILENAMES": SWIFTSHADER, **env}
    done = subprocess.run(["node", folder + "/run.js", str(listed)], capture_output=True, text=True, env=env, timeout=120)
    print(done.stdout, done.stderr if done.returncode else "")
    return done.returncode


def main():
    wrong, files, cases = [], [], []
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
                cases.append(runnable(out, str(SOURCES / program), options, how))
        if wrong:
            print("\n".join(wrong))
            return 1
        script = folder + "/check.js"
        pathlib.Path(script).write_text(CHECK, encoding="utf-8")
        paths = os.pathsep.join(filter(None, [os.environ.get("NODE_PATH"), "/usr/local/lib/node_modules", "/usr/lib/node_modules"]))
        env = dict(os.environ, NODE_PATH=paths)
        try:
            done = subprocess.run(["node", script, *files], capture_output=True, text=True, env=env, timeout=120)
        except FileNotFoundError:
            print("node is not here: %d sources are written, and nobody reads them" % len(files))
            return 77
        if done.returncode == 77:
            print("neither webgpu nor wgsl_reflect of npm is here: %d sources are written, and nobody reads them" % len(files))
            return 77
        print("%d sources, %s%s" % (len(files), done.stdout, done.stderr))
        return done.returncode or ("by Dawn" in done.stdout and run_all([c for c in cases if c], folder, env))


sys.exit(main())

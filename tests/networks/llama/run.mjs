// A prompt of so many tokens and as many tokens behind it by llama.cpp: run.mjs FILE.gguf THREADS PROMPT TOKENS
// prints {"prefill_ms": ..., "decode_tokens_per_second": ...}; node_modules with node-llama-cpp stand in the folder where it runs.
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";
const resolve = createRequire(process.cwd() + "/").resolve;
const {getLlama} = await import(pathToFileURL(resolve("node-llama-cpp")).href);
const [, , path, threads, prompt, tokens] = process.argv;
const llama = await getLlama({gpu: false, build: "never", logLevel: "error", maxThreads: +threads});
const model = await llama.loadModel({modelPath: path, useMmap: true});
const context = await model.createContext({contextSize: 1024, threads: +threads, batchSize: 512});
const sequence = context.getSequence();
const given = Array.from({length: +prompt}, (_, i) => (i * 37 + 11) % 50000);
const times = [process.hrtime.bigint()];
for await (const token of sequence.evaluate(given, {temperature: 0})) {
  times.push(process.hrtime.bigint());
  if (times.length > +tokens) break;
}
const each = times.slice(2).map((t, i) => Number(t - times[i + 1])).sort((a, b) => a - b);
console.log(JSON.stringify({prefill_ms: Number(times[1] - times[0]) / 1e6, decode_tokens_per_second: 1e9 / each[each.length >> 1]}));
process.exit(0);

// The compiler, in a worker: it answers questions one after the other, and is ended where one takes too long.
'use strict';

let tirc = null, ready = null;

function instantiate(module) {
  return new Promise((done, failed) => makeTirc({
    instantiateWasm: (imports, made) => { WebAssembly.instantiate(module, imports).then(instance => made(instance, module)).catch(failed); return {}; },
    print: () => {}, printErr: () => {},
  }).then(done, failed));
}

function answer(question) {
  const text = JSON.stringify(question), n = tirc.lengthBytesUTF8(text) + 1, at = tirc._malloc(n);
  tirc.stringToUTF8(text, at, n);
  const result = tirc._tirc_answer(at), json = tirc.UTF8ToString(result);
  tirc._free(at);
  tirc._free(result);
  return JSON.parse(json);
}

onmessage = async ({ data }) => {
  if (data.module) {
    ready = instantiate(data.module);
    return;
  }
  try {
    tirc = await ready;
    const began = performance.now();
    postMessage({ id: data.id, answer: answer(data.question), ms: performance.now() - began });
  } catch (e) {
    postMessage({ id: data.id, failed: String(e && e.message || e) }); // its memory is in no known state any more
  }
};

// The compiler, in a worker: it answers questions one after the other, and is ended where one takes too long.
'use strict';

let tirc = null;

function instantiate(module) {
  return makeTirc({
    instantiateWasm: (imports, done) => { WebAssembly.instantiate(module, imports).then(instance => done(instance, module)); return {}; },
    print: () => {}, printErr: () => {},
  });
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
    tirc = await instantiate(data.module);
    return postMessage({ ready: true });
  }
  const began = performance.now();
  try {
    postMessage({ id: data.id, answer: answer(data.question), ms: performance.now() - began });
  } catch (e) {
    postMessage({ id: data.id, failed: String(e && e.message || e) }); // its memory is in no known state any more
  }
};

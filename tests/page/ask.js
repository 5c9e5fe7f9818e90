// Asks the compiler of the playground in Node: ask.js FOLDER, a question a line on standard input, an answer a line on standard output.
'use strict';
const fs = require('fs'), path = require('path'), folder = path.resolve(process.argv[2]);
const make = require(folder + '/tirc.js');

make({ wasmBinary: fs.readFileSync(folder + '/tirc.wasm') }).then(tirc => {
  for (const line of fs.readFileSync(0, 'utf8').split('\n')) {
    if (!line) continue;
    const n = tirc.lengthBytesUTF8(line) + 1, at = tirc._malloc(n);
    tirc.stringToUTF8(line, at, n);
    const answer = tirc._tirc_answer(at);
    process.stdout.write(tirc.UTF8ToString(answer) + '\n');
    tirc._free(at);
    tirc._free(answer);
  }
});

// What all parts of the page share: the data, which call and which access are shown, and small tools.
'use strict';

let data = null, run = null; // what is shown; run: the accesses of a small instance, or null
const $ = id => document.getElementById(id);
const state = { step: 0, time: 0, playing: false };
const traces = new Map();
const count = (n, one, many) => `${n} ${n === 1 ? one : many}`;
const misses = n => count(n, 'miss', 'misses'), accesses = n => count(n, 'access', 'accesses');
const size = bytes => bytes < 1024 ? bytes + ' B' : bytes / 1024 + ' KiB';

function make(tag, properties, ...children) {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
}

function takeRun(r) {
  run = data.run = r;
  traces.clear();
}

// The step that is shown; null: the program before the first one.
const current = () => state.step ? data.steps[state.step - 1] : null;

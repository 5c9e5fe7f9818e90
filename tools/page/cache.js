// A trace: the accesses of a small run, unpacked from the stream that the command writes (see
// step_trace.c). And a set-associative cache with least-recently-used replacement, on its addresses.
'use strict';

function unpackTrace(t) {
  const bytes = Uint8Array.from(atob(t.data || ''), c => c.charCodeAt(0));
  const n = t.accesses, trace = {
    n, arrays: t.arrays, blocks: t.blocks, whole: t.whole, failure: t.failure,
    array: new Uint8Array(n), element: new Uint32Array(n), write: new Uint8Array(n),
    starts: [], // instances of blocks: {at, block, values}
    extents: t.blocks.map(b => b.loops.map(() => 1)),
  };
  const last = t.arrays.map(() => 0), stands = t.blocks.map(b => b.loops.map(() => 0));
  let i = 0, at = 0;
  const number = () => {
    let v = 0, shift = 1, b;
    do { b = bytes[i++]; v += (b & 127) * shift; shift *= 128; } while (b & 128);
    return v;
  };
  const signed = () => { const v = number(); return v % 2 ? -(v + 1) / 2 : v / 2; };
  while (i < bytes.length) {
    const tag = number();
    if (tag === 0) {
      const block = number();
      for (let k = number(); k < stands[block].length; k++) stands[block][k] = signed();
      stands[block].forEach((v, k) => { trace.extents[block][k] = Math.max(trace.extents[block][k], v + 1); });
      trace.starts.push({ at, block, values: stands[block].slice() });
    } else {
      const a = (tag - 1) >> 1;
      last[a] += signed();
      trace.array[at] = a;
      trace.write[at] = (tag - 1) & 1;
      trace.element[at++] = last[a];
    }
  }
  trace.footprint = placeArrays(t);
  return trace;
}

// Arrays lie one after the other, each at a multiple of 64 bytes. Gives the bytes of all.
function placeArrays(trace) {
  let base = 0;
  for (const a of trace.arrays) {
    a.count = a.shape.reduce((x, y) => x * y, 1);
    a.base = base;
    base += Math.ceil(a.count * a.bytes / 64) * 64;
  }
  return base;
}

// The instance of a block that access t belongs to, or null.
function blockAt(trace, t) {
  let low = 0, high = trace.starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (trace.starts[middle].at <= t) low = middle + 1; else high = middle;
  }
  return low ? trace.starts[low - 1] : null;
}

class Cache {
  constructor(trace, size, line, ways) {
    this.trace = trace;
    this.line = line;
    this.ways = Math.max(1, Math.min(ways, size / line));
    this.sets = Math.max(1, Math.floor(size / line / this.ways));
    this.reset();
  }
  reset() {
    this.at = 0;
    this.content = Array.from({ length: this.sets }, () => []); // most recently used first
    this.hits = this.trace.arrays.map(() => 0);
    this.misses = this.trace.arrays.map(() => 0);
    this.missed = new Uint8Array(this.trace.n);
    this.touched = this.trace.arrays.map(a => new Uint8Array(a.count));
  }
  access(i) {
    const t = this.trace, a = t.array[i], array = t.arrays[a];
    const line = Math.floor((array.base + t.element[i] * array.bytes) / this.line);
    const set = this.content[line % this.sets], at = set.indexOf(line);
    if (at >= 0) set.splice(at, 1); else if (set.length === this.ways) set.pop();
    set.unshift(line);
    if (at >= 0) this.hits[a]++; else this.misses[a]++;
    this.missed[i] = at < 0 ? 1 : 0;
    this.touched[a][t.element[i]] = 1;
  }
  // The state after the first `n` accesses.
  go(n) {
    if (n < this.at) this.reset();
    while (this.at < n) this.access(this.at++);
  }
  total() { return this.misses.reduce((x, y) => x + y, 0); }
}

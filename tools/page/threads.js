// Which thread of one block touches what: threads are the values of the loops that are bound to them; on a processor, of the
// parallel loops, and lanes those of the vectorized one.
'use strict';

const AXES = ['x', 'y', 'z'], LANES = ['lane', 'thread', 'outer thread'];
const RAMP = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]]; // dark to light, for all eyes
let threads = null; // the step's run, as its threads have it
let touches = null; // of the array and the block that are chosen, or null

// The colour of thread `at` of n.
function threadColour(at, n) {
  const x = n > 1 ? at / (n - 1) * (RAMP.length - 1) : 0, i = Math.min(RAMP.length - 2, Math.floor(x));
  return `rgb(${RAMP[i].map((c, k) => Math.round(c + (RAMP[i + 1][k] - c) * (x - i))).join(', ')})`;
}

// A block without threads of a GPU, in parallel and vectorized loops.
function onProcessor(loops) {
  const lanes = loops.filter(n => n.loop === 'vectorized').pop(), parallel = loops.filter(n => n.loop === 'parallel').reverse();
  const nest = loops.find(n => n === lanes || parallel.includes(n));
  return nest && { nest, own: [lanes, ...parallel].slice(0, 3) };
}

// Of each block of the trace that runs in threads: the nest that is its kernel, and which of its loops are which axes.
function boundBlocks(trace, tree) {
  const open = [], found = new Map();
  for (const node of tree) {
    while (open.length && open[open.length - 1].depth >= node.depth) open.pop();
    open.push(node);
    if (node.kind !== 'block' || found.has(node.name)) continue;
    const bound = open.filter(n => /^(block|thread)Idx\.[xyz]$/.test(n.thread || ''));
    const at = bound.length ? { nest: bound[0], bound: new Map(bound.map(n => [n.thread, n.name])) } : onProcessor(open);
    if (at) found.set(node.name, at);
  }
  return trace.blocks.map(b => {
    const at = found.get(b.name);
    if (at && at.own) return { nest: at.nest, block: [-1, -1, -1], thread: AXES.map((_, d) => at.own[d] ? b.loops.lastIndexOf(at.own[d].name) : -1), names: LANES };
    const place = kind => AXES.map(x => b.loops.lastIndexOf(at.bound.get(`${kind}Idx.${x}`)));
    return at ? { nest: at.nest, block: place('block'), thread: place('thread'), names: AXES } : null;
  });
}

// Extents of the threads of a nest, and the axes that it has: no statement need stand in all of them.
function extentsOf(trace, blocks, nest, kind) {
  const extents = [1, 1, 1], axes = [false, false, false];
  blocks.forEach((b, i) => {
    if (b && b.nest === nest) b[kind].forEach((at, d) => {
      if (at < 0) return;
      axes[d] = true;
      extents[d] = Math.max(extents[d], trace.extents[i][at]);
    });
  });
  return { extents, axes };
}

const valuesAt = (places, values) => places.map(at => at < 0 ? 0 : values[at]);
const axesText = (axes, values, names = AXES) => names.flatMap((x, d) => axes[d] ? [`${x} = ${values[d]}`] : []).join(', ') || 'the only one';

// A run as its threads have it: the blocks that there are, and of each access the block and the thread.
class ThreadView {
  constructor(trace, tree) {
    this.trace = trace;
    this.blocks = boundBlocks(trace, tree);
    this.kernels = new Map();
    for (const b of this.blocks) {
      if (!b || this.kernels.has(b.nest)) continue;
      this.kernels.set(b.nest, {
        block: extentsOf(trace, this.blocks, b.nest, 'block'), thread: extentsOf(trace, this.blocks, b.nest, 'thread') });
    }
    this.keys = new Map(); // of a block: its words
    for (const s of trace.starts) {
      const key = this.keyOf(s);
      if (key !== null && !this.keys.has(key)) this.keys.set(key, this.blockText(s));
    }
  }
  keyOf(start) {
    const b = this.blocks[start.block];
    return b && `${b.nest.line}:${valuesAt(b.block, start.values)}`;
  }
  blockText(start) {
    const b = this.blocks[start.block], { axes } = this.kernels.get(b.nest).block;
    if (b.names === LANES) return `nest of ${b.nest.name}`;
    const text = 'block ' + axesText(axes, valuesAt(b.block, start.values));
    return this.kernels.size > 1 ? `${text}, nest of ${b.nest.name}` : text;
  }
  // Its number in the order of a warp: x runs fastest.
  threadOf(start) {
    const b = this.blocks[start.block], [ex, ey] = this.kernels.get(b.nest).thread.extents;
    const [x, y, z] = valuesAt(b.thread, start.values);
    return x + ex * (y + ey * z);
  }
  threadText(start) {
    const b = this.blocks[start.block];
    return axesText(this.kernels.get(b.nest).thread.axes, valuesAt(b.thread, start.values), b.names);
  }
  // "thread (x = 3) of block (x = 0)"
  describe(start) {
    const b = this.blocks[start.block];
    return !b ? '' : b.names === LANES ? this.threadText(start) : `thread (${this.threadText(start)}) of block (${this.blockText(start).slice('block '.length)})`;
  }
  // Of array number `array`, in one block: of each element its threads, in the order in which they come.
  touches(array, key) {
    const t = this.trace, of = Array.from({ length: t.arrays[array].count }, () => null), names = new Map();
    let threads = 1;
    t.starts.forEach((s, i) => {
      if (this.keyOf(s) !== key) return;
      const thread = this.threadOf(s), end = i + 1 < t.starts.length ? t.starts[i + 1].at : t.n;
      threads = this.kernels.get(this.blocks[s.block].nest).thread.extents.reduce((x, y) => x * y, 1);
      for (let at = s.at; at < end; at++) {
        if (t.array[at] !== array) continue;
        const element = of[t.element[at]] || (of[t.element[at]] = new Map());
        element.set(thread, (element.get(thread) || 0) | (t.write[at] ? 2 : 1));
        names.set(thread, this.threadText(s));
      }
    });
    return { array, scope: t.arrays[array].scope, of, names, threads };
  }
}

// --- what is chosen --------------------------------------------------------------------------

const hasThreads = () => !!run && data.programs.some(p => p.tree.some(n => /Idx\./.test(n.thread || '') || n.loop === 'parallel' || n.loop === 'vectorized'));

function buildThreads() {
  $('threads').hidden = $('who').hidden = !hasThreads();
  if ($('threads').hidden) return;
  const old = $('of').value;
  $('of').replaceChildren(make('option', { value: '', textContent: 'none' }), ...slots.map(s => make('option', { value: s.name, textContent: s.name })));
  if (slots.some(s => s.name === old)) $('of').value = old;
}

function listenToThreads() {
  $('of').onchange = $('in').onchange = showThreads;
  $('arrays').addEventListener('mousemove', e => {
    const view = touches && views.find(v => v.canvas === e.target && v.number === touches.array);
    if (!view) return;
    view.canvas.dataset.tip = describeTouches(view, view.at(e.offsetX, e.offsetY));
    showTip(null);
    showTip(view.canvas);
  });
}

// The blocks of the step's program; the block that was chosen stays if it is still there.
function fillBlocks(view) {
  const old = $('in').value, options = [...view.keys].map(([value, text]) => make('option', { value, textContent: text }));
  $('in').replaceChildren(...options);
  $('in').disabled = !options.length;
  if (view.keys.has(old)) $('in').value = old;
}

// Alone, it has room for large cells.
function showThreads() {
  touches = chosenTouches();
  fitArrays();
}

// The threads of the step's program: a call may bind loops and change no access.
function showBound(trace) {
  threads = touches = null;
  if ($('threads').hidden) return;
  threads = new ThreadView(trace, afterStep().tree);
  fillBlocks(threads);
  touches = chosenTouches();
}

function chosenTouches() {
  const trace = cache.trace, array = trace.arrays.findIndex(a => a.name === $('of').value);
  views.forEach(v => delete v.canvas.dataset.tip);
  const found = array >= 0 && threads.keys.size ? threads.touches(array, $('in').value) : null;
  $('who').textContent = !threads.keys.size ? 'No loop is bound to threads, parallel or vectorized here.' : found ? touchesText(found) : '';
  return found;
}

function describeTouches(view, element) {
  const by = touches.of[element], most = 8;
  const name = view.array.name + indexText(view.array.shape, element);
  if (!by) return `${name}: no thread of this block`;
  const words = ['', 'reads it', 'writes it', 'reads and writes it'];
  const list = [...by].slice(0, most).map(([thread, how]) => `thread (${touches.names.get(thread)}) ${words[how]}`);
  return [name, ...list, ...by.size > most ? [`${by.size - most} more`] : []].join('\n');
}

// "32 threads of 32, 8 elements each, 4 of several"
function touchesText(touches) {
  const own = new Map();
  let shared = 0;
  for (const by of touches.of) {
    if (!by) continue;
    shared += by.size > 1;
    for (const thread of by.keys()) own.set(thread, (own.get(thread) || 0) + 1);
  }
  const counts = [...own.values()], least = Math.min(...counts), most = Math.max(...counts);
  if (!counts.length) return 'No thread of this block.';
  return `${count(counts.length, 'thread', 'threads')} of ${touches.threads}, ${least === most ? least : `${least} to ${most}`} elements each` +
    (touches.scope === 'local' ? ', its own' : shared ? `, ${shared} of several` : '');
}

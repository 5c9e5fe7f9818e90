// The accesses of the small instance, one after the other, on the arrays.
'use strict';

let cache = null, views = [], slots = [];

// The trace of the program after a step, numbered as in the whole schedule.
function traceAfter(k) {
  const number = k ? data.steps[k - 1].number : data.steps.length ? data.steps[0].number - 1 : 0;
  return run.traceOf[number];
}
function traceNumber(i) {
  if (!traces.has(i)) traces.set(i, unpackTrace(run.traces[i]));
  return traces.get(i);
}

// Cells of an array: rows of its last dimension; a long vector is folded.
function grid(shape) {
  const count = shape.reduce((x, y) => x * y, 1), columns = shape.length ? shape[shape.length - 1] : 1;
  if (count === columns && columns > 64) return { columns: 64, rows: Math.ceil(count / 64) };
  return { columns, rows: columns ? count / columns : 0 };
}

// --- places ----------------------------------------------------------------------------------

// One for each array that any step has, so that none moves when another comes or goes: parameters first.
function buildSlots() {
  const found = new Map();
  for (const p of data.programs[0].tree.filter(n => n.kind === 'function').flatMap(n => n.params || [])) found.set(p.buffer, null);
  for (const t of run.traces)
    for (const a of t.arrays) {
      const { columns, rows } = grid(a.shape), s = found.get(a.name) || { name: a.name, columns: 1, rows: 1 };
      found.set(a.name, { ...s, columns: Math.max(s.columns, columns), rows: Math.max(s.rows, rows) });
    }
  slots = [...found.values()].filter(s => s);
  for (const s of slots) {
    s.what = make('i', {});
    s.caption = make('span', {});
    s.canvas = make('canvas', {});
    s.canvas.setAttribute('role', 'img');
    s.element = make('figure', {}, make('figcaption', {}, make('b', { textContent: s.name }), s.what, s.caption), s.canvas);
    s.element.dataset.array = s.name;
  }
  $('arrays').replaceChildren(...slots.map(s => s.element));
}

// The largest cells with which all arrays are seen at once, or the one whose threads are; when there are none, small ones,
// and the pane scrolls.
function placeSlots() {
  const shown = slots.filter(s => !$('of').value || s.name === $('of').value);
  const width = $('arrays').clientWidth - 4, height = $('arrays').clientHeight, gap = 14, narrowest = Math.min(width, 180);
  const place = most => {
    let x = 0, y = 0, row = 0;
    for (const s of shown) {
      s.cell = Math.max(2, Math.min(most, Math.floor(width / s.columns)));
      s.cellHeight = Math.max(2, Math.min(most, 4 * s.cell));
      s.width = Math.max(narrowest, s.columns * s.cell + 2);
      s.height = s.rows * s.cellHeight + (s.width < 300 ? 36 : 18) + 6; // names of narrow ones stand above the counts
      if (x && x + s.width > width) [x, y, row] = [0, y + row, 0];
      x += s.width + gap;
      row = Math.max(row, s.height + 4);
    }
    return y + row <= height;
  };
  let most = 20;
  while (most > 2 && !place(most)) most--;
  if (most === 2 && !place(2)) place(4);
  for (const s of slots) s.element.hidden = !shown.includes(s);
  for (const s of shown) {
    s.element.style.width = s.width + 'px';
    s.element.style.height = s.height + 'px';
    s.element.classList.toggle('narrow', s.width < 300);
  }
}

// --- one array -------------------------------------------------------------------------------

class ArrayView {
  constructor(array, number) {
    Object.assign(this, { array, number }, grid(array.shape));
    const slot = slots.find(s => s.name === array.name);
    Object.assign(this, { slot, canvas: slot.canvas, caption: slot.caption });
    slot.what.textContent = `${array.dtype}[${array.shape.join(', ')}]`;
  }
  fit() {
    const ratio = window.devicePixelRatio || 1, { cell, cellHeight } = this.slot;
    Object.assign(this, { w: cell, h: cellHeight });
    this.canvas.width = this.columns * cell * ratio;
    this.canvas.height = this.rows * cellHeight * ratio;
    this.canvas.style.width = this.columns * cell + 'px';
    this.canvas.style.height = this.rows * cellHeight + 'px';
    this.context = this.canvas.getContext('2d');
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }
  place(i) {
    return [i % this.columns * this.w, Math.floor(i / this.columns) * this.h];
  }
  square(i) {
    const [x, y] = this.place(i), gap = this.w > 3 ? 1 : 0;
    this.context.fillRect(x, y, this.w - gap, this.h - (this.h > 3 ? 1 : 0));
  }
  at(x, y) { return Math.floor(y / this.h) * this.columns + Math.floor(x / this.w); }
  // What several threads touch has the colour of the first, and in it that of the last.
  paintThreads(colours) {
    const g = this.context;
    g.fillStyle = this.w > 4 ? colours.soft : colours.panel;
    g.fillRect(0, 0, this.columns * this.w, this.rows * this.h);
    touches.of.forEach((by, i) => {
      const [x, y] = this.place(i), of = by && [...by.keys()];
      g.fillStyle = by ? threadColour(of[0], touches.threads) : colours.panel;
      this.square(i);
      if (!by || of.length === 1 || this.w < 6 || this.h < 6) return;
      g.fillStyle = threadColour(of[of.length - 1], touches.threads);
      g.fillRect(x + this.w / 4, y + this.h / 4, this.w / 2, this.h / 2);
    });
  }
  // Elements that nothing has touched are empty; the last accesses fade into what is known of the others.
  paint(trace, time, colours) {
    const g = this.context, a = this.array, touched = cache.touched[this.number];
    const n = cache.hits[this.number] + cache.misses[this.number];
    this.caption.textContent = n ? `${accesses(n)}, ${misses(cache.misses[this.number])}` : 'not accessed yet';
    this.canvas.setAttribute('aria-label', `Array ${a.name}: ${this.caption.textContent}`);
    g.globalAlpha = 1;
    if (touches && touches.array === this.number) return this.paintThreads(colours);
    g.fillStyle = this.w > 4 ? colours.soft : colours.panel;
    g.fillRect(0, 0, this.columns * this.w, this.rows * this.h);
    g.fillStyle = colours.panel;
    for (let i = 0; i < a.count; i++) if (!touched[i]) this.square(i);
    g.fillStyle = colours.touched;
    for (let i = 0; i < a.count; i++) if (touched[i]) this.square(i);
    g.fillStyle = colours.cached;
    const perLine = Math.max(1, cache.line / a.bytes), begin = a.base / a.bytes;
    for (const set of cache.content)
      for (const line of set) {
        const first = line * perLine - begin;
        for (let i = Math.max(0, Math.ceil(first)); i < Math.min(a.count, first + perLine); i++) if (touched[i]) this.square(i);
      }
    const trail = 48;
    for (let i = Math.max(0, time - trail); i < time; i++) {
      if (trace.array[i] !== this.number) continue;
      const now = i >= time - 1, [x, y] = this.place(trace.element[i]);
      g.globalAlpha = now ? 1 : .15 + .6 * (1 - (time - i) / trail);
      g.fillStyle = trace.write[i] ? colours.write : colours.read;
      this.square(trace.element[i]);
      if (!cache.missed[i]) continue;
      g.strokeStyle = colours.miss;
      g.lineWidth = now ? 2 : 1;
      g.strokeRect(x + .5, y + .5, this.w - 1, this.h - 1);
    }
  }
}

function clearSlot(slot) {
  slot.what.textContent = 'not in this program';
  slot.caption.textContent = '';
  slot.canvas.width = slot.canvas.height = 0;
  slot.canvas.style.width = slot.canvas.style.height = 0;
  slot.canvas.setAttribute('aria-label', `Array ${slot.name}: not in this program`);
}

// --- all of them -----------------------------------------------------------------------------

function settings() {
  return [Number($('size').value), Number($('line').value), Number($('ways').value)];
}

function buildSettings() {
  const option = (text, value) => make('option', { value, textContent: text });
  for (let s = 256; s <= 65536; s *= 2) $('size').append(option(size(s), s));
  for (const l of [16, 32, 64, 128]) $('line').append(option(l + ' B', l));
  for (const w of [1, 2, 4, 8, 16]) $('ways').append(option(w, w));
  $('line').value = 64;
  $('ways').value = 4;
  for (const id of ['size', 'line', 'ways']) $(id).onchange = () => { showAccesses(false); showChart(); };
}

// Some of the arrays fit, not all.
function chooseCache() {
  const most = run ? Math.max(...run.traces.map(placeArrays)) : 0;
  let s = 512;
  while (s < most / 6 && s < 32768) s *= 2;
  $('size').value = s;
}

const canPlay = on => { for (const id of ['play', 'time', 'speed', 'size', 'line', 'ways']) $(id).disabled = !on; };

// Why there is nothing to play.
function showNoRun() {
  $('where').textContent = 'No instance of the program was found that is small enough and in which every call ends as it does here; ' +
    '--instance NAME=VALUE sets one.';
  canPlay(false);
}

// The arrays and the cache of the step; keeps how far the run is, as a part of it.
function showAccesses(fresh) {
  if (!run) return;
  const trace = traceNumber(traceAfter(state.step)), same = cache && cache.trace === trace;
  const time = fresh && !same ? Math.round((cache ? cache.at / (cache.trace.n || 1) : 0) * trace.n) : state.time;
  cache = new Cache(trace, ...settings());
  if (!same) {
    const names = new Set(trace.arrays.map(a => a.name));
    for (const s of slots) {
      s.element.classList.toggle('absent', !names.has(s.name));
      if (!names.has(s.name)) clearSlot(s);
    }
    views = trace.arrays.map((a, i) => new ArrayView(a, i));
    views.forEach(v => v.fit());
    $('time').max = trace.n;
  }
  showBound(trace);
  showOnArray(trace);
  const note = trace.failure ? `; it stops: ${trace.failure}` : trace.whole ? '' : `, the first ${trace.n}`;
  $('instance').textContent = (run.setting ? `of a small instance, ${run.setting}` : 'of the program') + note;
  $('instance').parentElement.dataset.tip = $('instance').textContent;
  showTime(time);
}

const style = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();

function showTime(time) {
  const trace = cache && cache.trace;
  if (!trace) return;
  state.time = Math.max(0, Math.min(trace.n, time));
  cache.go(state.time);
  const colours = Object.fromEntries(['panel', 'soft', 'touched', 'cached', 'read', 'write', 'miss'].map(n => [n, style(n)]));
  views.forEach(v => v.paint(trace, state.time, colours));
  $('time').value = state.time;
  $('when').value = `${state.time} / ${trace.n}`;
  const last = state.time - 1, instance = last >= 0 ? blockAt(trace, last) : null;
  $('access').textContent = instance ? describeAccess(trace, last) : 'Press Play, or move the slider.';
  $('total').textContent = `${count(cache.at - cache.total(), 'hit', 'hits')}, ${misses(cache.total())}`;
  $('where').textContent = instance ? describeInstance(trace, instance) : '';
  lightTree(trace, instance);
}

function indexText(shape, element) {
  const index = [];
  for (let d = shape.length - 1; d >= 0; d--) {
    index.unshift(element % shape[d]);
    element = Math.floor(element / shape[d]);
  }
  return `[${index.join(', ')}]`;
}

function describeAccess(trace, i) {
  const array = trace.arrays[trace.array[i]];
  return `${trace.write[i] ? 'writes' : 'reads'} ${array.name}${indexText(array.shape, trace.element[i])}, ${cache.missed[i] ? 'a miss' : 'a hit'}`;
}

function describeInstance(trace, instance) {
  const block = trace.blocks[instance.block], loops = block.loops.map((l, k) => `${l} = ${instance.values[k]}`);
  const thread = threads ? threads.describe(instance) : '';
  return `block ${block.name}${loops.length ? ': ' : ''}${loops.join(', ')}${thread ? '; ' : ''}${thread}`;
}

function play(on) {
  state.playing = on && !!cache && cache.trace.n > 0;
  $('play').textContent = state.playing ? 'Pause' : 'Play';
  if (!state.playing) return;
  if (state.time === cache.trace.n) showTime(0);
  const calm = matchMedia('(prefers-reduced-motion: reduce)');
  let last = performance.now(), owed = 0;
  const frame = now => {
    if (!state.playing) return;
    const speed = Number($('speed').value);
    owed += (now - last) / 1000 * speed;
    last = now;
    if (owed >= (calm.matches ? speed / 2 : 1)) { // then the picture changes twice a second
      showTime(state.time + Math.floor(owed));
      owed -= Math.floor(owed);
    }
    if (state.time === cache.trace.n) play(false); else requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

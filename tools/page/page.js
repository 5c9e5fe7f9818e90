// The page: which step and which access are shown, and everything that follows from that.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const state = { step: 0, time: 0, playing: false };
const run = data.run, traces = new Map();
const count = (n, one, many) => `${n} ${n === 1 ? one : many}`;
const misses = n => count(n, 'miss', 'misses'), accesses = n => count(n, 'access', 'accesses');
const size = bytes => bytes < 1024 ? bytes + ' B' : bytes / 1024 + ' KiB';

function make(tag, properties, ...children) {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
}

// The step that is shown; null: the program before the first one.
const current = () => state.step ? data.steps[state.step - 1] : null;

// --- script ----------------------------------------------------------------------------------

function buildScript() {
  data.script.replace(/\n$/, '').split('\n').forEach((text, i) => {
    const steps = data.steps.map((s, k) => s.line === i + 1 ? k + 1 : 0).filter(k => k);
    const li = make('li', {});
    if (!steps.length) li.append(make('span', { innerHTML: colour(text) || ' ' }));
    else {
      const b = make('button', { type: 'button', innerHTML: colour(text) });
      // A line of a loop has several steps: the next one.
      b.onclick = () => show(steps.find(k => k > state.step) || steps[0]);
      li.append(b);
    }
    li.dataset.first = steps[0] || '';
    $('script').append(li);
  });
}

function lightScript() {
  const step = current(), end = !step && data.error && !data.steps.length ? data.error : null;
  [...$('script').children].forEach((li, i) => {
    const lit = (step ? step.line : end ? end.line : 0) === i + 1;
    li.classList.toggle('lit', lit);
    li.classList.toggle('refused', lit && !!(end || step.error));
    li.classList.toggle('todo', !!li.dataset.first && Number(li.dataset.first) > state.step);
    const b = li.querySelector('button');
    if (b) lit ? b.setAttribute('aria-current', 'step') : b.removeAttribute('aria-current');
    if (lit) reveal($('script'), li);
  });
}

// Scrolls a box, never the page.
function reveal(box, child) {
  const top = child.offsetTop - box.offsetTop;
  if (top < box.scrollTop || top + child.offsetHeight > box.scrollTop + box.clientHeight)
    box.scrollTop = Math.max(0, top - box.clientHeight / 3);
}

// --- program ---------------------------------------------------------------------------------

function escape(text) {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

function colour(line) {
  const tokens = /(#.*$)|("[^"]*"|'[^']*')|\b(for|in|with|if|elif|else|while|def|return|and|or|not|lambda|assert|try|except|as|class|from|import|pass)\b|(@?\bT\.[\w.]+)/g;
  let out = '', at = 0;
  for (const m of line.matchAll(tokens)) {
    out += escape(line.slice(at, m.index));
    out += `<span class="${m[1] ? 'c' : m[2] ? 's' : 'k'}">${escape(m[0])}</span>`;
    at = m.index + m[0].length;
  }
  return out + escape(line.slice(at));
}

function programLine(text, kind, number) {
  const e = make('span', { className: 'l ' + kind, innerHTML: colour(text) || ' ' });
  if (number) e.dataset.line = number;
  return e;
}

// An error that came without a call ends the script after the last step.
function errorShown() {
  const step = current();
  if (step && step.error) return step.error;
  const last = data.steps[data.steps.length - 1];
  return data.error && state.step === data.steps.length && !(last && last.error) ? data.error : null;
}

function showProgram() {
  const step = current(), pre = $('program'), error = errorShown();
  const after = data.programs[step ? step.after : data.steps.length ? data.steps[0].before : 0].text.split('\n');
  const before = step ? data.programs[step.before].text.split('\n') : [];
  const lines = [];
  let added = 0, removed = 0;
  if (error && error.ir)
    for (const text of error.ir.replace(/\n$/, '').split('\n')) lines.push(programLine(text, /^\s*\^+$/.test(text) ? 'caret' : ''));
  else if (step && step.diff)
    for (const [op, from, to] of step.diff) {
      added += op === '+';
      removed += op === '-';
      lines.push(programLine(op === '-' ? before[from - 1] : after[to - 1],
        { '+': 'add', '-': 'del', '>': 'moved', ' ': '' }[op], to));
    }
  else after.forEach((text, i) => { if (text || i < after.length - 1) lines.push(programLine(text, '', i + 1)); });
  pre.replaceChildren(...lines);
  $('change').textContent = error ? 'unchanged' : !step ? 'before the first call'
    : step.diff ? `+${added} −${removed} lines` : 'unchanged';
  const first = lines.find(l => /add|del|caret/.test(l.className));
  pre.scrollTop = 0;
  if (first) reveal(pre, first);
  showError(error);
}

function showError(error) {
  $('error').hidden = !error;
  if (!error) return;
  const part = (title, text) => text ? [make('p', {}, make('b', { textContent: title + ': ' }), text)] : [];
  $('error').replaceChildren(
    make('p', {}, make('b', { textContent: `${error.call ? 'ScheduleError' : 'Error'} [${error.code}]: ` }), error.message),
    ...part('Condition', error.condition), ...part('Hint', error.hint));
}

// --- loop tree -------------------------------------------------------------------------------

function showTree() {
  const step = current();
  const tree = data.programs[step ? step.after : data.steps.length ? data.steps[0].before : 0].tree;
  const svg = drawTree(tree, step && data.programs[step.before].tree);
  $('tree').replaceChildren(svg);
  for (const g of svg.querySelectorAll('[data-line]')) {
    const line = () => $('program').querySelector(`[data-line="${g.dataset.line}"]`);
    g.onmouseenter = () => line() && line().classList.add('here');
    g.onmouseleave = () => line() && line().classList.remove('here');
  }
  const kinds = new Set(tree.filter(n => n.kind === 'loop').map(n => n.loop));
  $('kinds').replaceChildren(...[...kinds].map(k => {
    const li = make('li', { textContent: k.replace('_', ' ') });
    li.style.setProperty('--swatch', `var(--${k})`);
    return li;
  }));
}

// Lights the block that runs, and fills the loops around it as far as they have come.
function lightTree(trace, instance) {
  const svg = $('tree').firstChild;
  for (const e of svg.querySelectorAll('.active')) e.classList.remove('active');
  for (const e of svg.querySelectorAll('.fill')) e.setAttribute('width', 0);
  if (!instance) return;
  const block = trace.blocks[instance.block];
  const g = [...svg.querySelectorAll('g.block')].find(e => e.dataset.name === block.name);
  if (g) g.classList.add('active');
  // The nearest loop of the name above the block: names may come again in other nests.
  let e = g;
  for (let k = block.loops.length - 1; k >= 0 && e; k--) {
    let up = e.previousElementSibling;
    while (up && !(up.classList.contains('loop') && up.dataset.name === block.loops[k])) up = up.previousElementSibling;
    if (!up) continue;
    e = up;
    const fill = up.querySelector('.fill');
    fill.setAttribute('width', fill.dataset.width * (instance.values[k] + 1) / trace.extents[instance.block][k]);
  }
}

// --- accesses --------------------------------------------------------------------------------

function traceNow() {
  if (!run || !run.traces.length) return null;
  const step = current(), number = step ? step.number : data.steps.length ? data.steps[0].number - 1 : 0;
  return traceNumber(run.traceOf[number]);
}
function traceNumber(i) {
  if (!traces.has(i)) traces.set(i, unpackTrace(run.traces[i]));
  return traces.get(i);
}

let cache = null, views = [];

// Cells of an array: rows of its last dimension.
class ArrayView {
  constructor(array, number) {
    this.array = array;
    this.number = number;
    this.columns = array.shape.length ? array.shape[array.shape.length - 1] : 1;
    this.rows = this.columns ? array.count / this.columns : 0;
    if (this.rows === 1 && this.columns > 64) { // a vector, folded
      this.columns = 64;
      this.rows = Math.ceil(array.count / 64);
    }
    this.canvas = make('canvas', {});
    this.canvas.setAttribute('role', 'img');
    this.caption = make('span', {});
    this.element = make('figure', { className: this.columns > 40 ? 'wide' : '' },
      make('figcaption', {}, make('b', { textContent: array.name }), ` ${array.dtype}[${array.shape.join(', ')}] `, this.caption),
      make('div', { className: 'scroll' }, this.canvas));
  }
  fit() {
    const width = this.element.clientWidth || 320;
    const cell = Math.floor(Math.min(width / this.columns, 300 / this.rows));
    this.cell = Math.max(3, Math.min(20, cell));
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = this.columns * this.cell * ratio;
    this.canvas.height = this.rows * this.cell * ratio;
    this.canvas.style.width = this.columns * this.cell + 'px';
    this.canvas.style.height = this.rows * this.cell + 'px';
    this.context = this.canvas.getContext('2d');
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }
  square(i, grow = 0) {
    const gap = this.cell > 4 ? 1 : 0, c = this.cell;
    this.context.fillRect(i % this.columns * c - grow, Math.floor(i / this.columns) * c - grow, c - gap + 2 * grow, c - gap + 2 * grow);
  }
  paint(trace, time, colours) {
    const g = this.context, a = this.array;
    g.globalAlpha = 1;
    g.clearRect(0, 0, this.canvas.width, this.canvas.height);
    g.fillStyle = colours.cell;
    for (let i = 0; i < a.count; i++) this.square(i);
    g.fillStyle = colours.cached;
    const perLine = Math.max(1, cache.line / a.bytes), begin = a.base / a.bytes;
    for (const set of cache.content)
      for (const line of set) {
        const first = line * perLine - begin;
        for (let i = Math.max(0, Math.ceil(first)); i < Math.min(a.count, first + perLine); i++) this.square(i);
      }
    const trail = 48;
    for (let i = Math.max(0, time - trail); i < time; i++) {
      if (trace.array[i] !== this.number) continue;
      const now = i >= time - 1;
      g.globalAlpha = now ? 1 : .15 + .6 * (1 - (time - i) / trail);
      g.fillStyle = trace.write[i] ? colours.write : colours.read;
      this.square(trace.element[i]);
      if (!cache.missed[i]) continue;
      g.strokeStyle = colours.miss;
      g.lineWidth = now ? 2 : 1;
      const e = trace.element[i], c = this.cell;
      g.strokeRect(e % this.columns * c, Math.floor(e / this.columns) * c, c - 1, c - 1);
    }
    this.caption.textContent = `${accesses(cache.hits[this.number] + cache.misses[this.number])}, ${misses(cache.misses[this.number])}`;
    this.canvas.setAttribute('aria-label', `Array ${a.name}: ${this.caption.textContent}`);
  }
}

function settings() {
  return [Number($('size').value), Number($('line').value), Number($('ways').value)];
}

function buildSettings() {
  const option = (text, value) => make('option', { value, textContent: text });
  for (let s = 256; s <= 65536; s *= 2) $('size').append(option(size(s), s));
  for (const l of [16, 32, 64, 128]) $('line').append(option(l + ' B', l));
  for (const w of [1, 2, 4, 8, 16]) $('ways').append(option(w, w));
  const most = run ? Math.max(...run.traces.map(placeArrays)) : 0;
  let s = 512;
  while (s < most / 6 && s < 32768) s *= 2; // some of the arrays fit, not all
  $('size').value = s;
  $('line').value = 64;
  $('ways').value = 4;
  for (const id of ['size', 'line', 'ways']) $(id).onchange = () => { showAccesses(false); showChart(); };
}

// The arrays and the cache of the step; keeps how far the run is, as a part of it.
function showAccesses(fresh) {
  const trace = traceNow();
  $('run').hidden = $('cache').hidden = !trace;
  if (!trace) return;
  const part = cache && fresh ? cache.at / (cache.trace.n || 1) : 0;
  const time = fresh ? Math.round(part * trace.n) : state.time;
  cache = new Cache(trace, ...settings());
  if (fresh || !views.length) {
    views = trace.arrays.map((a, i) => new ArrayView(a, i));
    $('arrays').replaceChildren(...views.map(v => v.element));
    views.forEach(v => v.fit());
    $('time').max = trace.n;
  }
  const note = trace.failure ? `It stops: ${trace.failure}` : trace.whole ? '' : `, the first ${trace.n} accesses`;
  $('instance').textContent = (run.setting ? `of a small instance, ${run.setting}` : 'of the program') + note;
  showTime(time);
}

const style = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();

function showTime(time) {
  const trace = cache && cache.trace;
  if (!trace) return;
  state.time = Math.max(0, Math.min(trace.n, time));
  cache.go(state.time);
  const colours = Object.fromEntries(['cell', 'cached', 'read', 'write', 'miss'].map(n => [n, style(n)]));
  views.forEach(v => v.paint(trace, state.time, colours));
  $('time').value = state.time;
  $('when').value = `${state.time} / ${trace.n}`;
  const last = state.time - 1, instance = last >= 0 ? blockAt(trace, last) : null;
  $('where').textContent = instance ? describe(trace, instance, last) : 'Press Play, or move the slider.';
  lightTree(trace, instance);
  showStats(trace);
}

function describe(trace, instance, i) {
  const block = trace.blocks[instance.block], array = trace.arrays[trace.array[i]];
  const index = [];
  let rest = trace.element[i];
  for (let d = array.shape.length - 1; d >= 0; d--) {
    index.unshift(rest % array.shape[d]);
    rest = Math.floor(rest / array.shape[d]);
  }
  return `block ${block.name}: ${block.loops.map((l, k) => `${l} = ${instance.values[k]}`).join(', ')} — ` +
    `${trace.write[i] ? 'writes' : 'reads'} ${array.name}[${index.join(', ')}], ${cache.missed[i] ? 'a miss' : 'a hit'}`;
}

function showStats(trace) {
  const row = (name, hits, missed) => {
    const bar = make('span', { className: 'bar' }), i = make('i', {}), rate = hits + missed ? missed / (hits + missed) : 0;
    i.style.width = 100 * rate + '%';
    bar.append(i);
    bar.title = (100 * rate).toFixed(1) + '% misses';
    return make('tr', {}, make('td', { textContent: name }), make('td', { textContent: hits }),
      make('td', { textContent: missed }), make('td', {}, bar));
  };
  const sum = list => list.reduce((x, y) => x + y, 0);
  $('stats').replaceChildren(...trace.arrays.map((a, i) => row(a.name, cache.hits[i], cache.misses[i])),
    row('all', sum(cache.hits), sum(cache.misses)));
}

// --- what the steps buy ----------------------------------------------------------------------

function missesOf(i) {
  const t = traceNumber(i), c = new Cache(t, ...settings());
  c.go(t.n);
  return { misses: c.total(), accesses: t.n, whole: t.whole };
}

// One trace at a time, so that the page stays quick to the touch; a newer call ends an older one.
function showChart() {
  if (!run) return;
  const known = new Map(), numbers = [], round = ++showChart.round;
  const first = data.steps.length ? data.steps[0].number - 1 : 0;
  for (let k = 0; k <= data.steps.length; k++) numbers.push(run.traceOf[k ? data.steps[k - 1].number : first]);
  const next = () => {
    if (round !== showChart.round) return;
    const i = numbers.find(i => !known.has(i));
    if (i === undefined) return drawChart(numbers.map(i => known.get(i)));
    known.set(i, missesOf(i));
    setTimeout(next);
  };
  setTimeout(next);
}
showChart.round = 0;

function drawChart(bars) {
  const most = Math.max(1, ...bars.map(b => b.misses));
  $('chart').replaceChildren(...bars.map((b, k) => {
    const words = `${k ? `Step ${data.steps[k - 1].number}, ${data.steps[k - 1].primitive}` : 'Before the first call'}: ${misses(b.misses)} in ${accesses(b.accesses)}`;
    const bar = make('button', { type: 'button', title: words, onclick: () => show(k) }), i = make('i', {});
    bar.setAttribute('aria-label', words);
    i.style.height = 100 * b.misses / most + '%';
    bar.append(i);
    return bar;
  }));
  lightChart(bars);
}

function lightChart(bars) {
  bars = bars || lightChart.bars;
  lightChart.bars = bars;
  if (!bars) return;
  [...$('chart').children].forEach((b, k) => b.classList.toggle('now', k === state.step));
  const now = bars[state.step], before = bars[Math.max(0, state.step - 1)];
  const against = now.whole && bars[0].whole && bars[0].misses
    ? ` (${(now.misses / bars[0].misses).toFixed(2)} of the unscheduled program's)` : '';
  const difference = now.misses - before.misses;
  $('verdict').textContent = `${misses(now.misses)} in ${accesses(now.accesses)}${against}` +
    (state.step && difference ? `: this step ${difference < 0 ? 'saves' : 'costs'} ${Math.abs(difference)}.` : '.');
}

// --- steps, keys, theme ----------------------------------------------------------------------

function show(k) {
  state.step = Math.max(0, Math.min(data.steps.length, k));
  const step = current(), error = errorShown();
  $('slider').value = state.step;
  $('slider').setAttribute('aria-valuetext', step ? `step ${step.number}: ${step.sentence}` : 'before the first call');
  $('count').value = `${state.step} / ${data.steps.length}`;
  $('sentence').textContent = step ? step.sentence : 'The program before the first call.';
  $('sentence').classList.toggle('refused', !!error);
  $('call').textContent = step ? step.call : '';
  $('previous').disabled = state.step === 0;
  $('next').disabled = state.step === data.steps.length;
  lightScript();
  showProgram();
  showTree();
  showAccesses(true);
  lightChart();
  try { history.replaceState(null, '', '#step=' + state.step); } catch (e) { /* a file that has no address */ }
}

function play(on) {
  state.playing = on && !!cache && cache.trace.n > 0;
  $('play').textContent = state.playing ? 'Pause' : 'Play';
  if (!state.playing) return;
  if (state.time === cache.trace.n) showTime(0);
  let last = performance.now(), owed = 0;
  const frame = now => {
    if (!state.playing) return;
    owed += (now - last) / 1000 * Number($('speed').value);
    last = now;
    if (owed >= 1) {
      showTime(state.time + Math.floor(owed));
      owed -= Math.floor(owed);
    }
    if (state.time === cache.trace.n) play(false); else requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

function theme(name) {
  document.documentElement.dataset.theme = name;
  $('theme').textContent = name === 'dark' ? 'Light' : 'Dark';
  $('theme').setAttribute('aria-pressed', name === 'dark');
  showTime(state.time);
}

function onKey(e) {
  if (e.ctrlKey || e.altKey || e.metaKey || e.target.tagName === 'SELECT') return;
  const range = e.target.type === 'range', button = e.target.tagName === 'BUTTON';
  const scrolls = e.target.classList.contains('code') && /^(Home|End)$/.test(e.key);
  const actions = {
    ArrowLeft: () => show(state.step - 1), ArrowRight: () => show(state.step + 1),
    Home: () => show(0), End: () => show(data.steps.length),
    ' ': () => play(!state.playing), ',': () => showTime(state.time - 1), '.': () => showTime(state.time + 1),
    t: () => theme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'),
  };
  const action = actions[e.key];
  if (!action || scrolls || (range && e.key.length > 1) || (button && e.key === ' ')) return;
  e.preventDefault();
  action();
}

function start() {
  const name = path => path.split('/').pop();
  $('title').textContent = `${name(data.programFile)} — ${name(data.scriptFile)}`;
  document.title = $('title').textContent + ' — tirc step';
  $('subtitle').textContent = `${data.programFile}, ${data.scriptFile}: ${data.steps.length} calls` + (data.error ? ', the script fails' : '');
  $('slider').max = data.steps.length;
  $('slider').oninput = () => show(Number($('slider').value));
  $('previous').onclick = () => show(state.step - 1);
  $('next').onclick = () => show(state.step + 1);
  $('play').onclick = () => play(!state.playing);
  $('time').oninput = () => { play(false); showTime(Number($('time').value)); };
  $('theme').onclick = () => theme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
  document.addEventListener('keydown', onKey);
  addEventListener('resize', () => { views.forEach(v => v.fit()); showTime(state.time); });
  theme(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', e => theme(e.matches ? 'dark' : 'light'));
  buildScript();
  buildSettings();
  const wanted = /step=(\d+)/.exec(location.hash);
  show(wanted ? Number(wanted[1]) : 0);
  showChart();
}

start();

// The array of processing elements at a time: which element touches which items of an array, and who had them before. A stamp
// is what the loops outside of the array's stand at, a skewed one later by the element's coordinates.
'use strict';

let onArray = null; // the step's run, as an array has it, or null

const skewOf = node => {
  const found = /"?pe_skew"?\s*:\s*[[(]([-\d, ]+)/.exec(node.annotations || '');
  return found ? found[1].split(',').map(Number) : [];
};

// Of each block of the trace that is on the array: where its loops are, as axes and as time.
function blocksOnArray(trace, tree) {
  const open = [], found = new Map();
  for (const node of tree) {
    while (open.length && open[open.length - 1].depth >= node.depth) open.pop();
    open.push(node);
    if (node.kind !== 'block' || found.has(node.name)) continue;
    const loops = open.filter(n => n.kind === 'loop'), bound = loops.filter(n => /^pe\.[xyz]$/.test(n.thread || ''));
    if (bound.length) found.set(node.name, { loops, bound });
  }
  return trace.blocks.map(b => {
    const at = found.get(b.name);
    if (!at) return null;
    const place = n => b.loops.lastIndexOf(n.name), last = Math.max(...at.bound.map(place));
    return {
      axes: AXES.map(x => { const n = at.bound.find(l => l.thread === 'pe.' + x); return n ? place(n) : -1; }),
      time: at.loops.filter(n => !at.bound.includes(n) && place(n) >= 0 && place(n) < last)
        .map(n => ({ name: n.name, at: place(n), skew: skewOf(n) })),
    };
  });
}

const compareStamps = (a, b) => {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i] - b[i];
  return 0;
};

// From whom an element may take: as the description of the array says, or from those next to it.
const linksOf = () => data.array || { deltas: [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]],
  same_time: true, prev_time: true, self_prev: true };

class ArrayOfElements {
  constructor(trace, tree) {
    this.blocks = blocksOnArray(trace, tree);
    this.size = [1, 1, 1];
    const stamps = new Map();
    trace.starts.forEach((s, i) => {
      const b = this.blocks[s.block];
      if (!b) return;
      const pe = valuesAt(b.axes, s.values);
      const when = b.time.map(t => s.values[t.at] + pe.reduce((sum, x, d) => sum + x * (t.skew[d] || 0), 0));
      const key = when.join(), end = i + 1 < trace.starts.length ? trace.starts[i + 1].at : trace.n;
      pe.forEach((x, d) => { this.size[d] = Math.max(this.size[d], x + 1); });
      this.names = b.time.map(t => t.name);
      if (!stamps.has(key)) stamps.set(key, { when, held: new Map() });
      const { held } = stamps.get(key), place = pe.join();
      if (!held.has(place)) held.set(place, trace.arrays.map(() => new Set()));
      for (let at = s.at; at < end; at++) held.get(place)[trace.array[at]].add(trace.element[at]);
    });
    this.stamps = [...stamps.values()].sort((a, b) => compareStamps(a.when, b.when));
  }
  // The items of array number `array` that the element at `pe` touches at stamp number `k`.
  items(k, pe, array) {
    const held = k >= 0 ? this.stamps[k].held.get(pe.join()) : null;
    return held ? held[array] : new Set();
  }
  // Who of those that it may take from had an item at the stamp before, or has it now.
  sources(k, pe, array, item) {
    const found = [], links = linksOf();
    if (links.self_prev && this.items(k - 1, pe, array).has(item)) found.push({ from: pe, when: 'before' });
    for (const delta of links.deltas) {
      const from = pe.map((x, d) => x + (delta[d] || 0));
      if (from.some((x, d) => x < 0 || x >= this.size[d]) || from.join() === pe.join()) continue;
      if (links.prev_time && this.items(k - 1, from, array).has(item)) found.push({ from, when: 'before' });
      else if (links.same_time && this.items(k, from, array).has(item)) found.push({ from, when: 'now' });
    }
    return found;
  }
}

// --- the picture -----------------------------------------------------------------------------

const hasElements = () => !!run && data.programs.some(p => p.tree.some(n => /^pe\./.test(n.thread || '')));

function buildElements() {
  $('pes').hidden = $('elements').hidden = $('handed').hidden = !hasElements();
  if ($('pes').hidden) return;
  const old = $('items').value;
  $('items').replaceChildren(...slots.map(s => make('option', { value: s.name, textContent: s.name })));
  if (slots.some(s => s.name === old)) $('items').value = old;
  $('items').onchange = $('stamp').oninput = showElements;
}

function showOnArray(trace) {
  if ($('pes').hidden) return;
  onArray = new ArrayOfElements(trace, afterStep().tree);
  $('stamp').max = Math.max(0, onArray.stamps.length - 1);
  $('stamp').disabled = !onArray.stamps.length;
  showElements();
}

function elementBox(pe, k, array, cell, tally) {
  const [x, y] = [pe[1] * cell + (onArray.size[1] * cell + 12) * pe[2], pe[0] * cell];
  const items = [...onArray.items(k, pe, array)], shape = cache.trace.arrays[array].shape;
  const box = draw('g', { class: items.length ? 'pe busy' : 'pe', 'data-pe': pe.join(), 'data-items': items.join(' ') });
  box.append(draw('rect', { x: x + 2, y: y + 2, width: cell - 4, height: cell - 4, rx: 3 }));
  const lines = [], words = items.slice(0, 2).map(i => indexText(shape, i).slice(1, -1).replace(/ /g, ''));
  if (items.length > 2) words.push('+' + (items.length - 2));
  words.forEach((w, n) => box.append(draw('text', { x: x + cell / 2, y: y + cell / 2 + 4 + 11 * (n - (words.length - 1) / 2) }, [w])));
  for (const item of items) {
    const sources = onArray.sources(k, pe, array, item);
    tally[sources.length ? 'near' : 'outside']++;
    for (const s of sources) {
      if (s.from.join() === pe.join() || s.from[2] !== pe[2]) continue;
      const [dx, dy] = [Math.sign(s.from[1] - pe[1]), Math.sign(s.from[0] - pe[0])], middle = [x + cell / 2, y + cell / 2];
      lines.push(draw('path', { class: 'link ' + s.when, 'data-link': `${s.from.join()}>${pe.join()}`,
        d: `M${middle[0] + dx * cell * .7} ${middle[1] + dy * cell * .7}L${middle[0] + dx * cell * .34} ${middle[1] + dy * cell * .34}` }));
    }
  }
  const words2 = items.map(i => `${cache.trace.arrays[array].name}${indexText(shape, i)}`).join(', ');
  box.append(draw('title', {}, [`element (${pe.slice(0, 2).join(', ')}): ${words2 || 'nothing'}`]));
  return [box, ...lines];
}

function showElements() {
  const k = Math.min(Number($('stamp').value), onArray.stamps.length - 1);
  const array = cache.trace.arrays.findIndex(a => a.name === $('items').value);
  if (k < 0 || array < 0) {
    $('elements').replaceChildren();
    $('stamped').value = '';
    $('handed').textContent = 'No loop is bound to an array of elements here, or it does not touch this array.';
    return;
  }
  const [rows, columns, planes] = onArray.size, cell = Math.max(24, Math.min(54, Math.floor(216 / Math.max(rows, columns))));
  const width = (columns * cell + 12) * planes, tally = { near: 0, outside: 0 };
  const svg = draw('svg', { width, height: rows * cell, viewBox: `0 0 ${width} ${rows * cell}`, role: 'img',
    'aria-label': `${onArray.size.join(' × ')} elements, each with the items of ${$('items').value} that it touches` });
  for (let z = 0; z < planes; z++)
    for (let x = 0; x < rows; x++)
      for (let y = 0; y < columns; y++) svg.append(...elementBox([x, y, z], k, array, cell, tally));
  $('elements').replaceChildren(svg);
  $('stamped').value = `${k + 1} / ${onArray.stamps.length}: ${onArray.names.map((n, i) => `${n} = ${onArray.stamps[k].when[i]}`).join(', ')}`;
  $('handed').textContent = `${count(tally.near + tally.outside, 'item', 'items')} of ${$('items').value}: ` +
    `${tally.near} that the element or ${data.array ? `one that it is linked to (${data.array.links})` : 'one next to it'} had, ${tally.outside} from outside.`;
}

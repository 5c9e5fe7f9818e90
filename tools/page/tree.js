// The loop tree as a drawing: rows in the order of the text, indented by depth; to the right the
// buffers, with a line for each block that writes or reads one.
'use strict';

const SVG = 'http://www.w3.org/2000/svg';

function draw(name, attributes, children) {
  const e = document.createElementNS(SVG, name);
  for (const key in attributes) e.setAttribute(key, attributes[key]);
  for (const c of children || []) e.append(c);
  return e;
}

function nodeLabel(node) {
  if (node.kind === 'function') return node.name;
  if (node.kind === 'block') return node.name + (node.iters ? ' ' + node.iters : '');
  return node.name + ' \u00b7 ' + node.extent;
}

// What a node is, in words; two nodes with the same words are the same to a reader.
function nodeWords(node) {
  const names = list => (list || []).map(b => b.buffer).join(', ');
  if (node.kind === 'function') return 'function ' + node.name;
  if (node.kind === 'loop')
    return (node.loop === 'serial' ? '' : node.loop + ' ') + 'loop ' + node.name + ', ' + node.extent +
      ' iterations' + (node.thread ? ', ' + node.thread : '') + (node.annotations ? ', ' + node.annotations : '');
  return 'block ' + node.name + (node.reads ? ', reads ' + names(node.reads) : '') +
    (node.writes ? ', writes ' + names(node.writes) : '') + (node.where ? ', where ' + node.where : '');
}

function buffersOf(tree) {
  const buffers = new Map();
  const add = (b, own) => {
    if (!buffers.has(b.buffer)) buffers.set(b.buffer, { name: b.buffer, type: b.type, scope: b.scope, own, rows: [] });
  };
  for (const node of tree) {
    for (const b of node.params || []) add(b, false);
    for (const b of node.allocates || []) add(b, true);
  }
  tree.forEach((node, row) => {
    if (node.kind !== 'block') return;
    for (const b of [...(node.reads || []), ...(node.writes || [])]) {
      add(b, true);
      buffers.get(b.buffer).rows.push(row);
    }
  });
  return [...buffers.values()].filter(b => b.rows.length);
}

// Places on the right, near the middle of the blocks that use them, no two on top of each other, and
// not further down than need be. Gives the height that they take.
function placeBuffers(buffers, rowHeight, rows) {
  const apart = 38, lowest = Math.max(0, rows * rowHeight - buffers.length * apart);
  for (const b of buffers) b.y = b.rows.reduce((x, y) => x + y, 0) / b.rows.length * rowHeight;
  buffers.sort((a, b) => a.y - b.y);
  buffers.forEach((b, i) => {
    b.y = Math.min(b.y, lowest + i * apart);
    if (i) b.y = Math.max(b.y, buffers[i - 1].y + apart);
  });
  return buffers.length ? buffers[buffers.length - 1].y + apart : 0;
}

function drawTree(tree, before) {
  const rowHeight = 25, indent = 13, pad = 10, box = 20, shown = tree.filter(n => n.name !== 'root' || n.kind !== 'block');
  const known = new Set((before || tree).map(nodeWords));
  const depths = []; // of the nodes that are shown
  const width = text => Math.ceil(text.length * 7.2) + 18;
  const hidden = new Set(tree.filter(n => !shown.includes(n)));
  const open = [];
  for (const node of tree) {
    while (open.length && open[open.length - 1].depth >= node.depth) open.pop();
    if (!hidden.has(node)) depths.push(open.filter(n => !hidden.has(n)).length);
    open.push(node);
  }
  const left = Math.max(...shown.map((n, i) => depths[i] * indent + width(nodeLabel(n)) + (n.kind === 'loop' ? loopTag(n).length * 7 + 10 : 0)));
  // Allocations of blocks that are not drawn still count.
  const rows = tree.map(n => shown.indexOf(n)), buffers = buffersOf(tree);
  for (const b of buffers) b.rows = b.rows.map(r => rows[r]).filter(r => r >= 0);
  const below = placeBuffers(buffers, rowHeight, shown.length);
  const right = left + 64, bufferWidth = Math.max(60, ...buffers.map(b => width(b.name)), ...buffers.map(b => Math.ceil((b.type || '').length * 6.6) + 16));
  const w = right + bufferWidth + 2 * pad, h = Math.max(shown.length * rowHeight, below) + pad;
  const svg = draw('svg', { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: 'img' });
  svg.append(draw('title', {}, ['Loop tree: ' + shown.map(nodeWords).join('; ')]));
  const places = new Map(buffers.map(b => [b.name, b]));
  const drawRow = (part, i) => {
    const node = shown[i];
    const x = pad / 2 + depths[i] * indent, y = pad / 2 + i * rowHeight;
    let up = i - 1;
    while (up >= 0 && depths[up] >= depths[i]) up--;
    if (up >= 0) {
      const px = pad / 2 + depths[up] * indent + 9, py = pad / 2 + up * rowHeight + box;
      part.append(draw('path', { class: 'elbow', d: `M${px} ${py}V${y + box / 2}H${x}` }));
    }
    for (const [list, kind] of [[node.reads, 'reads'], [node.writes, 'writes']])
      for (const b of node.kind === 'block' && list || []) {
        const to = places.get(b.buffer), x1 = x + width(nodeLabel(node)), y1 = y + box / 2 + (kind === 'reads' ? -4 : 4);
        if (!to) continue;
        const y2 = to.y + pad / 2 + 16 + (kind === 'reads' ? -5 : 5), c = (right - x1) / 2;
        part.append(draw('path', { class: 'flow ' + kind, d: `M${x1} ${y1}C${x1 + c} ${y1} ${right - c} ${y2} ${right} ${y2}` }));
        part.append(kind === 'writes'
          ? draw('path', { fill: 'var(--write)', d: `M${right} ${y2}l-8 -4v8z` })
          : draw('path', { fill: 'var(--read)', d: `M${x1} ${y1}l8 -4v8z` }));
      }
    part.append(drawNode(node, x, y, width(nodeLabel(node)), box, known));
  };
  drawParts(svg, shown.length, shown.findIndex(n => !known.has(nodeWords(n))), drawRow);
  for (const b of buffers) svg.append(drawBuffer(b, right, b.y + pad / 2, bufferWidth));
  return svg;
}

const PART = 100; // rows

// Of a long drawing the part with the first new row, and the others each when the page has answered.
function drawParts(svg, n, fresh, drawRow) {
  const parts = Array.from({ length: Math.ceil(n / PART) }, (_, k) => ({ from: k * PART, g: draw('g', {}) })), begin = Math.max(0, fresh);
  svg.append(...parts.map(p => p.g));
  parts.sort((a, b) => Math.abs(a.from + PART / 2 - begin) - Math.abs(b.from + PART / 2 - begin));
  const more = () => {
    const { from, g } = parts.shift();
    for (let i = from; i < Math.min(n, from + PART); i++) drawRow(g, i);
    if (parts.length) setTimeout(() => svg.isConnected && more());
  };
  if (n) more();
}

function loopTag(node) {
  return (node.loop === 'serial' ? '' : node.loop === 'thread_binding' ? node.thread || 'thread' : node.loop) +
    (node.annotations ? ' *' : '');
}

// A word of the drawing that stands for what `token` does in a program.
function explained(text, token) {
  const term = termOf(token);
  return draw('tspan', term ? { 'data-term': term } : {}, [text]);
}

function labelParts(node) {
  if (node.kind !== 'block' || !node.iters) return [nodeLabel(node)];
  return [node.name + ' ', explained(node.iters, `"${node.iters}"`)];
}

function drawNode(node, x, y, width, height, known) {
  const block = node.kind === 'block', loop = node.kind === 'loop';
  const colour = block ? 'var(--block)' : loop ? `var(--${node.loop})` : 'var(--soft)';
  const g = draw('g', { class: node.kind, 'data-line': node.line, 'data-name': node.name });
  const words = nodeWords(node), fresh = known.has(words) ? '' : 'fresh';
  g.append(draw('title', {}, [words]));
  g.append(draw('rect', { x, y, width, height, rx: block ? 3 : 10, fill: colour, class: fresh }));
  if (loop) g.append(draw('rect', { x, y, width: 0, height, rx: 10, class: 'fill', 'data-width': width }));
  const text = draw('text', { x: x + 9, y: y + 14, class: loop ? 'on' : block ? 'own' : '', 'xml:space': 'preserve' }, labelParts(node));
  g.append(text);
  if (loop) g.append(draw('text', { x: x + width + 6, y: y + 14, class: 'dim' }, [loopTag(node)]));
  if (block && node.where) g.append(draw('text', { x: x + width + 6, y: y + 14, class: 'dim' }, [explained('guarded', 'T.where')]));
  return g;
}

function drawBuffer(b, x, y, width) {
  const g = draw('g', { class: 'buffer' + (b.own ? ' alloc' : '') });
  g.append(draw('title', {}, [`buffer ${b.name} ${b.type || ''} ${b.scope || ''}`]));
  g.append(draw('rect', { x, y, width, height: 32, rx: 6 }));
  g.append(draw('text', { x: x + 8, y: y + 13 }, [b.name]));
  g.append(draw('text', { x: x + 8, y: y + 27, class: 'dim' }, [b.type || '']));
  return g;
}

// --- the pane --------------------------------------------------------------------------------

const MOST_DRAWN = 400;

// Of a large tree the nests around what is new, or the first ones. Of a nest that is large itself, a part with what is new,
// and the loops and blocks around it.
function partOfTree(tree, before) {
  if (tree.length <= MOST_DRAWN) return tree;
  const known = new Set((before || tree).map(nodeWords)), fresh = tree.findIndex(n => !known.has(nodeWords(n)));
  const head = Math.max(0, tree.findIndex(n => n.kind === 'loop')), least = Math.max(head, fresh - MOST_DRAWN + 20), around = [];
  let from = Math.max(head, Math.min(fresh, tree.length - MOST_DRAWN / 2) - MOST_DRAWN / 2);
  while (from > least && tree[from].depth > tree[head].depth) from--;
  for (let i = from - 1, inner = tree[from]; i >= head; i--) if (tree[i].depth < inner.depth) around.unshift(inner = tree[i]);
  return [...tree.slice(0, head), ...around, ...tree.slice(from, from + MOST_DRAWN)];
}

function showTree() {
  const step = current(), before = step && data.programs[step.before].tree, all = afterStep().tree;
  const tree = partOfTree(all, before), svg = drawTree(tree, before);
  svg.style.minWidth = .85 * svg.getAttribute('width') + 'px'; // a narrow pane scrolls rather than make small print
  fillPane($('tree'), svg, ...tree === all ? [] : [make('p', { className: 'cut', textContent: `${tree.length} of ${all.length} loops and blocks are drawn: those around what changed, or the first.` })]);
  const fresh = svg.querySelector('.fresh');
  if (fresh) reveal($('tree'), fresh);
  const mark = on => e => {
    const g = e.target.closest('[data-line]'), line = g && $('program').querySelector(`[data-line="${g.dataset.line}"]`);
    if (line) line.classList.toggle('here', on);
  };
  svg.onmouseover = mark(true);
  svg.onmouseout = mark(false);
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
  const nodes = [...svg.querySelectorAll('[data-name]')];
  let at = nodes.findIndex(e => e.classList.contains('block') && e.dataset.name === block.name);
  if (at < 0) return;
  nodes[at].classList.add('active');
  // The nearest loop of the name above the block: names may come again in other nests.
  for (let k = block.loops.length - 1; k >= 0; k--) {
    const up = nodes.findLastIndex((e, i) => i < at && e.classList.contains('loop') && e.dataset.name === block.loops[k]);
    if (up < 0) continue;
    at = up;
    const fill = nodes[up].querySelector('.fill');
    fill.setAttribute('width', fill.dataset.width * (instance.values[k] + 1) / trace.extents[instance.block][k]);
  }
}

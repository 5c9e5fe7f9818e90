// Where the time of the scheduled program goes: a bar for each part that has a probe, as wide as its share, below the bar of the
// part that it is in.
'use strict';

const shareText = (seconds, whole) => (100 * seconds / whole).toFixed(1) + ' %';
const timeText = seconds => seconds >= 1e-3 ? (1e3 * seconds).toFixed(2) + ' ms' : (1e6 * seconds).toFixed(2) + ' us';

// The blocks whose time is in the part's own: those that no timed part within it has.
function blocksOf(parts, k) {
  const holds = i => parts.some(p => p.parent === i);
  return parts.filter((p, i) => p.kind === 'block' && !holds(i) && (i === k || (!p.timed && timedAround(parts, i) === k))).map(p => p.name);
}

function flameName(parts, k) {
  const p = parts[k], blocks = blocksOf(parts, k).filter(b => b !== p.name);
  const name = p.kind === 'function' || p.kind === 'block' ? p.name : `${p.name}${p.extent >= 0 ? ' ' + p.extent : ''}`;
  return name + (blocks.length ? ': ' + blocks.join(', ') : '');
}

function flameDetail(parts, k, whole) {
  const p = parts[k];
  return `${p.kind === 'function' || p.kind === 'block' ? p.kind : p.kind + ' loop'} ${flameName(parts, k)}: ${timeText(p.seconds)}, ` +
    `${shareText(p.seconds, whole)} of the call, ${shareText(p.own_seconds, whole)} its own, ${count(p.times, 'time', 'times')}` +
    (p.threads > 1 ? `, mean of ${p.threads} threads` : '');
}

// The nearest timed part around; -1: there is none.
function timedAround(parts, k) {
  do k = parts[k].parent; while (k >= 0 && !parts[k].timed);
  return k;
}

// Where each bar is, in percent and rows. Times are measured, so that parts may seem to take longer than what they are in: then
// they share its width.
function placeFlame(parts) {
  const inner = parts.map(() => 0), at = [];
  parts.forEach((p, k) => { if (p.timed && k) inner[timedAround(parts, k)] += p.seconds; });
  parts.forEach((p, k) => {
    if (!p.timed) return;
    const around = timedAround(parts, k), outer = at[around];
    if (!outer) return at[k] = { left: 0, width: 100, row: 0, next: 0 };
    const width = outer.width * p.seconds / Math.max(parts[around].seconds, inner[around], 1e-12);
    at[k] = { left: outer.next, width, row: outer.row + 1, next: outer.next };
    outer.next += width;
  });
  return at;
}

function buildFlame() {
  if (!data.profile) return;
  const parts = data.profile.parts, whole = parts[0].seconds, rowHeight = 1.7, places = placeFlame(parts);
  const shown = [...parts.keys()].filter(k => parts[k].timed);
  $('flame').replaceChildren(...shown.map(k => {
    const at = places[k], b = make('button', { type: 'button', className: 'kind-' + parts[k].kind, textContent: flameName(parts, k) });
    Object.assign(b.style, { left: `min(${at.left}%, 100% - 3px)`, width: at.width + '%', top: at.row * rowHeight + 'rem' });
    b.dataset.tip = flameDetail(parts, k, whole);
    b.setAttribute('aria-label', b.dataset.tip);
    b.onfocus = b.onmouseenter = () => { $('flame-part').textContent = b.dataset.tip; };
    return b;
  }));
  $('flame').style.height = (1 + Math.max(...shown.map(k => places[k].row))) * rowHeight + 'rem';
  $('flame-whole').textContent = `${timeText(data.profile.seconds)} a call, ${count(data.profile.threads, 'thread', 'threads')}, ` +
    `probes took ${(100 * data.profile.probes).toFixed(1)} %`;
  $('flame-part').textContent = flameDetail(parts, 0, whole);
  $('flame-panel').hidden = false;
}

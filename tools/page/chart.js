// What the calls buy: the misses of the whole run after each, under its name.
'use strict';

let bars = null; // {misses, accesses, whole} after each step; the first: before all

function buildChart() {
  const names = ['0 (start)', ...data.steps.map(s => `${s.number} ${s.primitive}`)];
  $('chart').replaceChildren(...names.map((name, k) => {
    const b = make('button', { type: 'button' }, make('span', { className: 'name', textContent: name }));
    b.dataset.tip = k ? data.steps[k - 1].call : 'The program before the first call.';
    b.onclick = () => show(k);
    return b;
  }));
}

function missesOf(i) {
  const t = traceNumber(i), c = new Cache(t, ...settings());
  c.go(t.n);
  return { misses: c.total(), accesses: t.n, whole: t.whole };
}

// One trace at a time, so that the page stays quick to the touch; a newer call ends an older one, and so do other steps.
function showChart() {
  if (!run) return;
  const known = new Map(), round = ++showChart.round, steps = data.steps;
  const numbers = [...Array(data.steps.length + 1).keys()].map(traceAfter);
  const next = () => {
    if (round !== showChart.round || steps !== data.steps) return;
    const i = numbers.find(i => !known.has(i));
    if (i === undefined) return drawBars(numbers.map(i => known.get(i)));
    known.set(i, missesOf(i));
    setTimeout(next);
  };
  setTimeout(next);
}
showChart.round = 0;

function drawBars(now) {
  bars = now;
  const most = Math.max(1, ...bars.map(b => b.misses));
  [...$('chart').children].forEach((b, k) => {
    const i = make('i', {});
    i.style.width = 100 * bars[k].misses / most + '%';
    b.replaceChildren(b.firstChild, make('span', { className: 'bar' }, i), make('span', { className: 'misses', textContent: bars[k].misses }));
    b.dataset.tip = `${k ? data.steps[k - 1].call : 'The program before the first call.'}\n` +
      `${misses(bars[k].misses)} in ${accesses(bars[k].accesses)}`;
  });
  lightChart();
}

function lightChart() {
  [...$('chart').children].forEach((b, k) => {
    b.classList.toggle('now', k === state.step);
    if (k === state.step) reveal($('chart'), b);
  });
  if (!bars) return;
  const now = bars[state.step], before = bars[Math.max(0, state.step - 1)];
  const against = now.whole && bars[0].whole && bars[0].misses
    ? ` (${(now.misses / bars[0].misses).toFixed(2)} of the unscheduled program's)` : '';
  const difference = now.misses - before.misses;
  $('verdict').textContent = `${misses(now.misses)} in ${accesses(now.accesses)}${against}` +
    (state.step && difference ? `: this call ${difference < 0 ? 'saves' : 'costs'} ${Math.abs(difference)}.` : '.');
}

// What the kernels of the scheduled program ask of a GPU's memory, as the emulator counts it: a table of the kernels, and beside
// each statement what a warp's accesses take.
'use strict';

const perWarp = (n, warps) => { const x = warps ? n / warps : 0; return Number.isInteger(x) ? String(x) : x.toPrecision(3); };

// Of a line: its accesses, those of one array and one kind together, which lowering may have taken apart.
function accessesOf(line) {
  const found = new Map();
  for (const a of data.report.accesses) {
    if (a.line !== line) continue;
    const key = `${a.does} ${a.buffer} ${a.unit}`, sum = found.get(key) || { ...a, warps: 0, asked: 0, ideal: 0 };
    for (const of of ['warps', 'asked', 'ideal']) sum[of] += a[of];
    found.set(key, sum);
  }
  return [...found.values()];
}

function trafficText(a) {
  return `${a.does} ${a.buffer}: ${perWarp(a.asked, a.warps)} ${a.unit}${a.asked > a.ideal ? `, ${perWarp(a.ideal, a.warps)} at best` : ''}`;
}

function trafficTip(a) {
  const unit = a.unit === 'turns' ? 'A turn: what the 32 banks of shared memory give at once.' : 'A sector: 32 bytes of global memory.';
  return `${a.warps} ${a.does}s of a warp of ${a.buffer}, ${a.asked} ${a.unit} in all, ${a.ideal} at best. ${unit}`;
}

function branchesOf(line) {
  const parted = data.report.branches.filter(b => b.line === line && b.parted);
  return parted.map(b => ({ text: `branch: ${b.parted} of ${b.warps} warps part`, tip: 'The threads of a warp take both branches, one after the other.', over: true }));
}

function showsLast() {
  const last = data.steps[data.steps.length - 1];
  return !errorShown() && afterStep() === data.programs[last ? last.after : 0];
}

// Beside a line of the scheduled program.
function markTraffic(line) {
  const at = Number(line.dataset.line);
  if (!at) return line; // a deleted line
  const marks = [...accessesOf(at).map(a => ({ text: trafficText(a), tip: trafficTip(a), over: a.asked > a.ideal })), ...branchesOf(at)];
  for (const m of marks) {
    const e = make('span', { className: 'traffic' + (m.over ? ' over' : ''), textContent: m.text });
    e.dataset.tip = m.tip;
    line.append(e);
  }
  return line;
}

function kernelRow(k) {
  const occupancy = !k.most_warps ? 'not known without --target' : !k.blocks_at_once ? `none: too much ${k.bound}`
    : `${count(k.blocks_at_once, 'block', 'blocks')}, ${k.warps_at_once} of ${k.most_warps} warps, bound by ${k.bound}`;
  const cells = [k.name, `${k.blocks} of ${k.threads} threads`, k.shared_bytes, k.bytes_asked,
    k.bytes_needed ? `${k.bytes_needed} (${(k.bytes_asked / k.bytes_needed).toFixed(2)} times)` : '0',
    `about ${k.registers_estimated}, at least ${k.registers_of_arrays}`, occupancy];
  return make('tr', {}, ...cells.map((c, i) => make(i ? 'td' : 'th', i ? { textContent: c } : { textContent: c, scope: 'row' })));
}

function buildTraffic() {
  if (!data.report) return;
  const heads = ['kernel', 'blocks', 'shared bytes', 'bytes in sectors', 'must be moved', 'registers a thread', 'occupancy'];
  $('traffic').replaceChildren(make('thead', {}, make('tr', {}, ...heads.map(h => make('th', { textContent: h, scope: 'col' })))),
    make('tbody', {}, ...data.report.kernels.map(kernelRow)));
  const part = data.report.kernels.find(k => k.blocks_run < k.blocks);
  $('traffic-model').textContent = `A model: ${data.report.model}.` + (part ? ` Counted in ${part.blocks_run} blocks of ${part.blocks}.` : '');
  $('traffic-panel').hidden = false;
}

// The playground: what is typed is compiled, and shown by the panes of the page of steps.
'use strict';

const DELAY = 80; // milliseconds without typing
let compiler = null, program = null, schedule = null, lesson = null, version = 0, timer = 0, kind = '', pane = 'tree', ran = false;
let typed = false, compiling = false, asked = 0; // asked: the call that the panes of code and of the emulator are of

// --- the schedule's pane ---------------------------------------------------------------------

const PROGRAM = 'program.tir', SCHEDULE = 'schedule.sch';

// All that is wrong, by the file in which it is.
function complaints(file) {
  const errors = data.steps.filter(s => s.error).map(s => s.error), end = data.error;
  if (end && !errors.some(e => e.message === end.message && e.line === end.line)) errors.push(end);
  const warned = data.steps.flatMap(s => (s.warnings || []).map(w => ({ ...w, severity: 'warning', file: s.file, line: s.line, column: s.column })));
  return [...errors, ...warned].filter(e => e.file === file).map(e => ({ ...e, severity: e.severity || 'error',
    message: e.message + (e.hint ? '\nhint: ' + e.hint : ''), render: () => complaintElement(e) }));
}

function complaintElement(e) {
  const why = data.explanations[e.code];
  return make('div', {}, make('p', {}, make('b', { textContent: `[${e.code}] ` }), e.message), ...part('Condition', e.condition), ...part('Hint', e.hint),
    ...(why && why.rule ? part('Explained', why.rule) : []));
}

function buildScript() {
  program.tell(complaints(PROGRAM));
  schedule.tell(complaints(SCHEDULE));
}

function lightScript() {
  const step = current(), error = errorShown(), at = step || error || {};
  const warned = data.steps.filter(s => s.warnings && s.file === SCHEDULE && s !== step).map(s => ({ line: s.line, kind: 'warned' }));
  schedule.light([...(at.file === SCHEDULE && at.line ? [{ line: at.line, kind: error ? 'refused' : 'lit' }] : []), ...warned], !!step);
}

// The cursor stands on a line: so does the page, on the last call of it.
function standOn(line) {
  const steps = data ? data.steps.map((s, k) => s.file === SCHEDULE && s.line === line ? k + 1 : 0).filter(k => k) : [];
  if (steps.length && !steps.includes(state.step)) show(steps[steps.length - 1]);
}

// --- from text to panes ----------------------------------------------------------------------

let given = {}; // of what `tirc step` filled in: constants, a target, a small instance
const question = (what, more) => ({ do: what, program: program.text(), schedule: schedule.text(), ...given, ...(lesson && lesson.target ? { target: lesson.target } : {}), ...more });

function edited(_, isSet) {
  if (isSet) return;
  if (!showsSolution()) typed = true;
  plainAddress();
  note('');
  clearTimeout(timer);
  timer = setTimeout(compile, DELAY);
}

// What was asked about an older text is of no use.
async function ask(what, more) {
  const now = version, answer = await compiler.ask(question(what, more));
  return now === version ? answer : null;
}

async function compile() {
  const now = ++version, began = performance.now(), atEnd = state.step >= data.steps.length;
  compiling = true;
  keep();
  busy(true);
  await compiler.freed(100);
  if (now !== version) return;
  const steps = await ask('steps');
  if (now !== version) return;
  if (steps) takeSteps(steps, atEnd);
  $('ready').value = `${Math.round(performance.now() - began)} ms`;
  if (steps && !refusedWhole(steps)) {
    const answer = await ask('run');
    if (now !== version) return;
    if (answer) showRun(answer.run || null);
    if (answer && answer.error) $('where').textContent = answer.error.message;
    await showOthers();
  }
  if (now === version) endCompile();
}

function endCompile() {
  compiling = false;
  busy(false);
  remember(state.step);
}

const refusedWhole = steps => !steps.programs;

function takeSteps(answer, atEnd) {
  if (refusedWhole(answer)) return showRefused(answer);
  data = answer;
  run = bars = null; // the run that is shown is of another text; it stays until there is a new one
  ran = false;
  fillSteps();
  $('printed').textContent = (answer.printed || []).join('').trim().split('\n').slice(-1)[0];
  show(atEnd ? data.steps.length : state.step);
  document.documentElement.dataset.ready = 'true';
}

// A program that is none has no steps; what is shown is what there was before.
function showRefused({ error, explanations }) {
  data = { ...data, error, explanations: { ...data.explanations, ...explanations } };
  if (!termOfWord.size) learnTerms();
  const here = { ...error, severity: 'error', message: error.message + (error.hint ? '\nhint: ' + error.hint : ''), render: () => complaintElement(error) };
  program.tell(error.file === PROGRAM || !error.file ? [here] : []);
  schedule.tell(error.file === SCHEDULE ? [here] : []);
  $('error').hidden = false;
  fillPane($('error'), ...errorParts(error));
}

function showRun(r) {
  takeRun(r);
  ran = true;
  if (r && !showRun.chosen) chooseCache(), showRun.chosen = true;
  fillRun();
  if (!r) return;
  canPlay(true);
  showAccesses(true);
  showChart();
}

// The panes that only some look at.
async function showOthers() {
  await showWrong();
  await showOfCall();
  if (pane === 'moves') await showMoves();
  if (lesson) await showChecks();
}

// Of a refused call, which ends the script: what it would make wrong, if it stands in a line of its own.
async function showWrong() {
  const last = data.steps[data.steps.length - 1], lines = schedule.text().split('\n');
  if (!last || !last.error || last.file !== SCHEDULE) return;
  const answer = await ask('wrong', { schedule: lines.slice(0, last.line - 1).join('\n') + '\n', call: (lines[last.line - 1] || '').trim() });
  if (!answer || !answer.wrong) return;
  last.error.wrong = answer.wrong;
  showError();
}

async function showOfCall() {
  asked = state.step;
  if (kind) await showCode();
  if (pane === 'emulated') await showEmulated();
}

// Another call is shown; what is being compiled asks for itself.
function remember(step) {
  clearTimeout(remember.timer);
  if (!compiling && step !== asked) remember.timer = setTimeout(() => compiling || showOfCall(), DELAY);
}

const usesGpu = () => data.programs.some(p => p.tree.some(n => /Idx\.[xyz]$/.test(n.thread || '')));

function busy(on) {
  clearTimeout(busy.timer);
  $('cancel').hidden = true;
  if (on) busy.timer = setTimeout(() => { $('cancel').hidden = false; }, 700);
}

// --- code ------------------------------------------------------------------------------------

function showTab(name) {
  kind = name;
  for (const b of document.querySelectorAll('[data-code]')) b.setAttribute('aria-selected', b.dataset.code === kind);
  $('program').hidden = !!kind;
  $('code').hidden = !kind;
  $('change').hidden = !!kind;
  if (kind) showCode();
}

async function showCode() {
  const target = kind === 'lowered' && usesGpu() ? { target: 'sm_80' } : {}, wanted = kind, step = state.step;
  const answer = await ask('code', { kind, step, ...target });
  if (!answer || wanted !== kind || step !== state.step) return;
  if (answer.error) return fillPane($('code'), ...errorParts(answer.error));
  fillLines($('code'), linesOf(answer.text || ''), -1, l => codeLine('span', l.text, '', false));
}

// --- what may be done next -------------------------------------------------------------------

function showPane(name) {
  pane = name;
  for (const b of document.querySelectorAll('[data-pane]')) b.setAttribute('aria-selected', b.dataset.pane === pane);
  for (const id of ['tree', 'moves', 'emulated']) $(id).hidden = id !== pane;
  if (pane === 'moves') showMoves();
  if (pane === 'emulated') showEmulated();
}

// The program as the call would make it, until the pointer or the focus goes.
async function preview(call) {
  const token = preview.token = {}, now = version;
  const answer = await compiler.ask({ ...question('steps'), schedule: schedule.text() + '\n' + call + '\n' });
  if (!answer || answer.error || token !== preview.token || now !== version) return;
  const known = data.steps.length, news = answer.steps.slice(known), last = news[news.length - 1];
  if (!last) return;
  const before = data, at = state.step;
  data = { ...answer, run };
  const lines = news.length === 1 && last.diff ? changedProgram(last) : wholeProgram(data.programs[last.after]);
  data = before;
  state.step = at;
  fillLines($('program'), lines, firstChange(lines), programLine);
  $('change').textContent = 'would change: ' + news.map(s => s.sentence).join(' ');
}

function endPreview() {
  if (!preview.token) return;
  preview.token = null;
  showProgram();
}

function moveButton(move) {
  const b = make('button', { type: 'button' }, make('span', { className: 'times', textContent: move.times.toFixed(2) + '×' }), make('code', { textContent: move.call }));
  b.onmouseenter = b.onfocus = () => preview(move.call);
  b.onmouseleave = b.onblur = endPreview;
  b.onclick = () => { endPreview(); schedule.append(move.call.replace(/; /g, '\n')); };
  return b;
}

// What it would make wrong is seen before it is opened.
function refusalElement(r) {
  const parts = [...part('Why', r.message), ...part('Condition', r.condition), ...part('Hint', r.hint)];
  const summary = make('summary', {}, make('code', { textContent: `${r.call}  [${r.code}]` }), ...r.wrong ? [make('span', { className: 'wrong', textContent: r.wrong })] : []);
  return make('details', { className: 'refusal' }, summary, ...parts);
}

async function showMoves() {
  if (state.step < data.steps.length) show(data.steps.length);
  $('moves').setAttribute('aria-busy', 'true');
  const answer = await ask('next');
  $('moves').removeAttribute('aria-busy');
  if (!answer) return;
  if (answer.error) return fillPane($('moves'), ...errorParts(answer.error));
  const { legal, refused } = answer;
  refused.sort((a, b) => !!b.wrong - !!a.wrong);
  fillPane($('moves'), make('h3', { textContent: `${count(legal.length, 'legal call', 'legal calls')}, the best first: how much faster by an estimate` }), ...legal.slice(0, 60).map(moveButton),
    make('h3', { textContent: `${refused.length} refused, and why` }), ...refused.slice(0, 60).map(refusalElement));
}

async function showEmulated() {
  if (!usesGpu()) return fillPane($('emulated'), make('p', { textContent: 'No loop is bound to threads of a GPU: there is nothing to emulate. sch.bind(loop, "threadIdx.x") binds one.' }));
  const step = state.step, answer = await ask('emulate', { step });
  if (!answer || step !== state.step) return;
  const { error } = answer;
  fillPane($('emulated'), ...error ? errorParts(error)
    : [make('p', {}, make('b', { textContent: 'No race, and every barrier is reached by all threads. ' }),
      `${count(answer.blocks, 'block', 'blocks')} in ${count(answer.launches, 'launch', 'launches')}, ${count(answer.barriers, 'barrier', 'barriers')}.`)]);
}

// --- lessons and examples --------------------------------------------------------------------

// What the exercise's check says; a lesson that was done once stays marked.
async function showChecks() {
  const at = lesson, answer = await ask('check', { exercise: at });
  if (!answer || at !== lesson) return;
  const v = answer.verdict || { checks: [], result: 'error', error: answer.error };
  $('verdicts').replaceChildren(...v.checks.map(c => make('li', { className: c.ok ? 'ok' : 'no', textContent: c.text })),
    ...v.error && !v.checks.length ? [make('li', { className: 'no', textContent: v.error.message || String(v.error) })] : []);
  if (v.result === 'done' && !stored('done/' + at.name)) store('done/' + at.name, 'yes'), fillShelf();
}

function openLesson(at) {
  lesson = at;
  $('tab-lesson').hidden = $('checks').hidden = !lesson;
  $('hints').replaceChildren();
  $('verdicts').replaceChildren();
  showSource(lesson ? 'lesson' : 'source');
  if (!lesson) return;
  fillPane($('lesson'), ...markdown(pageOf(lesson)));
  $('hint').hidden = !lesson.hints.length;
  $('solution').hidden = !lesson.solution;
  $('solution').textContent = 'Solution';
}

function showHint() {
  const n = $('hints').children.length;
  if (n < lesson.hints.length) $('hints').append(make('p', {}, ...markdown(lesson.hints[n])));
  $('hint').hidden = n + 1 >= lesson.hints.length;
}

const showsSolution = () => !!lesson && $('solution').textContent !== 'Solution';

// The solution, to be walked through call by call, and back to what one wrote.
function showSolution() {
  const mine = !showsSolution();
  if (mine) store('mine/' + lesson.name, schedule.text());
  $('solution').textContent = mine ? 'Back to mine' : 'Solution';
  schedule.set(mine ? lesson.solution : stored('mine/' + lesson.name) || lesson.start);
  compile().then(() => mine && show(0));
}

const nothing = () => ({ steps: [], programs: [{ text: '', tree: [] }], explanations: {}, terms: words.terms, synonyms: words.synonyms });

function openText(p, s) {
  given = {};
  program.set(p);
  schedule.set(s);
  typed = false;
  clearTimeout(timer);
  showRun.chosen = false;
  data = nothing();
  return compile();
}

function openItem(value) {
  const [what, name] = value.split('/');
  $('open').value = value;
  openLesson(what === 'lesson' ? shelf.lessons.find(l => l.name === name) : null);
  const item = lesson || shelf.examples.find(e => e.name === name);
  if (!item) return null;
  return openText(item.program, lesson ? stored('lesson/' + lesson.name) || lesson.start : item.schedule);
}

function showSource(id) {
  for (const name of ['source', 'lesson']) {
    $(name).hidden = name !== id;
    $('tab-' + name).setAttribute('aria-selected', name === id);
  }
}

const unkept = new Map(); // what the browser does not keep lasts as long as the page

function stored(key) {
  const at = keptAt(key);
  if (unkept.has(at)) return unkept.get(at);
  try { return localStorage.getItem(at); } catch (e) { return null; }
}

function store(key, text) {
  try {
    localStorage.setItem(keptAt(key), text);
    unkept.delete(keptAt(key));
  } catch (e) { unkept.set(keptAt(key), text); }
}

// What was typed is there again when the page is; what only was shown, a link's schedule or the solution, takes no answer's place.
function keep() {
  if (showsSolution()) return;
  if (lesson && typed) store('lesson/' + lesson.name, schedule.text());
  if (!shelf.opened) store('last', JSON.stringify({ program: program.text(), schedule: schedule.text(), open: $('open').value }));
}

function fillShelf() {
  const group = (label, items) => make('optgroup', { label }, ...items.map(([value, text]) => make('option', { value, textContent: text })));
  $('open').replaceChildren(make('option', { value: '', textContent: 'what is here' }),
    ...(course ? [] : [group('Examples', shelf.examples.map(e => ['example/' + e.name, e.title]))]), group(course ? 'Exercises' : 'Lessons', shelf.lessons.map(l => ['lesson/' + l.name, (stored('done/' + l.name) ? '\u2713 ' : '') + l.title])));
  $('open').value = lesson ? 'lesson/' + lesson.name : '';
  $('open').onchange = () => openItem($('open').value);
}

// --- share and export ------------------------------------------------------------------------

function showDialog(title, text) {
  $('dialog-title').textContent = title;
  $('dialog-text').value = text;
  $('dialog').showModal();
  $('dialog-text').select();
}

const sharedText = () => JSON.stringify({ p: program.text(), s: schedule.text(), ...(lesson ? { l: lesson.name } : {}) });
const address = () => location.href.replace(/#.*/, '');

async function share() {
  const link = `${address()}#${await packed(sharedText())}`;
  try { history.replaceState(null, '', link); } catch (e) { /* a file that has no address */ }
  showDialog(`A link to this program and schedule, ${link.length} characters`, link);
}

function save(name, text, type) {
  const a = make('a', { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}

// The arrays as they are drawn, and the tree: shapes and text, with the colours of the page in them.
function pictureSvg() {
  const width = 900, parts = [];
  let y = 20;
  const text = (x, at, s, more = '') => parts.push(`<text x="${x}" y="${at}" font-family="sans-serif" font-size="13" ${more}>${escape(s)}</text>`);
  text(10, y, $('sentence').textContent, 'font-weight="bold"');
  for (const v of views) {
    y += 24;
    text(10, y, `${v.array.name}: ${v.caption.textContent}`);
    y += 8;
    const columns = v.columns * v.w, rows = v.rows * v.h;
    parts.push(`<image x="10" y="${y}" width="${columns}" height="${rows}" href="${v.canvas.toDataURL()}"/>`);
    y += rows;
  }
  const tree = $('tree').firstChild;
  if (tree) {
    const copy = tree.cloneNode(true), from = [tree, ...tree.querySelectorAll('*')], to = [copy, ...copy.querySelectorAll('*')];
    from.forEach((e, i) => { const s = getComputedStyle(e); to[i].setAttribute('style', `fill:${s.fill};stroke:${s.stroke};stroke-width:${s.strokeWidth};opacity:${s.opacity};font:${s.font}`); });
    parts.push(`<g transform="translate(10 ${y + 16})">${new XMLSerializer().serializeToString(copy)}</g>`);
    y += Number(tree.getAttribute('height')) + 30;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y}" viewBox="0 0 ${width} ${y}">${parts.join('')}</svg>`;
}

const exports = {
  tir: () => save('program.tir', program.text(), 'text/plain'),
  sch: () => save('schedule.sch', schedule.text(), 'text/plain'),
  svg: () => save('picture.svg', pictureSvg(), 'image/svg+xml'),
  command: () => showDialog('With the two files exported', 'tirc step program.tir schedule.sch --html page.html\ntirc apply program.tir schedule.sch\ntirc build program.tir schedule.sch --emit=c -o program.c'),
};

// --- begin -----------------------------------------------------------------------------------

// The address is that of what is shared, until it is opened or changed.
function plainAddress() {
  if (!location.hash) return;
  try { history.replaceState(null, '', address()); } catch (e) { /* a file that has no address */ }
}

function note(text) {
  $('note').textContent = $('note').title = text;
}

// The call that the address of a page which `tirc step --html` filled in ends with, as text: #12.
const addressed = () => (shelf.opened && /^#(?:step=)?(\d+)$/.exec(location.hash) || [])[1];

// Of another version, damaged or cut off: what is said, and what is here stays.
async function linked() {
  const text = location.hash.slice(1);
  if (!text || addressed()) return null;
  try {
    const at = JSON.parse(await linkText(text));
    if (typeof at.p !== 'string' && typeof at.l !== 'string') throw new Error('no program');
    return at;
  } catch (e) {
    note('This link cannot be read: it was cut off or changed. Ask for it again.');
    return null;
  }
}

function listenToPlay() {
  for (const b of document.querySelectorAll('[data-code]')) b.onclick = () => showTab(b.dataset.code);
  for (const b of document.querySelectorAll('[data-pane]')) b.onclick = () => showPane(b.dataset.pane);
  for (const name of ['source', 'lesson']) $('tab-' + name).onclick = () => showSource(name);
  for (const b of document.querySelectorAll('[data-export]')) b.onclick = () => { $('export').open = false; exports[b.dataset.export](); };
  $('share').onclick = share;
  $('hint').onclick = showHint;
  $('solution').onclick = showSolution;
  $('cancel').onclick = () => { version++; compiler.restart(); endCompile(); $('ready').value = 'cancelled'; };
  $('dialog-close').onclick = () => $('dialog').close();
  $('dialog-copy').onclick = () => { $('dialog-text').select(); navigator.clipboard ? navigator.clipboard.writeText($('dialog-text').value) : document.execCommand('copy'); };
  addEventListener('hashchange', async () => {
    if (addressed()) return show(Number(addressed()));
    const at = await linked();
    if (at) openLinked(at);
  });
}

function openLinked(at) {
  openLesson(shelf.lessons.find(l => l.name === at.l) || null);
  $('open').value = lesson ? 'lesson/' + lesson.name : '';
  plainAddress();
  const mine = lesson && (at.s === undefined || at.s === lesson.start) ? stored('lesson/' + lesson.name) || lesson.start : at.s;
  return openText(String(at.p || (lesson ? lesson.program : '')), String(mine || ''));
}

// What was there when the page was left, as a link would bring it; null: nothing.
function left() {
  try {
    const { program: p, schedule: s, open } = JSON.parse(stored('last')), at = shelf.lessons.find(l => 'lesson/' + l.name === open);
    return at || !course && p ? { p, s, ...(at ? { l: at.name } : {}) } : null;
  } catch (e) { return null; }
}

// What `tirc step --html` filled in is there before the compiler is.
function showOpened(opened) {
  const names = { [opened.programFile]: PROGRAM, [opened.scriptFile]: SCHEDULE };
  const named = x => { if (x && names[x.file]) x.file = names[x.file]; };
  for (const s of opened.steps) named(s), named(s.error);
  named(opened.error);
  program.set(opened.program);
  schedule.set(opened.scripts[0].text);
  compiling = true; // nobody can be asked yet
  given = { define: opened.define, instance: opened.instance, ...(opened.target ? { target: opened.target } : {}) };
  $('course').textContent = `${opened.programFile} \u2014 ${opened.scriptFile}`.replace(/[^ ]*\//g, '');
  document.title = $('course').textContent;
  takeSteps(opened);
  showRun(opened.run);
  if (addressed()) show(Number(addressed()));
}

async function answered(what) {
  const answer = await compiler.ask({ do: what });
  if (answer.error) throw new Error(answer.error.message);
  return answer;
}

async function begin() {
  if (/[?&]embed\b/.test(location.search)) document.body.classList.add('embed');
  program = Editors.create({ parent: $('source'), text: '', label: 'Program', changed: edited, complete: completeProgram });
  schedule = Editors.create({ parent: $('script'), text: '', label: 'Schedule', changed: edited, complete: completeSchedule, placed: standOn });
  listen();
  listenToPlay();
  if (shelf.opened) showOpened(shelf.opened);
  const [module, at] = await Promise.all([unpacked($('wasm').textContent, 'gzip').then(bytes => WebAssembly.compile(bytes)), linked()]);
  compiler = new Compiler(module);
  words = await answered('words');
  shelf.lessons = (course || await answered('lessons')).exercises;
  beginCourse();
  fillShelf();
  program.unlock();
  schedule.unlock();
  const here = at || (shelf.opened ? null : left());
  if (here) await openLinked(here);
  else if (shelf.opened) endCompile(), $('ready').value = '';
  else await openItem(course ? 'lesson/' + course.exercises[0].name : 'example/' + shelf.examples[0].name);
}

begin().catch(e => { $('ready').value = `The playground did not begin: ${e.message}`; });

// A course without a compiler in the page: its texts, an editor for each exercise, and the code that is handed in.
'use strict';

const course = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const place = 'tirc-course ' + course.title + ' ' + course.edition;

function make(tag, properties, ...children) {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
}

// --- what was written, which stays in the browser; a browser may keep nothing for files ---

function kept() {
  try { return JSON.parse(localStorage.getItem(place)) || {}; } catch { return {}; }
}
function keep(name, text) {
  try { localStorage.setItem(place, JSON.stringify({ ...kept(), [name]: text })); } catch { /* only while the page is open */ }
}

// --- a little Markdown ---

function inline(text) {
  const nodes = [];
  let at = 0;
  for (const m of text.matchAll(/`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\(([^)]+)\)/g)) {
    nodes.push(text.slice(at, m.index));
    if (m[1]) nodes.push(make('code', { textContent: m[1] }));
    else if (m[2]) nodes.push(make('strong', { textContent: m[2] }));
    else if (m[3]) nodes.push(make('em', { textContent: m[3] }));
    else if (/^https?:/.test(m[5])) nodes.push(make('a', { textContent: m[4], href: m[5] }));
    else nodes.push(m[4]);
    at = m.index + m[0].length;
  }
  return [...nodes, text.slice(at)];
}

const KINDS = [
  [/^```/, lines => make('pre', { tabIndex: 0, textContent: take(lines, l => !l.startsWith('```'), 1).join('\n') })],
  [/^ {4}/, lines => make('pre', { tabIndex: 0, textContent: take(lines, l => /^ {4}|^$/.test(l)).map(l => l.slice(4)).join('\n').trimEnd() })],
  [/^#+ /, lines => { const l = lines.shift(), n = l.indexOf(' '); return make('h' + Math.min(n + 1, 6), {}, ...inline(l.slice(n + 1))); }],
  [/^[-*] /, lines => make('ul', {}, ...items(lines))],
  [/^\d+\. /, lines => make('ol', {}, ...items(lines))],
];

function take(lines, goesOn, around = 0) {
  const taken = [];
  lines.splice(0, around);
  while (lines.length && goesOn(lines[0])) taken.push(lines.shift());
  lines.splice(0, around);
  return taken;
}

function items(lines) {
  const all = take(lines, l => /^([-*]|\d+\.) |^ +\S/.test(l)), list = [];
  for (const l of all)
    if (/^\S/.test(l)) list.push(l.replace(/^\S+ /, '')); else list[list.length - 1] += ' ' + l.trim();
  return list.map(text => make('li', {}, ...inline(text)));
}

function markdown(text) {
  const lines = text.split('\n'), blocks = [];
  while (lines.length) {
    if (!lines[0].trim()) { lines.shift(); continue; }
    const kind = KINDS.find(([pattern]) => pattern.test(lines[0]));
    blocks.push(kind ? kind[1](lines) : make('p', {}, ...inline(take(lines, l => l.trim() && !/^(```|#+ |[-*] |\d+\. )/.test(l)).join(' '))));
  }
  return blocks;
}

// --- the exercises ---

const written = new Map();

function editor(x, n) {
  const e = make('textarea', { id: 'schedule-' + n, spellcheck: false, autocapitalize: 'off', value: kept()[x.name] ?? x.start });
  e.rows = Math.max(8, x.start.split('\n').length + 5);
  e.addEventListener('input', () => { written.set(x.name, e.value); keep(x.name, e.value); });
  written.set(x.name, e.value);
  return [make('label', { htmlFor: e.id, textContent: 'Your schedule' }), e];
}

function exercise(x, i) {
  const n = i + 1, program = make('pre', { tabIndex: 0, textContent: x.program });
  const folded = (title, ...children) => make('details', {}, make('summary', { textContent: title }), ...children);
  return make('section', { id: 'exercise-' + n },
    ...markdown(x.page), make('h3', { textContent: 'The program' }), program, ...editor(x, n),
    ...x.hints.map((hint, k) => folded('Hint ' + (k + 1), ...markdown(hint))),
    ...(x.solution ? [folded('A solution', make('pre', { tabIndex: 0, textContent: x.solution }))] : []));
}

$('make').addEventListener('click', async () => {
  const { n, code } = await codeOf(course, $('learner').value.trim(), x => written.get(x.name));
  $('code').value = n ? code : '';
  $('copy').disabled = !n;
  $('said').textContent = n ? `${n} of ${course.exercises.length} exercises are in it.` : 'You have not begun an exercise yet.';
});
$('copy').addEventListener('click', () => {
  $('code').select();
  if (navigator.clipboard) navigator.clipboard.writeText($('code').value); else document.execCommand('copy');
  $('said').textContent = 'It is copied.';
});

document.title = $('title').textContent = course.title;
const [, ...introduction] = markdown(course.page);
$('head').append(...introduction, make('nav', { ariaLabel: 'Exercises' }, make('ol', {},
  ...course.exercises.map((x, i) => make('li', {}, make('a', { href: '#exercise-' + (i + 1), textContent: x.title }))))));
$('main').append(...course.exercises.map(exercise));

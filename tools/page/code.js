// The program with what the call that is shown changed, and what is wrong with it.
'use strict';

function escape(text) {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

function colour(line, explain) {
  const tokens = /(#.*$)|("[^"]*"|'[^']*')|\b(for|in|with|if|elif|else|while|def|return|and|or|not|lambda|assert|try|except|as|class|from|import|pass)\b|(@?\bT\.[\w.]+)/g;
  let out = '', at = 0;
  for (const m of line.matchAll(tokens)) {
    const term = explain && termOf(m[0]);
    out += escape(line.slice(at, m.index));
    out += `<span class="${m[1] ? 'c' : m[2] ? 's' : 'k'}"${term ? ` data-term="${term}"` : ''}>${escape(m[0])}</span>`;
    at = m.index + m[0].length;
  }
  return out + escape(line.slice(at));
}

// A line that goes on further right than it began when it is too long.
function codeLine(tag, text, kind, explain) {
  const e = make(tag, { className: 'l ' + kind, innerHTML: colour(text, explain) || ' ' });
  e.style.setProperty('--in', text.search(/\S|$/));
  return e;
}

// Scrolls a box, never the page, and only when it must.
function reveal(box, child) {
  const at = child.getBoundingClientRect(), seen = box.getBoundingClientRect();
  if (at.top < seen.top || at.bottom > seen.top + box.clientHeight)
    box.scrollTop = Math.max(0, box.scrollTop + at.top - seen.top - box.clientHeight / 3);
}

// --- program ---------------------------------------------------------------------------------

const afterStep = () => data.programs[state.step ? current().after : data.steps.length ? data.steps[0].before : 0];

// Lines to be shown: {text, kind, number: the line in the program after the call, or 0}.
const linesOf = text => text.replace(/\n$/, '').split('\n').map((text, i) => ({ text, kind: '', number: i + 1 }));

// The program of an error, what is underlined in it marked.
function refusedProgram(ir) {
  const lines = [];
  for (const { text } of linesOf(ir))
    if (/^\s*\^+$/.test(text)) lines[lines.length - 1].kind = 'caret';
    else lines.push({ text, kind: '', number: 0 });
  return lines;
}

function changedProgram(step) {
  const after = data.programs[step.after].text.split('\n'), before = data.programs[step.before].text.split('\n');
  const kinds = { '+': 'add', '-': 'del', '>': 'moved', ' ': '' };
  return step.diff.map(([op, from, to]) => ({ text: op === '-' ? before[from - 1] : after[to - 1], kind: kinds[op], number: to }));
}

const wholeProgram = (program = afterStep()) => linesOf(program.text);

const PIECE = 200; // lines

// Lines in a pane, each made by element(line); the one at `first` is brought into view.
function fillLines(pane, lines, first, element) {
  if (lines.length > 2 * PIECE) return fillPieces(pane, lines, first, element);
  const top = pane.scrollTop;
  fillPane(pane, ...lines.map(element));
  pane.scrollTop = top;
  if (first >= 0) reveal(pane, pane.children[first]);
}

// A long text comes in pieces, which have their room at once. Those around the line at `first`, or around what was seen
// before, are filled at once, the others each when the page has answered; what is out of sight is not laid out.
function fillPieces(pane, lines, first, element) {
  const top = pane.scrollTop, pieces = [];
  for (let i = 0; i < lines.length; i += PIECE) pieces.push({ number: pieces.length, lines: lines.slice(i, i + PIECE), box: make('div', { className: 'piece' }) });
  for (const p of pieces) p.box.style.setProperty('--lines', p.lines.length);
  const seen = fillPane(pane, ...pieces.map(p => p.box)), filling = pane.filling = {};
  pane.scrollTop = top;
  const wanted = first >= 0 ? Math.floor(first / PIECE) : Math.floor(top / pane.scrollHeight * pieces.length);
  pieces.sort((a, b) => Math.abs(a.number - wanted) - Math.abs(b.number - wanted));
  const more = () => {
    if (pane.filling !== filling || !pieces.length) return;
    const { box, lines } = pieces.shift();
    box.append(...lines.map(element));
    stopAtTerms(box, seen);
    setTimeout(more);
  };
  const { box } = pieces[0];
  more();
  if (first >= 0) reveal(pane, box.children[first % PIECE]);
}

function programLine({ text, kind, number }) {
  const e = codeLine('span', text, kind, true);
  if (number) e.dataset.line = number;
  return e;
}

const firstChange = lines => lines.findIndex(l => /add|del|caret/.test(l.kind));

function showProgram() {
  const step = current(), error = errorShown();
  const lines = error && error.ir ? refusedProgram(error.ir) : step && step.diff ? changedProgram(step) : wholeProgram();
  fillLines($('program'), lines, firstChange(lines), data.report && showsLast() ? line => markTraffic(programLine(line)) : programLine);
  const number = kind => lines.filter(l => l.kind === kind).length;
  $('change').textContent = error ? 'unchanged' : !step ? 'before the first call'
    : step.diff ? `+${number('add')} −${number('del')} lines` : 'unchanged';
}

// --- errors and warnings ---------------------------------------------------------------------

// An error that came without a call ends the script after the last step.
function errorShown() {
  const step = current();
  if (step && step.error) return step.error;
  const last = data.steps[data.steps.length - 1];
  return data.error && state.step === data.steps.length && !(last && last.error) ? data.error : null;
}

const part = (title, text) => text ? [make('p', {}, make('b', { textContent: title + ': ' }), ...withTerms(text))] : [];

// The error, and what `tirc explain` says of its code.
function errorParts(error) {
  const why = data.explanations[error.code];
  const parts = [
    make('p', {}, make('b', { textContent: `${error.call ? 'ScheduleError' : 'Error'} [${error.code}]: ` }), error.message),
    ...part('Numbers', error.wrong), ...part('Condition', error.condition), ...part('Hint', error.hint)];
  if (why) {
    parts.push(make('h3', { textContent: 'The rule' }), make('p', { className: 'rule' }, ...withTerms(why.rule)));
    if (why.hint && why.hint !== error.hint) parts.push(...part('What to do', why.hint));
    for (const name of why.terms || [])
      parts.push(make('h3', { textContent: name }), make('p', { className: 'definition', textContent: flowing(data.terms[name]) }));
    parts.push(make('p', {}, 'An example that is run: ', make('kbd', { textContent: 'tirc explain ' + error.code })));
  }
  return parts;
}

function showError() {
  const error = errorShown();
  $('error').hidden = !error;
  document.querySelector('main').classList.toggle('failed', !!error); /* on a narrow screen it stands first */
  if (!error) return $('error').replaceChildren();
  fillPane($('error'), ...errorParts(error));
  $('error').scrollTop = 0;
}

function showWarnings() {
  const step = current(), warnings = (step ? step.warnings : data.warnings) || [];
  $('warnings').hidden = false;
  fillPane($('warnings'), ...warnings.map(w => make('p', {}, make('b', { textContent: `Warning [${w.code}]: ` }), ...withTerms(w.message),
    ...w.hint ? [' ', make('b', { textContent: 'Hint: ' }), ...withTerms(w.hint)] : [])));
  $('warnings').scrollTop = 0;
}

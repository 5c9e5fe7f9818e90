// What words mean: the texts are those of `tirc explain`, which come with the data. The first place of a term
// in a pane can be reached with Tab; all of them answer the pointer.
'use strict';

// What stands for a term in a program's text or in the tree, without being its name.
const TERM_OF = [
  [/^T\.(block|sblock)$/, 'block'], [/^T\.axis\./, 'iterator'], [/^["'][SRO]+["']$/, 'iterator-kinds'],
  [/^T\.(reads|writes)$/, 'region'], [/^T\.init$/, 'init'], [/^T\.where$/, 'block-predicate'], [/^T\.alloc_buffer$/, 'storage-scope'],
];
const termOf = token => (TERM_OF.find(([pattern]) => pattern.test(token)) || [])[1];

// The terms, and other words for them, as they stand in sentences: "reduction blocks". Longer ones come first.
let termOfWord = new Map(), WORDS = null;
function learnTerms() {
  termOfWord = new Map([...Object.keys(data.terms).map(name => [name, name]), ...Object.entries(data.synonyms)]
    .filter(([word]) => word.length > 2).map(([word, name]) => [word.toLowerCase().replace(/-/g, ' '), name]));
  WORDS = new RegExp('\\b(' + [...termOfWord.keys()].sort((x, y) => y.length - x.length).join('|').replace(/ /g, '[- ]') + ')(?:s|es)?\\b', 'gi');
}

function termElement(name, text) {
  const e = make('span', { textContent: text });
  e.dataset.term = name;
  return e;
}

// A sentence as nodes, its terms marked.
function withTerms(text) {
  const nodes = [];
  let at = 0;
  for (const m of text.matchAll(WORDS)) {
    nodes.push(text.slice(at, m.index), termElement(termOfWord.get(m[1].toLowerCase().replace(/-/g, ' ')), m[0]));
    at = m.index + m[0].length;
  }
  return [...nodes, text.slice(at)];
}

// Lets Tab stop at the first place of each term in a part of a pane that is not among those seen before.
function stopAtTerms(part, seen) {
  for (const e of part.querySelectorAll('[data-term]')) {
    if (!seen.has(e.dataset.term)) e.setAttribute('tabindex', 0);
    seen.add(e.dataset.term);
  }
}

// Fills a pane, and gives the terms that it has. Who stands at one stays there; what came in pieces comes no further.
function fillPane(pane, ...children) {
  pane.filling = null;
  const at = pane.contains(document.activeElement) && document.activeElement.dataset.term;
  pane.replaceChildren(...children);
  const seen = new Set();
  stopAtTerms(pane, seen);
  if (at) (pane.querySelector(`[data-term="${at}"]`) || pane).focus({ preventScroll: true });
  return seen;
}

// A definition's text, whose lines end where a terminal's do: only its numbered conditions keep theirs.
const flowing = text => text.replace(/\n(?!  \d)/g, ' ');

// --- the tip ---------------------------------------------------------------------------------

function tipOf(e) {
  if (e.dataset.tip) return [e.dataset.tip];
  return [make('b', { textContent: e.dataset.term }), flowing(data.terms[e.dataset.term])];
}

function showTip(e) {
  const tip = $('tip'), old = showTip.of;
  if (old === e && !tip.hidden) return;
  if (old) old.removeAttribute('aria-describedby');
  showTip.of = e;
  tip.hidden = !e;
  if (!e) return;
  e.setAttribute('aria-describedby', 'tip');
  tip.replaceChildren(...tipOf(e));
  const at = e.getBoundingClientRect(), w = tip.offsetWidth, h = tip.offsetHeight;
  tip.style.left = Math.max(4, Math.min(at.left, innerWidth - w - 4)) + 'px';
  tip.style.top = (at.bottom + h < innerHeight ? at.bottom : Math.max(4, at.top - h)) + 'px';
}

function listenForTips() {
  const explained = e => e.target.closest && e.target.closest('[data-term], [data-tip]');
  document.addEventListener('mouseover', e => { if (!$('tip').contains(e.target)) showTip(explained(e)); });
  document.addEventListener('focusin', e => showTip(explained(e)));
  document.addEventListener('focusout', () => showTip(null));
}

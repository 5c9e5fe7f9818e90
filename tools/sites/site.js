// Search in the index that tools/site writes (INDEX): places that have all words, or words that begin so.
'use strict';

const field = document.getElementById('words'), list = document.getElementById('found');
const root = document.body.dataset.root, MOST = 30;

function placesOf(part) {
  const places = new Map();
  for (const [word, at] of Object.entries(INDEX.words))
    if (word.startsWith(part)) for (const i of at) places.set(i, Math.max(places.get(i) || 0, word === part ? 2 : 1));
  return places;
}

// A title or heading with the word counts more than a text.
function weight(i, parts) {
  const [, title, heading] = INDEX.places[i];
  return parts.reduce((sum, p) => sum + 4 * title.toLowerCase().includes(p) + 2 * heading.toLowerCase().includes(p), 0);
}

function find(text) {
  const parts = text.toLowerCase().match(/[a-z_][a-z0-9_]+/g) || [];
  if (!parts.length) return [];
  const found = parts.map(placesOf);
  const all = [...found[0].keys()].filter(i => found.every(places => places.has(i)));
  const score = i => weight(i, parts) + found.reduce((sum, places) => sum + places.get(i), 0);
  return all.sort((x, y) => score(y) - score(x) || x - y).slice(0, MOST).map(i => INDEX.places[i]);
}

function show() {
  const places = find(field.value);
  list.replaceChildren(...places.map(([address, title, heading]) => {
    const row = document.createElement('li'), link = document.createElement('a');
    link.href = root + '/' + address;
    link.textContent = heading && heading !== title ? `${title}: ${heading}` : title;
    row.append(link);
    return row;
  }));
  if (!places.length && field.value.trim()) list.append(Object.assign(document.createElement('li'), { textContent: 'Nothing has these words.' }));
  list.hidden = !field.value.trim();
}

field.addEventListener('input', show);
document.getElementById('search').addEventListener('submit', e => {
  e.preventDefault();
  const first = list.querySelector('a');
  if (first) first.focus();
});
document.addEventListener('keydown', e => {
  if (e.key === 'Escape') { list.hidden = true; field.focus(); }
  if (e.key === '/' && document.activeElement !== field) { e.preventDefault(); field.focus(); }
});
if (matchMedia('(max-width: 48rem)').matches) document.querySelector('nav details').open = false;

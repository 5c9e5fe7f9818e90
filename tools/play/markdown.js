// A lesson's page: the little Markdown that its pages are written in, as elements; nothing in it becomes HTML.
'use strict';

function inline(text) {
  const nodes = [], pattern = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)]+)\)/g;
  let at = 0;
  for (const m of text.matchAll(pattern)) {
    nodes.push(text.slice(at, m.index), m[1] ? make('code', { textContent: m[1] }) : m[2] ? make('b', { textContent: m[2] })
      : m[3] ? make('em', { textContent: m[3] }) : make('em', { textContent: m[4], title: m[5] }));
    at = m.index + m[0].length;
  }
  return [...nodes, text.slice(at)];
}

function markdown(text) {
  const out = [], lines = text.split('\n');
  let i = 0;
  const while_ = test => { const found = []; while (i < lines.length && test(lines[i])) found.push(lines[i++]); return found; };
  const cells = line => line.replace(/^\||\|\s*$/g, '').split('|').map(s => s.trim());
  while (i < lines.length) {
    const line = lines[i], heading = /^(#+) (.*)/.exec(line);
    if (!line.trim()) i++;
    else if (heading) out.push(make(heading[1].length === 1 ? 'h2' : 'h3', {}, ...inline(heading[2]))), i++;
    else if (/^```/.test(line)) {
      i++;
      out.push(make('pre', { tabIndex: 0 }, make('code', { textContent: while_(l => !/^```/.test(l)).join('\n') })));
      i++;
    } else if (/^ {4}/.test(line)) out.push(make('pre', { tabIndex: 0 }, make('code', { textContent: while_(l => /^ {4}|^$/.test(l)).map(l => l.slice(4)).join('\n').trimEnd() })));
    else if (/^\|/.test(line)) {
      const [head, , ...rows] = while_(l => /^\|/.test(l)).map(cells);
      out.push(make('table', {}, make('thead', {}, make('tr', {}, ...head.map(c => make('th', {}, ...inline(c))))), make('tbody', {}, ...rows.map(r => make('tr', {}, ...r.map(c => make('td', {}, ...inline(c))))))));
    } else if (/^(-|\*|\d+\.) /.test(line)) {
      const items = while_(l => /^(-|\*|\d+\.) |^ {2,}\S/.test(l)).reduce((list, l) => /^\s/.test(l) ? [...list.slice(0, -1), list[list.length - 1] + ' ' + l.trim()] : [...list, l.replace(/^\S+ /, '')], []);
      out.push(make(/^\d/.test(line) ? 'ol' : 'ul', {}, ...items.map(t => make('li', {}, ...inline(t)))));
    } else out.push(make('p', {}, ...inline(while_(l => l.trim() && !/^(#|```|\||- |\* |\d+\. )/.test(l)).join(' '))));
  }
  return out;
}

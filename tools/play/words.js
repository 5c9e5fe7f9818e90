// What the editors complete: the words are those of the compiler's tables, the names those of the program.
'use strict';

let words = null;

const signature = p => '(' + p.params.map((a, k) => (k === p.star ? '*' : '') + a.name + (a.default !== undefined ? '=' + a.default : '')).join(', ') + ')';

// What is said of a primitive beside it: what it does, its parameters, what it needs.
function primitiveInfo(p) {
  const list = (title, items) => items.length ? [make('p', { className: 'title', textContent: title }), make('ul', {}, ...items.map(i => make('li', { textContent: i })))] : [];
  return () => make('div', { className: 'info' }, make('p', { textContent: p.help }),
    ...list('Parameters', p.params.filter(a => a.help).map(a => a.help.startsWith(a.name) ? a.help : `${a.name}: ${a.help}`)), ...list('Needs', p.needs));
}

const option = (label, type, more) => ({ label, type, ...more });

function nodeNames(kind) {
  const at = data && afterStep();
  return at ? [...new Set(at.tree.filter(n => n.kind === kind).map(n => n.name))] : [];
}

function bufferNames() {
  const at = data && afterStep();
  return at ? buffersOf(at.tree).map(b => b.name) : [];
}

// The primitive in whose brackets the text ends, or null.
function openCall(text) {
  let depth = 0;
  for (let i = text.length - 1; i >= 0; i--) {
    if (/[)\]}]/.test(text[i])) depth++;
    else if (/[([{]/.test(text[i]) && depth-- === 0) {
      if (text[i] !== '(') { depth = 0; continue; }
      const name = /(\w+)$/.exec(text.slice(0, i));
      return name && words.primitives.find(p => p.name === name[1]) || null;
    }
  }
  return null;
}

const assigned = text => [...new Set([...text.matchAll(/^[ \t]*(?:for\s+)?([\w, \t*]+?)\s*(?:=(?!=)|\bin\b)/gm)]
  .flatMap(m => m[1].split(',')).map(s => s.replace('*', '').trim()).filter(s => /^[A-Za-z_]\w*$/.test(s)))];

function completeSchedule(context) {
  if (!words) return null;
  const before = context.state.sliceDoc(Math.max(0, context.pos - 2000), context.pos);
  const quoted = /["']([\w.]*)$/.exec(before), call = openCall(before.replace(/["'][^"'\n]*$/, ''));
  if (quoted && (before.slice(before.lastIndexOf('\n') + 1).match(/["']/g) || []).length % 2)
    return { from: context.pos - quoted[1].length, options: [...nodeNames('block').map(n => option(n, 'block', { detail: 'block' })),
      ...bufferNames().map(n => option(n, 'buffer', { detail: 'buffer' }))], validFor: /^\w*$/ };
  const method = /\bsch\.(\w*)$/.exec(before);
  if (method)
    return { from: context.pos - method[1].length, validFor: /^\w*$/,
      options: words.primitives.map(p => option(p.name, 'method', { detail: signature(p), info: primitiveInfo(p), apply: p.name + '(' })) };
  const member = /\.(\w*)$/.exec(before);
  if (member)
    return { from: context.pos - member[1].length, validFor: /^\w*$/,
      options: words.scripts.filter(s => s.owner).map(s => option(s.name, 'property', { detail: s.owner })) };
  const word = /[A-Za-z_]\w*$/.exec(before);
  if (!word && !context.explicit && !(call && /[(,]\s*$/.test(before))) return null;
  const parameters = call ? call.params.map(a => option(a.name + '=', 'parameter', { detail: a.default !== undefined ? a.default : 'required', info: a.help, boost: 1 })) : [];
  if (!word && !context.explicit) return parameters.length && call.params.length ? { from: context.pos, options: parameters, validFor: /^\w*$/ } : null;
  return { from: context.pos - (word ? word[0].length : 0), validFor: /^\w*$/,
    options: [...parameters, ...assigned(context.state.doc.toString()).filter(n => !word || n !== word[0]).map(n => option(n, 'variable')), option('sch', 'variable'),
      ...words.scripts.filter(s => !s.owner).map(s => option(s.name, 'function', { detail: s.kind }))] };
}

function completeProgram(context) {
  if (!words) return null;
  const before = context.state.sliceDoc(Math.max(0, context.pos - 400), context.pos), method = /\bT\.([\w.]*)$/.exec(before);
  if (method)
    return { from: context.pos - method[1].length, validFor: /^[\w.]*$/,
      options: words.functions.map(f => option(f.name, 'function', { detail: f.arguments ? '(' + f.arguments.split(' ').join(', ') + ')' : '', info: f.help })) };
  const word = /[A-Za-z_]\w*$/.exec(before);
  if (!word && !context.explicit) return null;
  const names = [...new Set(context.state.doc.toString().match(/\b[A-Za-z_]\w*/g) || [])].filter(n => !word || n !== word[0]);
  return { from: context.pos - (word ? word[0].length : 0), validFor: /^\w*$/, options: names.map(n => option(n, 'variable')) };
}

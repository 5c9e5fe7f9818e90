// The two editors: CodeMirror with Python's highlighting, words of the compiler's own tables, and its errors where they are.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { pythonLanguage } from '@codemirror/lang-python';
import { HighlightStyle, LanguageSupport, bracketMatching, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { lintKeymap, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword, tags.moduleKeyword], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--add-ink)' },
  { tag: [tags.comment], color: 'var(--dim)', fontStyle: 'italic' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--vectorized)' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: 'var(--parallel)' },
]);

const setLit = StateEffect.define();
const lit = StateField.define({
  create: () => Decoration.none,
  update(shown, transaction) {
    shown = shown.map(transaction.changes);
    for (const e of transaction.effects) {
      if (!e.is(setLit)) continue;
      const lines = e.value.filter(x => x.line > 0 && x.line <= transaction.state.doc.lines).sort((x, y) => x.line - y.line);
      shown = Decoration.set(lines.map(x => Decoration.line({ class: x.kind }).range(transaction.state.doc.line(x.line).from)));
    }
    return shown;
  },
  provide: field => EditorView.decorations.from(field),
});

// What an error is about: the word at its place, or the rest of the line.
function rangeOf(doc, { line, column }) {
  const at = doc.line(Math.max(1, Math.min(doc.lines, line || 1)));
  const from = Math.min(at.to, at.from + Math.max(0, (column || 1) - 1)), rest = doc.sliceString(from, at.to);
  const word = /^[\w.]+|^\S+/.exec(rest);
  const to = from + (word ? word[0].length : rest.length);
  return to > from ? { from, to } : { from: at.from, to: Math.max(at.to, at.from) };
}

// {parent, text, label, changed(text), complete(context), placed(line)}
export function create(options) {
  const locked = new Compartment();
  const view = new EditorView({
    parent: options.parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        locked.of(EditorState.readOnly.of(true)), lineNumbers(), history(), drawSelection(), highlightActiveLine(), bracketMatching(), closeBrackets(), indentUnit.of('    '),
        new LanguageSupport(pythonLanguage), syntaxHighlighting(colours), lit,
        autocompletion({ override: [options.complete], icons: false, maxRenderedOptions: 200 }),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
        EditorView.contentAttributes.of({ 'aria-label': options.label, tabindex: '0', spellcheck: 'false', autocapitalize: 'off', autocorrect: 'off' }),
        EditorView.updateListener.of(u => {
          if (u.docChanged) options.changed(u.state.doc.toString(), u.transactions.some(t => t.isUserEvent('set')));
          else if (u.selectionSet && options.placed) options.placed(u.state.doc.lineAt(u.state.selection.main.head).number);
        }),
      ],
    }),
  });
  return {
    view,
    text: () => view.state.doc.toString(),
    set: text => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: 0 }, userEvent: 'set' }),
    append: text => {
      const doc = view.state.doc, gap = doc.length && doc.sliceString(doc.length - 1) !== '\n' ? '\n' : '';
      view.dispatch({ changes: { from: doc.length, insert: gap + text + '\n' } });
    },
    // [{line, column, severity, message, render()}]
    tell: errors => view.dispatch(setDiagnostics(view.state, errors.map(e => ({
      ...rangeOf(view.state.doc, e), severity: e.severity, message: e.message, renderMessage: e.render })))),
    // [{line, kind}]; the first is brought into view
    light: (lines, reveal) => {
      const effects = [setLit.of(lines)], first = lines[0];
      if (reveal && first && first.line <= view.state.doc.lines && !view.hasFocus)
        effects.push(EditorView.scrollIntoView(view.state.doc.line(first.line).from, { y: 'nearest', yMargin: 20 }));
      view.dispatch({ effects });
    },
    focus: () => view.focus(),
    unlock: () => view.dispatch({ effects: locked.reconfigure([]) }), // until then nothing can be typed
  };
}

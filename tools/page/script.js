// The schedule, the line of the call that is shown lit.
'use strict';

// The script and those that it imports calls from, each line with the steps that it makes.
function buildScript() {
  for (const { file, text } of data.scripts) {
    const list = make('ol', {});
    if (file !== data.scriptFile) $('script').append(make('h3', { textContent: file }));
    $('script').append(list);
    text.replace(/\n$/, '').split('\n').forEach((line, i) => {
      const steps = data.steps.map((s, k) => s.line === i + 1 && s.file === file ? k + 1 : 0).filter(k => k);
      const li = make('li', { className: steps.some(k => data.steps[k - 1].warnings) ? 'warned' : '' });
      const l = codeLine(steps.length ? 'button' : 'span', line, '');
      // A line of a loop has several steps: the next one.
      if (steps.length) l.onclick = () => show(steps.find(k => k > state.step) || steps[0]);
      li.append(l);
      Object.assign(li.dataset, { first: steps[0] || '', file, line: i + 1 });
      list.append(li);
    });
  }
}

function lightScript() {
  const step = current(), error = errorShown(), at = step || error || {};
  for (const li of $('script').querySelectorAll('li')) {
    const lit = li.dataset.file === at.file && Number(li.dataset.line) === at.line;
    li.classList.toggle('lit', lit);
    li.classList.toggle('refused', lit && !!error);
    li.classList.toggle('todo', Number(li.dataset.first) > state.step);
    const b = li.querySelector('button');
    if (b) lit ? b.setAttribute('aria-current', 'step') : b.removeAttribute('aria-current');
    if (lit) reveal($('script'), li);
  }
}

// What is shown: which call, which colours; and the keys.
'use strict';

// Of a call that a rule of --auto made: which rule, and why.
const whyOf = step => !step.rule ? '' : ` Rule ${step.rule}${step.reason ? ': ' + step.reason : ''}.`;

function show(k) {
  state.step = Math.max(0, Math.min(data.steps.length, k));
  const step = current();
  $('slider').value = state.step;
  $('slider').setAttribute('aria-valuetext', step ? `call ${step.number}: ${step.sentence}` : 'before the first call');
  $('count').value = `${state.step} / ${data.steps.length}`;
  fillPane($('sentence'), ...withTerms(step ? step.sentence + whyOf(step) : 'The program before the first call.'));
  $('sentence').classList.toggle('refused', !!errorShown());
  $('call').textContent = $('call').dataset.tip = step ? step.call : '';
  $('previous').disabled = state.step === 0;
  $('next').disabled = state.step === data.steps.length;
  lightScript();
  showProgram();
  showTree();
  showError();
  showWarnings();
  showAccesses(true);
  lightChart();
  remember(state.step);
}

function theme(name) {
  document.documentElement.dataset.theme = name;
  $('theme').textContent = name === 'dark' ? 'Light' : 'Dark';
  $('theme').setAttribute('aria-pressed', name === 'dark');
  showTime(state.time);
}

function onKey(e) {
  if (e.ctrlKey || e.altKey || e.metaKey || /^(SELECT|TEXTAREA|SUMMARY)$/.test(e.target.tagName) || e.target.isContentEditable) return;
  if (e.key === 'Escape') return showTip(null);
  const range = e.target.type === 'range';
  if (e.target.tagName === 'INPUT' && !range) return;
  const button = e.target.tagName === 'BUTTON';
  const scrolls = e.target.classList.contains('code') && /^(Home|End)$/.test(e.key);
  const actions = {
    ArrowLeft: () => show(state.step - 1), ArrowRight: () => show(state.step + 1),
    Home: () => show(0), End: () => show(data.steps.length),
    ' ': () => play(!state.playing), ',': () => showTime(state.time - 1), '.': () => showTime(state.time + 1),
    t: () => theme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'),
  };
  const action = actions[e.key];
  if (!action || scrolls || (range && e.key.length > 1) || (button && e.key === ' ')) return;
  e.preventDefault();
  action();
}

function fitArrays() {
  placeSlots();
  views.forEach(v => v.fit());
  showTime(state.time);
}

// What is done by hand; once.
function listen() {
  $('slider').oninput = () => show(Number($('slider').value));
  $('previous').onclick = () => show(state.step - 1);
  $('next').onclick = () => show(state.step + 1);
  $('play').onclick = () => play(!state.playing);
  $('time').oninput = () => { play(false); showTime(Number($('time').value)); };
  $('theme').onclick = () => theme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
  document.addEventListener('keydown', onKey);
  addEventListener('resize', fitArrays);
  listenForTips();
  listenToThreads();
  theme(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', e => theme(e.matches ? 'dark' : 'light'));
  buildSettings();
}

// The panes of new steps, and of a new run of them.
function fillSteps() {
  learnTerms();
  $('slider').max = data.steps.length;
  buildScript();
}

function fillRun() {
  buildChart();
  if (run) buildSlots(), buildThreads(), buildElements(), placeSlots(); else showNoRun();
}

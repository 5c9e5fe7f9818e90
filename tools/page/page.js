// How the page begins.
'use strict';

// The call that the page's address ends with: #12.
const addressed = () => Number((/^#(?:step=)?(\d+)$/.exec(location.hash) || [0, 0])[1]);

function remember(step) {
  try { history.replaceState(null, '', '#' + step); } catch (e) { /* a file that has no address */ }
}

function start() {
  const name = path => path.split('/').pop();
  data = JSON.parse($('data').textContent);
  takeRun(data.run);
  $('title').textContent = `${name(data.programFile)} — ${name(data.scriptFile)}`;
  document.title = $('title').textContent + ' — tirc step';
  $('subtitle').textContent = `${count(data.steps.length, 'call', 'calls')}${data.error ? ', the script fails' : ''} (${data.programFile}, ${data.scriptFile})`;
  listen();
  chooseCache();
  fillSteps();
  fillRun();
  buildFlame();
  buildTraffic();
  addEventListener('hashchange', () => show(addressed()));
  show(addressed());
  showChart();
}

start();

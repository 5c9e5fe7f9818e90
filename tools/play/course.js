// A course in the playground: its exercises take the lessons' place, and what was written is handed in as a code.
'use strict';

// What the page brings: examples, or a course.
const shelf = { ...JSON.parse($('examples').textContent), lessons: [] }, course = shelf.course || null;

// What one writes in a course stays apart from the lessons, and from another edition of it.
const keptAt = key => 'tirc/' + (course ? `${course.title} ${course.edition}/` : '') + key;

async function showResult() {
  const { n, code } = await codeOf(course, $('learner').value.trim(), x => stored('lesson/' + x.name));
  $('dialog-text').value = n ? code : '';
  $('dialog-title').textContent = n ? `Hand in: ${n} of ${course.exercises.length} exercises` : 'You have not begun an exercise yet';
}

async function handIn() {
  keep();
  $('named').hidden = false;
  showDialog('Hand in', '');
  await showResult();
}

function beginCourse() {
  if (!course) return;
  document.title = $('course').textContent = course.title;
  document.body.classList.add('course');
  $('hand-in').hidden = false;
  $('hand-in').onclick = handIn;
  $('learner').oninput = () => { store('learner', $('learner').value); return showResult(); };
  $('learner').value = stored('learner') || '';
  $('dialog').addEventListener('close', () => { $('named').hidden = true; });
}

// The course's text stands before that of its first exercise.
const pageOf = x => course && x === course.exercises[0] ? course.page.trimEnd() + '\n\n' + x.page : x.page;

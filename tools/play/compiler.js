// The compiler behind the page: a worker, that is ended and begun again where it is not to be waited for.
'use strict';

class Compiler {
  // patience: milliseconds after which a question is given up.
  constructor(module, patience = 20000) {
    Object.assign(this, { module, patience, pending: new Map(), number: 0, restarts: 0 });
    this.source = URL.createObjectURL(new Blob([$('worker').textContent], { type: 'text/javascript' }));
    this.begin();
  }
  begin() {
    this.worker = new Worker(this.source);
    this.dead = null;
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.onerror = e => this.die(e.message || 'its worker is not allowed here');
    this.worker.postMessage({ module: this.module });
  }
  hear({ id, answer, failed, ms }) {
    const asked = this.pending.get(id);
    if (!asked) return;
    this.pending.delete(id);
    clearTimeout(asked.timer);
    this.last = ms;
    if (failed === undefined) return asked.done(answer);
    this.restart();
    asked.done({ error: { code: 'internal', message: `The compiler stopped: ${failed}.`, hint: 'The program may be nested too deeply or too large for a page; the command has more room.' } });
  }
  // A worker that cannot be begun is not begun again and again.
  die(why) {
    this.dead = { error: { code: 'internal', message: `The compiler stopped: ${why}.` } };
    for (const asked of this.pending.values()) clearTimeout(asked.timer), asked.done(this.dead);
    this.pending.clear();
  }
  // What was asked for is not answered any more.
  restart() {
    for (const asked of this.pending.values()) clearTimeout(asked.timer), asked.done(null);
    this.pending.clear();
    this.worker.terminate();
    this.restarts++;
    this.begin();
  }
  get busy() { return this.pending.size > 0; }
  // The answer; null when it was cancelled.
  ask(question) {
    if (this.dead) return Promise.resolve(this.dead);
    const id = ++this.number;
    return new Promise(done => {
      const late = () => {
        this.pending.delete(id);
        this.restart();
        done({ error: { code: 'time', message: `It took longer than ${this.patience / 1000} seconds.`, hint: 'Take smaller extents, or run it by the command.' } });
      };
      this.pending.set(id, { done, timer: setTimeout(late, this.patience) });
      this.worker.postMessage({ id, question });
    });
  }
  // Free again; after some milliseconds by force, for a new compiler takes longer to begin than most answers.
  async freed(milliseconds) {
    for (const end = performance.now() + milliseconds; this.busy && performance.now() < end;) await new Promise(done => setTimeout(done, 4));
    if (this.busy) this.restart();
  }
}

// At most so many bytes: a short text may be packed from one without end.
async function unpacked(base64, format, most = Infinity) {
  const bytes = Uint8Array.from(atob(base64), c => c.charCodeAt(0)), parts = [];
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format)).getReader();
  for (let n = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts).arrayBuffer();
    parts.push(value);
    n += value.length;
    if (n > most) { await reader.cancel(); throw new Error(`more than ${most} bytes`); }
  }
}

async function packed(text) {
  const bytes = new Uint8Array(await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'))).arrayBuffer());
  let s = '';
  for (const b of bytes) s += String.fromCharCode(b);
  return btoa(s).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

const linkText = async packedText => new TextDecoder().decode(await unpacked(packedText.replace(/-/g, '+').replace(/_/g, '/'), 'deflate-raw', 4e6));

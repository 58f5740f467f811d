/**
 * A TCP proxy between two parts of the estate that can go wrong: a new connection goes where `target` says just then,
 * and those that are open can be made silent, as by a network that swallows all packets and says nothing, or be cut.
 */
import { connect, createServer } from 'node:net';

export class Proxy {
  #pairs = new Set();
  /** Whether connections that come now are silent too. */
  swallowsNew = false;
  /** Of what is asked, which the server does while the connection is cut instead of an answer. */
  losesAnswerTo = () => false;
  lostCount = 0;

  /** Shape: `target()` gives `{ host, port }`, or null when there is none, which cuts the connection. */
  constructor(target) {
    this.target = target;
    this.server = createServer({ allowHalfOpen: true }, (near) => this.#take(near));
  }

  async listen(port) {
    await new Promise((resolve) => this.server.listen(port, '127.0.0.1', resolve));
    this.port = this.server.address().port;
    return this;
  }

  get count() {
    return this.#pairs.size;
  }

  #take(near) {
    const to = this.target();
    if (to === null) return near.resetAndDestroy();
    const far = connect({ ...to, allowHalfOpen: true });
    const pair = { near, far, isSilent: this.swallowsNew, isLosing: false };
    this.#pairs.add(pair);
    for (const [from, into] of [
      [near, far],
      [far, near],
    ]) {
      from.setNoDelay(true);
      from.on('data', (bytes) => this.#carry(pair, from, into, bytes));
      from.on('end', () => pair.isSilent || into.end());
      // Whoever hears nothing does not hear of the end either.
      from.on('error', () => pair.isSilent || into.destroy());
      from.on('close', () => {
        if (!pair.isSilent) into.destroy();
        if (near.destroyed && far.destroyed) this.#pairs.delete(pair);
      });
    }
  }

  #carry(pair, from, into, bytes) {
    if (pair.isSilent) return;
    if (from === pair.near && this.losesAnswerTo(bytes)) pair.isLosing = true;
    if (from === pair.near || !pair.isLosing) return into.write(bytes);
    this.lostCount += 1;
    pair.near.resetAndDestroy();
    pair.far.destroy();
  }

  /** Makes open connections black holes, for good: all, or those that `chosen` wants. Shape: how many. */
  swallow(chosen = () => true) {
    const pairs = [...this.#pairs].filter((pair) => !pair.isSilent && chosen(pair));
    for (const pair of pairs) pair.isSilent = true;
    return pairs.length;
  }

  /** Ends all silent connections, as a network that is back says that it knows them no more. */
  cut() {
    for (const { near, far, isSilent } of this.#pairs) {
      if (!isSilent) continue;
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  }

  close() {
    for (const { near, far } of this.#pairs) {
      near.destroy();
      far.destroy();
    }
    return new Promise((resolve) => this.server.close(resolve));
  }
}

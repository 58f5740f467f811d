/**
 * TCP proxy between two parts of the estate that injects faults. A new connection goes to the current `target`. Open
 * connections can be made silent, as by a network that drops all packets, or be cut.
 *
 * @import { AddressInfo, Socket } from 'node:net'
 * @typedef {{ near: Socket, far: Socket, isSilent: boolean, isLosing: boolean }} SocketPair
 */
import { connect, createServer } from 'node:net';

export class FaultInjectingProxy {
  /** @type {Set<SocketPair>} */
  #pairs = new Set();
  /** Whether new connections are silent, too. */
  swallowsNew = false;
  /**
   * Whether the server should execute this request while the client's connection is cut before the answer.
   * @type {(bytes: Buffer) => boolean}
   */
  losesAnswerTo = () => false;
  lostCount = 0;
  port = 0;

  /**
   * `target()` returns the address of the server, or null to cut the connection.
   * @param {() => { host: string, port: number } | null} target
   */
  constructor(target) {
    this.target = target;
    this.server = createServer({ allowHalfOpen: true }, (near) => this.#acceptConnection(near));
  }

  /** @param {number} port */
  async listen(port) {
    await new Promise((resolve) => this.server.listen(port, '127.0.0.1', () => resolve(undefined)));
    this.port = /** @type {AddressInfo} */ (this.server.address()).port;
    return this;
  }

  get count() {
    return this.#pairs.size;
  }

  /** @param {Socket} near */
  #acceptConnection(near) {
    const to = this.target();
    if (to === null) return void near.resetAndDestroy();
    const far = connect({ ...to, allowHalfOpen: true });
    const pair = { near, far, isSilent: this.swallowsNew, isLosing: false };
    this.#pairs.add(pair);
    for (const { from, into } of [
      { from: near, into: far },
      { from: far, into: near },
    ]) {
      from.setNoDelay(true);
      from.on('data', (bytes) => this.#forwardBytes(pair, from, into, bytes));
      from.on('end', () => pair.isSilent || into.end());
      // A silent connection does not transmit its end either.
      from.on('error', () => pair.isSilent || into.destroy());
      from.on('close', () => {
        if (!pair.isSilent) into.destroy();
        if (near.destroyed && far.destroyed) this.#pairs.delete(pair);
      });
    }
  }

  /**
   * @param {SocketPair} pair
   * @param {Socket} from
   * @param {Socket} into
   * @param {Buffer} bytes
   */
  #forwardBytes(pair, from, into, bytes) {
    if (pair.isSilent) return;
    if (from === pair.near && this.losesAnswerTo(bytes)) pair.isLosing = true;
    if (from === pair.near || !pair.isLosing) return void into.write(bytes);
    this.lostCount += 1;
    pair.near.resetAndDestroy();
    pair.far.destroy();
  }

  /**
   * Makes open connections permanently silent: all, or those that `chosen` selects. Returns their number.
   * @param {(pair: SocketPair) => boolean} chosen
   */
  swallow(chosen = () => true) {
    const pairs = [...this.#pairs].filter((pair) => !pair.isSilent && chosen(pair));
    for (const pair of pairs) pair.isSilent = true;
    return pairs.length;
  }

  /** Resets all silent connections, as a network does after its recovery. */
  cut() {
    for (const { near, far, isSilent } of this.#pairs) {
      if (!isSilent) continue;
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  }

  /** @returns {Promise<unknown>} */
  close() {
    for (const { near, far } of this.#pairs) {
      near.destroy();
      far.destroy();
    }
    return new Promise((resolve) => this.server.close(() => resolve(undefined)));
  }
}

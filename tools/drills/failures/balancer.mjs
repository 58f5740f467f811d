/**
 * Load balancer between replicas of a process: new connections go in turn to replicas that are ready; open connections stay.
 *
 * @import { ServiceProcess } from '../../processes/service-process.mjs'
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Proxy } from './proxy.mjs';

/** Interval of the readiness checks. Units: ms. */
const CHECK_MS = 250;

export class Balancer extends Proxy {
  /** @type {ServiceProcess[]} */
  #replicas = [];
  /** @type {Set<ServiceProcess>} */
  #ready = new Set();
  isClosed = false;
  /** @type {Promise<void> | undefined} */
  checking;
  #turn = 0;

  constructor() {
    super(() => this.#nextReplica());
  }

  get url() {
    return `http://localhost:${this.port}`;
  }

  /** @param {ServiceProcess[]} replicas */
  balance(replicas) {
    this.#replicas = replicas;
    this.checking ??= this.#checkReplicas();
  }

  /** @param {ServiceProcess} replica */
  isReady(replica) {
    return this.#ready.has(replica);
  }

  async close() {
    this.isClosed = true;
    await this.checking;
    await super.close();
  }

  #nextReplica() {
    const ready = [...this.#ready];
    const replica = ready[(this.#turn += 1) % ready.length];
    return replica ? { host: '127.0.0.1', port: Number(replica.env['PORT']) } : null;
  }

  async #checkReplicas() {
    while (!this.isClosed) {
      for (const replica of this.#replicas) {
        const answers = await fetch(`${replica.managementUrl}/-/health/ready`, { signal: AbortSignal.timeout(1000) })
          .then(({ status }) => status === 200)
          .catch(() => false);
        if (answers) this.#ready.add(replica);
        else this.#ready.delete(replica);
      }
      await delay(CHECK_MS);
    }
  }
}

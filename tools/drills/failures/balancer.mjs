/**
 * Load balancer between replicas of a process: new connections go in turn to replicas that are ready; open connections stay.
 *
 * @import { ServiceProcess } from '../../processes/service-process.mjs'
 */
import { setTimeout as delay } from 'node:timers/promises';
import { FaultInjectingProxy } from './proxy.mjs';

/** Interval of the readiness checks. Units: ms. */
const CHECK_MS = 250;
/** Checks without an answer after which a replica counts as not ready, as in Kubernetes; a busy machine may miss one. */
const UNANSWERED = 3;

export class Balancer extends FaultInjectingProxy {
  /** @type {ServiceProcess[]} */
  #replicas = [];
  /** @type {Set<ServiceProcess>} */
  #ready = new Set();
  /** Consecutive checks that a replica has not answered. @type {Map<ServiceProcess, number>} */
  #unanswered = new Map();
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
        const isReady = await askIfReady(replica);
        const unanswered = isReady === null ? (this.#unanswered.get(replica) ?? 0) + 1 : 0;
        this.#unanswered.set(replica, unanswered);
        if (isReady === true) this.#ready.add(replica);
        if (isReady === false || unanswered >= UNANSWERED) this.#ready.delete(replica);
      }
      await delay(CHECK_MS);
    }
  }
}

/**
 * Whether a replica is ready; null if it has not answered in time. A refused connection is no.
 * @param {ServiceProcess} replica
 */
function askIfReady(replica) {
  return fetch(`${replica.managementUrl}/-/health/ready`, { signal: AbortSignal.timeout(1000) }).then(
    ({ status }) => status === 200,
    (error) => (error.name === 'TimeoutError' ? null : false),
  );
}

/**
 * The six processes of one release on the servers of an estate. Code and environment are those of the folder of the release.
 *
 * @import { Estate } from '../../processes/estate.mjs'
 * @import { Ports } from '../../processes/environment.mjs'
 * @import { ServiceProcess } from '../../processes/service-process.mjs'
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePorts, until } from '../../processes/process-records.mjs';

const READY_WITHIN_MS = 120_000;

export class ReleaseProcesses {
  /** @type {ServiceProcess[]} */
  #processes = [];
  baseUrl = '';

  /**
   * @param {Estate} estate
   * @param {string} name
   * @param {string} root folder of the release
   */
  constructor(estate, name, root) {
    this.estate = estate;
    this.root = root;
    this.logs = join(estate.logs, name);
    this.name = name;
  }

  /** Starts all processes on free ports; resolves when the gateway reports that all of them are ready. */
  async start() {
    mkdirSync(this.logs, { recursive: true });
    const { environmentOf, PROCESSES } = await this.#importReleaseModule('environment.mjs');
    const { ServiceProcess } = await this.#importReleaseModule('service-process.mjs');
    const free = await freePorts(PROCESSES.length * 2);
    const next = () => /** @type {number} */ (free.pop());
    /** @type {Record<string, Ports>} */
    const ports = Object.fromEntries(
      PROCESSES.map((/** @type {string} */ one) => [one, { http: next(), management: next() }]),
    );
    this.#processes = PROCESSES.map(
      (/** @type {string} */ name) =>
        new ServiceProcess({ name, env: environmentOf(name, this.#estateFactsWith(ports)), logs: this.logs }),
    );
    this.baseUrl = `http://127.0.0.1:${ports['gateway']?.http}`;
    await Promise.all(this.#processes.map((one) => one.start()));
    const isReady = () =>
      fetch(`${this.baseUrl}/-/health/ready`).then(
        ({ status }) => status === 200,
        () => false,
      );
    if (!(await until(isReady, READY_WITHIN_MS, 50)))
      throw new Error(`${this.name} does not get ready; logs: ${this.logs}`);
  }

  /** Stops the gateway, then the services. */
  async stop() {
    const gateway = this.#processes.find(({ name }) => name === 'gateway');
    await gateway?.stop();
    await Promise.all(this.#processes.map((one) => one.stop()));
  }

  /**
   * The estate with other ports, as the environment of a process needs it.
   * @param {Record<string, Ports>} ports
   */
  #estateFactsWith(ports) {
    const { host, databases, natsUrls, smtpUrl, blobsUrl, repositories, externalUrl, secrets, env } = this.estate;
    return { host, databases, natsUrls, smtpUrl, blobsUrl, repositories, externalUrl, secrets, env, ports };
  }

  /**
   * A module of the release's own tools.
   * @param {string} name
   */
  #importReleaseModule(name) {
    return import(pathToFileURL(join(this.root, 'tools/processes', name)).href);
  }
}

/**
 * Starts images as their compose file does: as their user, with read-only files, without capabilities, and writable in
 * volumes and temporary folders only. PostgreSQL and NATS are those of the repository.
 *
 * @import { ChildProcess } from 'node:child_process'
 * @import { EstateFacts } from '../processes/environment.mjs'
 * @import { Image } from './image-build.mjs'
 * @import { Bind } from './stage-folder.mjs'
 * @typedef {{ image: Image, binds: Bind[], temporary: string[] }} Container
 */
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { environmentOf, LOOPBACK, PROCESSES, SERVICES } from '../processes/environment.mjs';
import { ownerVariables } from '../processes/migrations.mjs';
import { freePorts, until } from '../processes/process-records.mjs';
import { readSecrets } from '../processes/secrets.mjs';
import { ensureDatabases, databaseNameOf, databaseOwnerOf } from '../servers/databases.mjs';
import { natsProgram, startNats } from '../servers/nats.mjs';
import { discardPostgres } from '../servers/postgres-files.mjs';
import { startPostgres, TEST_SETTINGS } from '../servers/postgres.mjs';
import { lastLines, lastLinesOf } from './image-build.mjs';
import { stageProgramPid } from './stage-folder.mjs';

/** Six services start at once, on a machine that may be busy. */
const READY_WITHIN_MS = 600_000;
const STOPPED_WITHIN_MS = 60_000;
/** Exit codes of libs/platform/src/boot/boot.ts. */
const USAGE = 64;
const CONFIGURATION = 78;

/**
 * Volumes and temporary folders of a service in the compose file. A volume begins with the content and the owner that the
 * image has there. Errors: the image lacks the folder of a volume.
 * @param {{ volumes?: string[], tmpfs?: string[] }} service
 * @param {Image} image
 * @param {string} folder
 * @returns {Omit<Container, 'image'>}
 */
export function containerMountsOf({ volumes = [], tmpfs = [] }, image, folder) {
  const binds = volumes.map((volume) => {
    const [name = '', target = ''] = volume.split(':');
    const source = join(folder, name);
    const inImage = join(image.stage.files, target);
    if (target !== '/tmp' && (!existsSync(inImage) || `${statSync(inImage).uid}` !== image.user.split(':')[0]))
      throw new Error(`the image has no folder ${target} of its user for the volume ${name}`);
    mkdirSync(folder, { recursive: true });
    execFileSync('cp', ['-a', inImage, source]);
    if (target === '/tmp') execFileSync('chmod', ['1777', source]);
    return { source, target, isWritable: true };
  });
  return { binds, temporary: tmpfs };
}

export class ImageEstate {
  /** Started services by name. @type {Map<string, { child: ChildProcess, log: string }>} */
  #started = new Map();
  /** @type {import('../servers/postgres.mjs').PostgresServer | undefined} */
  #postgres;
  /** @type {import('../servers/nats.mjs').NatsServer | undefined} */
  #nats;
  /** @type {EstateFacts | undefined} */
  #facts;

  /**
   * @param {string} folder
   * @param {Map<string, Container>} containers by service
   */
  constructor(folder, containers) {
    this.folder = folder;
    this.containers = containers;
  }

  get facts() {
    if (!this.#facts) throw new Error('the servers are not started');
    return this.#facts;
  }

  async startServers() {
    mkdirSync(this.folder, { recursive: true });
    const secrets = readSecrets(this.folder);
    const { folder } = this;
    this.#postgres = await startPostgres({ folder, password: secrets.postgres, settings: TEST_SETTINGS });
    const postgres = this.#postgres;
    await ensureDatabases(postgres, secrets);
    const nats = await startNats({ folder: join(folder, 'nats'), program: natsProgram(), passwords: secrets.bus });
    this.#nats = nats;
    const ports = await freePorts(PROCESSES.length * 2);
    const next = () => /** @type {number} */ (ports.pop());
    /** @type {(of: (service: string) => string) => Record<string, string>} */
    const byService = (of) => Object.fromEntries(SERVICES.map((name) => [name, of(name)]));
    this.#facts = {
      host: LOOPBACK,
      ports: Object.fromEntries(PROCESSES.map((name) => [name, { http: next(), management: next() }])),
      // Not the Unix socket, which is outside of the image.
      databases: byService((name) => postgres.url(databaseNameOf(name), databaseNameOf(name), secrets.databases[name])),
      owners: byService((name) => postgres.url(databaseNameOf(name), databaseOwnerOf(name), secrets.owners[name])),
      natsUrls: byService((name) => nats.urlOf(name)),
      // No e-mail is sent.
      smtpUrl: 'smtp://127.0.0.1:1',
      blobsUrl: '/var/lib/rookery/blobs',
      secrets,
      env: {},
    };
  }

  get rootToken() {
    return readSecrets(this.folder).rootToken;
  }

  /** @param {string} name */
  #containerOf(name) {
    const container = this.containers.get(name);
    if (!container) throw new Error(`there is no image of ${name}`);
    return container;
  }

  /** @param {string} name */
  #settingsOf(name) {
    const settings = environmentOf(name, this.facts);
    const given = Object.entries(settings).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
    return { ...Object.fromEntries(given), ...(this.containers.has('admin') ? {} : { ADMIN_URL: 'none' }) };
  }

  /**
   * @param {string} name
   * @param {string[]} words
   * @param {Record<string, string>} env
   */
  #launch(name, words, env) {
    const { image, binds, temporary } = this.#containerOf(name);
    const { stage, entrypoint, command, user, workdir } = image;
    const all = [...entrypoint, ...(words.length > 0 ? words : command)];
    const options = { user, workdir, binds, temporary, hasNetwork: true, isConfined: true, log: words[0] ?? 'serve' };
    return stage.start(all, { ...options, env: { ...image.env, HOME: '/', ...env } });
  }

  /**
   * @param {string} name
   * @param {string[]} words
   * @param {{ env?: Record<string, string>, status: number, says?: RegExp }} expected
   */
  async #expect(name, words, { env = {}, status, says = /(?:)/ }) {
    const { child, log } = this.#launch(name, words, env);
    const ended = await new Promise((resolve) => child.once('exit', resolve));
    if (ended === status && says.test(readFileSync(log, 'utf8'))) return;
    throw new Error(`${name} ${words.join(' ')} ended with ${ended}, not ${status}:\n${lastLinesOf(log)}`);
  }

  /**
   * Checks the answers of an image without an estate: the usage to an unknown role, and the names of missing settings.
   * @param {string} name
   */
  async checkRefusals(name) {
    await this.#expect(name, ['--help'], { status: USAGE, says: /There are:\n +all / });
    await this.#expect(name, ['api'], { status: CONFIGURATION, says: /ROOKERY_CONTEXT_KEYS/ });
  }

  /** @param {string} name */
  async migrate(name) {
    const env = this.#settingsOf(name);
    await this.#expect(name, ['migrate'], { env: { ...env, ...ownerVariables(name, this.facts) }, status: 0 });
    if (name !== 'identity') return;
    await this.#expect(name, ['bootstrap'], { env: { ...env, ROOKERY_ROOT_TOKEN: this.rootToken }, status: 0 });
  }

  /**
   * Starts a service with the command of its image.
   * @param {string} name
   */
  start(name) {
    this.#started.set(name, this.#launch(name, [], this.#settingsOf(name)));
  }

  /**
   * Resolves when the service is live and ready. Errors: it ended, or is not ready in time.
   * @param {string} name
   */
  async untilReady(name) {
    const { child, log } = this.#started.get(name) ?? fail(`${name} is not started`);
    let answer = 'no answer';
    const isDone = await until(
      async () => {
        if (child.exitCode !== null || child.signalCode !== null) return 'ended';
        const statuses = await Promise.all(['live', 'ready'].map((kind) => this.#health(name, kind)));
        answer = statuses.map(({ text }) => text).join(' ');
        return statuses.every(({ isOk }) => isOk);
      },
      READY_WITHIN_MS,
      100,
    );
    if (isDone !== true) throw new Error(`${name} is not ready: ${answer}\n${lastLinesOf(log)}`);
  }

  /**
   * @param {string} name
   * @param {string} kind
   */
  async #health(name, kind) {
    try {
      const response = await fetch(`http://${LOOPBACK}:${this.facts.ports[name]?.management}/-/health/${kind}`);
      return { isOk: response.ok, text: await response.text() };
    } catch (error) {
      return { isOk: false, text: /** @type {Error} */ (error).message };
    }
  }

  /**
   * A call of the API as root, through the gateway. Errors: another status.
   * @param {string} method
   * @param {string} path
   * @param {number} status
   * @param {unknown} [json]
   */
  async call(method, path, status, json) {
    const response = await fetch(`http://${LOOPBACK}:${this.facts.ports['gateway']?.http}/api/v4${path}`, {
      method,
      headers: {
        'private-token': this.rootToken,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const body = Buffer.from(await response.arrayBuffer());
    if (response.status === status) return body;
    throw new Error(
      `${method} ${path}: ${response.status}, not ${status}: ${lastLines(body.toString()).slice(0, 300)}`,
    );
  }

  /**
   * Ends a service as a container runtime does. Errors: an exit code other than 0.
   * @param {string} name
   */
  async stop(name) {
    const { child, log } = this.#started.get(name) ?? fail(`${name} is not started`);
    const pid = stageProgramPid(child.pid);
    if (pid === null) throw new Error(`${name} has ended:\n${lastLinesOf(log)}`);
    process.kill(pid, 'SIGTERM');
    await until(() => child.exitCode !== null || child.signalCode !== null, STOPPED_WITHIN_MS);
    if (child.exitCode !== 0)
      throw new Error(`${name} ended with ${child.signalCode ?? child.exitCode} at SIGTERM:\n${lastLinesOf(log)}`);
    this.#started.delete(name);
  }

  /** Ends the servers. */
  async close() {
    await this.#nats?.stop();
    await this.#postgres?.stop();
    discardPostgres(this.folder);
  }
}

/**
 * @param {string} text
 * @returns {never}
 */
function fail(text) {
  throw new Error(text);
}

/**
 * The whole of Rookery on this machine: PostgreSQL, NATS, a mail sink and the services, in six processes or in one,
 * started, supervised and stopped in order. `npm start` adds the output; tests, drills and benchmarks use this module as
 * a library.
 *
 * @import { Environment, Ports } from './environment.mjs'
 * @import { SchemaDigests } from './build.mjs'
 * @import { Seed } from '../snapshots/seed-file.mjs'
 * @import { PostgresServer } from '../servers/postgres.mjs'
 * @import { NatsServer } from '../servers/nats.mjs'
 * @import { MailSink } from '../servers/mail-sink.mjs'
 * @import { LocalControl } from './local-control.mjs'
 * @import { Secrets } from './secrets.mjs'
 * @typedef {(text: string) => void} Say
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  databaseVariable,
  environmentOf,
  environmentOfAll,
  isGiven,
  layoutIn,
  LOOPBACK,
  PROCESSES,
  SERVICES,
  TOGETHER,
} from './environment.mjs';
import { FirstStart } from '../snapshots/first-start.mjs';
import {
  endProcess,
  freePorts,
  isAlive,
  portIsFree,
  readRecord,
  tryLock,
  unlock,
  until,
  writeRecord,
} from './process-records.mjs';
import { readSecrets } from './secrets.mjs';
import { MOST_LIVES, ServiceProcess } from './service-process.mjs';
import { runOnceAfterRestore, refuseUnfinishedRestore } from '../snapshots/restored-backup.mjs';
import { CommandRefused, Snapshots } from '../snapshots/snapshots.mjs';
import { inheritedFrom, recordEnvironment } from './inherited-environment.mjs';

/**
 * Processes that are busy for longer are ended when the estate is paused. A process with all services closes more, one
 * part after the other, and takes longer to start again. Units: ms.
 */
const REST_WITHIN_MS = { six: 600, one: 2000 };
const DEFAULT_DATA = fileURLToPath(new URL('../../.rookery', import.meta.url));

/**
 * Starts an estate on the data below `dataDir`. Resolves when all processes are ready. `env` overrides this process's
 * environment, `digests` come from `build()`, and `signal` aborts the start. With `resettable`, states can be saved and
 * restored (snapshots.mjs); with `commanded`, the estate accepts commands of other processes (local-control.mjs);
 * `withoutProcesses` starts servers and migrates only.
 * Errors: a busy port, a second estate on the same data, a part that does not start. Parts that have started are stopped.
 * @param {{ dataDir?: string, port?: number, env?: Environment, digests?: SchemaDigests, say?: Say, warn?: Say,
 *   signal?: AbortSignal, resettable?: boolean, commanded?: boolean, withoutProcesses?: boolean }} [options]
 */
export async function startEstate({
  dataDir,
  port,
  env = {},
  digests,
  say = () => {},
  warn = say,
  signal,
  resettable = false,
  commanded = false,
  withoutProcesses = false,
} = {}) {
  const all = { ...inheritedFrom(process.env), ...env };
  const folder = resolve(dataDir ?? (all.ROOKERY_DATA || DEFAULT_DATA));
  const seed = all.ROOKERY_SEED ? (await import('../snapshots/seed-file.mjs')).readSeed(all.ROOKERY_SEED) : null;
  const estate = new Estate(folder, all, Number(port ?? (all.PORT || 8080)), {
    say,
    warn,
    seed,
    isResettable: resettable,
  });
  const steps = [
    () => estate.startServers(),
    async () => estate.prepare(digests ?? (await (await import('./build.mjs')).build()).digests),
    async () => {
      if (commanded) await estate.acceptCommands();
    },
    async () => {
      if (!withoutProcesses) await estate.startProcesses(signal, { keepsState: resettable });
    },
    () => estate.commands?.begin(),
  ];
  await estate.claim();
  try {
    for (const step of steps) {
      signal?.throwIfAborted();
      await step();
    }
    return estate;
  } catch (error) {
    await estate.stop().catch(() => {});
    throw error;
  }
}

/** An estate. `postgres`, `nats` and `mail` are null if the operator named an own server. */
export class Estate {
  /** @type {Record<string, ServiceProcess>} */
  processes = {};
  /** @type {ServiceProcess[]} */
  replicas = [];
  /** @type {PostgresServer | null} */
  postgres = null;
  /** @type {NatsServer | null} */
  nats = null;
  /** @type {MailSink | null} */
  mail = null;
  /** @type {LocalControl | null} */
  commands = null;
  /** Addresses of the embedded databases by service. @type {Record<string, string>} */
  databases = {};
  /** Their addresses as the roles that own their tables. @type {Record<string, string>} */
  owners = {};
  /** @type {Record<string, string> | undefined} */
  natsUrls;
  /** @type {string | undefined} */
  smtpUrl;
  /** @type {string | undefined} */
  externalUrl;
  /** @type {Record<string, Ports>} */
  ports = {};
  /** @type {Secrets | undefined} */
  #secrets;
  /** Identity of the PostgreSQL server; `external` if the operator named all databases. */
  cluster = 'external';
  token = '';
  lastAnswer = '';
  /** @type {SchemaDigests} */
  digests = {};
  /** @type {Promise<void> | undefined} */
  stopping;
  /** Whether the gateway was started. */
  #isOpen = false;

  /**
   * @param {string} dataDir
   * @param {Environment} env
   * @param {number} port
   * @param {{ say: Say, warn: Say, seed: Seed | null, isResettable: boolean }} options
   */
  constructor(dataDir, env, port, { say, warn, seed, isResettable }) {
    this.dataDir = dataDir;
    this.env = env;
    this.port = port;
    this.layout = layoutIn(env);
    this.host = env['HOST'] || LOOPBACK;
    this.say = say;
    this.warn = warn;
    this.isResettable = isResettable;
    this.mailDir = join(dataDir, 'mail');
    this.blobsUrl = join(dataDir, 'blobs');
    this.repositories = join(dataDir, 'repositories');
    this.logs = join(dataDir, 'logs');
    this.lock = join(dataDir, 'run/supervisor.lock');
    this.roster = join(dataDir, 'run/processes.json');
    this.snapshots = new Snapshots(this);
    this.firstStart = new FirstStart(this, seed);
  }

  get baseUrl() {
    return `http://localhost:${this.port}`;
  }

  get secrets() {
    return (this.#secrets ??= readSecrets(this.dataDir));
  }

  /**
   * Ids of all processes by name.
   * @returns {Record<string, number>}
   */
  get pids() {
    const own = [...Object.values(this.processes), ...this.replicas].map((process) => [process.name, process.pid]);
    const servers = { supervisor: process.pid, postgres: this.postgres?.pid, nats: this.nats?.pid };
    return Object.fromEntries([...own, ...Object.entries(servers)].filter(([, pid]) => pid));
  }

  /** Locks the data folder and ends processes that a killed supervisor left behind. */
  async claim() {
    mkdirSync(this.dataDir, { recursive: true });
    refuseUnfinishedRestore(this.dataDir);
    for (const name of ['logs', 'run', 'mail']) mkdirSync(join(this.dataDir, name), { recursive: true, mode: 0o700 });
    const holder = tryLock(this.lock, { url: this.baseUrl });
    if (holder)
      throw new Error(
        `Rookery runs on ${this.dataDir} already (process ${holder.pid}, ${holder.url}). ` +
          'Stop it, or choose another folder and port: ROOKERY_DATA=/path PORT=8081 npm start',
      );
    /** @type {import('./process-records.mjs').ProcessRecord[]} */
    const leftovers = (readRecord(this.roster) ?? []).filter(isAlive);
    if (leftovers.length > 0) this.say(`ending ${leftovers.length} processes of a supervisor that was killed`);
    await Promise.all(leftovers.map((record) => endProcess(record, { graceMs: 3000 })));
    rmSync(this.roster, { force: true });
    await this.#refuseBusyPort();
  }

  async #refuseBusyPort() {
    if (await portIsFree(this.port, this.host)) return;
    unlock(this.lock);
    throw new Error(
      `Port ${this.port} is in use by another program. Stop it or choose another port: PORT=${this.port + 1} npm start`,
    );
  }

  /** Starts PostgreSQL, NATS and the mail sink in parallel, except those for which the operator gave an address. */
  async startServers() {
    this.token = rootTokenFrom(this.env) ?? this.secrets.rootToken;
    const [postgres, nats, mail] = await Promise.allSettled([
      this.#startPostgres(),
      this.#startNats(),
      this.#startMail(),
    ]);
    const failed = [postgres, nats, mail].find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
  }

  async #startPostgres() {
    const embedded = SERVICES.filter((service) => !isGiven(this.env, databaseVariable(service)));
    if (embedded.length === 0) return;
    const { startPostgres } = await import('../servers/postgres.mjs');
    const { ensureDatabases } = await import('../servers/databases.mjs');
    this.postgres = await startPostgres({ folder: this.dataDir, password: this.secrets.postgres });
    this.cluster = this.postgres.identity;
    const { databases, owners } = await ensureDatabases(this.postgres, this.secrets, embedded);
    this.databases = databases;
    this.owners = owners;
    this.say(`PostgreSQL on 127.0.0.1:${this.postgres.port}`);
  }

  async #startNats() {
    if (isGiven(this.env, 'NATS_URL')) return;
    const { natsProgram, startNats } = await import('../servers/nats.mjs');
    const program = natsProgram({ say: this.say });
    const nats = await startNats({ folder: join(this.dataDir, 'nats'), program, passwords: this.secrets.bus });
    this.nats = nats;
    this.natsUrls = Object.fromEntries(SERVICES.map((name) => [name, nats.urlOf(name)]));
    this.say(`NATS with JetStream on 127.0.0.1:${nats.port}`);
  }

  async #startMail() {
    if (isGiven(this.env, 'SMTP_URL')) return;
    const { startMailSink } = await import('../servers/mail-sink.mjs');
    this.mail = await startMailSink({ folder: this.mailDir });
    this.smtpUrl = this.mail.url;
    this.say(`e-mails are stored in ${this.mailDir}`);
  }

  /**
   * Chooses ports and brings databases up to date.
   * @param {SchemaDigests} digests
   */
  async prepare(digests) {
    const free = await freePorts(PROCESSES.length * 2, [this.port]);
    const next = () => /** @type {number} */ (free.pop());
    this.ports = Object.fromEntries(
      PROCESSES.map((name) => [name, { http: name === 'gateway' ? this.port : next(), management: next() }]),
    );
    this.externalUrl = this.env.ROOKERY_EXTERNAL_URL || this.baseUrl;
    this.digests = digests;
    this.firstStart.begin();
    const finished = await this.snapshots.finishInterrupted();
    if (finished) this.say(`finished the interrupted restore of ${finished}`);
    await this.bringUpToDate();
    const { runRole } = await import('./migrations.mjs');
    if (await runOnceAfterRestore(this.dataDir, () => runRole('identity', ['new-epoch'], this)))
      this.say('the data come from a backup: another history of the directory begins');
  }

  /** Migrates the databases to the schema of the code, and gives root the current token. */
  async bringUpToDate() {
    const { bootstrapRootUser: bootstrap, migrate } = await import('./migrations.mjs');
    const about = { dataDir: this.dataDir, estate: this, cluster: this.cluster };
    const migrated = await migrate({ ...about, digests: this.digests });
    if (migrated.length > 0) this.say(`schema brought up to date: ${migrated.join(', ')}`);
    if (await bootstrap({ ...about, token: this.token }))
      this.say(this.firstStart.isUnfinished ? 'administrator root created' : 'root has the token that was given now');
  }

  /**
   * Starts all processes. At the first start, the gateway starts last: a client that finds the estate ready also finds
   * all data of the seed.
   * @param {AbortSignal | undefined} signal
   * @param {{ keepsState: boolean }} options
   */
  async startProcesses(signal, { keepsState }) {
    signal?.addEventListener('abort', () => void this.stop(), { once: true });
    const environments = Object.fromEntries(PROCESSES.map((name) => [name, environmentOf(name, this)]));
    // For operators' commands (operate.mjs), which run in other processes.
    const recorded = Object.entries(environments).map(([name, environment]) => [
      name,
      recordEnvironment(environment, this.secrets, this.env),
    ]);
    writeRecord(join(this.dataDir, 'run/environments.json'), Object.fromEntries(recorded));
    const isFirst = this.firstStart.isUnfinished && (keepsState || this.firstStart.seed !== null);
    const { gateway = {}, ...services } = environments;
    await this.#startInLayout(isFirst ? services : environments);
    await this.firstStart.finish({ keepsState });
    if (isFirst && this.layout === 'one') await this.processes[TOGETHER]?.stop();
    if (isFirst) await this.#startInLayout(this.layout === 'one' ? environments : { gateway });
    this.#isOpen = true;
    await this.#waitForGateway();
  }

  /** @param {Record<string, Environment>} environments by process; together they are one process in the layout `one` */
  async #startInLayout(environments) {
    const own = this.layout === 'one' ? { [TOGETHER]: environmentOfAll(environments, this) } : environments;
    const processes = Object.entries(own).map(([name, environment]) => this.#createProcess(name, environment));
    for (const process of processes) this.processes[process.name] = process;
    /** @type {string[]} */
    const failures = [];
    const starts = processes.map((process) => process.start());
    for (const start of starts) start.catch((error) => failures.push(error.message));
    try {
      await Promise.all(starts);
    } catch {
      // Processes that fail for the same reason fail at nearly the same time; slower ones are not awaited.
      await delay(1000);
      throw new Error(failures.join('\n\n'));
    }
  }

  async #waitForGateway() {
    // An estate that is stopped meanwhile does not get ready any more.
    const answer = await until(async () => Boolean(this.stopping) || this.#checkReadiness(), 120_000, 10);
    if (!answer) throw new Error(`The gateway does not get ready: ${this.lastAnswer}`);
  }

  /**
   * Runs `use` while all processes are paused and neither read nor write. Afterwards they start again without their former
   * memory; resolves when they are ready. Errors: those of `use`; then the processes stay paused, unless
   * `resumesAfterFailure`. A process that is busy for longer than `withinMs` is ended, and started again.
   * @param {() => Promise<void>} use
   */
  async atRest(use, { resumesAfterFailure = true, withinMs = REST_WITHIN_MS[this.layout] } = {}) {
    const processes = [...Object.values(this.processes), ...this.replicas];
    // The gateway first: requests that it is serving need the services.
    const { gateway } = this.processes;
    await gateway?.rest(withinMs);
    await Promise.all(processes.map((process) => process.rest(withinMs)));
    let isDone = false;
    try {
      await use();
      isDone = true;
    } finally {
      if ((isDone || resumesAfterFailure) && !this.stopping) {
        await Promise.all(processes.map((process) => process.resume()));
        if (this.#isOpen) await this.#waitForGateway();
        this.#writeRoster();
      }
    }
  }

  async #checkReadiness() {
    try {
      const response = await fetch(`http://127.0.0.1:${this.port}/-/health/ready`);
      this.lastAnswer = `${response.status} ${await response.text()}`;
      return response.status === 200;
    } catch (error) {
      this.lastAnswer = /** @type {Error} */ (error).message;
      return false;
    }
  }

  /**
   * @param {string} name
   * @param {Environment} env
   */
  #createProcess(name, env) {
    const onSpawn = () => this.#writeRoster();
    const mostLives = name === TOGETHER ? Math.floor(MOST_LIVES / SERVICES.length) : MOST_LIVES;
    return new ServiceProcess({ name, env, logs: this.logs, onSpawn, onCrash: this.warn, mostLives });
  }

  #writeRoster() {
    const running = [...Object.values(this.processes), ...this.replicas];
    writeRecord(this.roster, running.map((process) => process.record).filter(Boolean));
    writeRecord(join(this.dataDir, 'run/pids.json'), this.pids);
  }

  /**
   * Ends one process until it is started again. Errors: Refused.
   * @param {string} name
   */
  async stopService(name) {
    await this.#requireProcess(name).stop();
    this.#writeRoster();
  }

  /**
   * Starts one process again, after migrating its database, which may have been replaced meanwhile. Errors: Refused.
   * @param {string} name
   */
  async startService(name) {
    const process = this.#requireProcess(name);
    if (isAlive(process.record)) throw new CommandRefused(`${name} runs`);
    const { migrateService } = await import('./migrations.mjs');
    if (SERVICES.includes(name)) await migrateService(name, this);
    await process.start();
    this.#writeRoster();
  }

  /** @param {string} name */
  #requireProcess(name) {
    if (this.layout === 'one')
      throw new CommandRefused(
        `${name} is not a process of its own in this layout; npm start without --one makes it one`,
      );
    const process = Object.hasOwn(this.processes, name) ? this.processes[name] : undefined;
    if (!process) throw new CommandRefused(`There is no service "${name}"; there are: ${PROCESSES.join(', ')}`);
    return process;
  }

  /** Accepts commands of the command line (`npx rookery reset`, `snapshot`, `service`); they are executed after the start. */
  async acceptCommands() {
    const { startLocalControl } = await import('./local-control.mjs');
    this.commands = await startLocalControl(this);
  }

  /**
   * Starts an additional process of a service, on its own ports (`baseUrl`, `managementUrl`). It ends with the estate.
   * @param {string} name
   * @param {Environment} env
   */
  async replica(name, env = {}) {
    const [http, management] = await freePorts(2);
    const own = { PORT: String(http), MANAGEMENT_PORT: String(management) };
    const replica = this.#createProcess(name, { ...environmentOf(name, this), ...env, ...own });
    this.replicas.push(replica);
    await replica.start();
    return replica;
  }

  /** @param {ServiceProcess} replica */
  async endReplica(replica) {
    this.replicas = this.replicas.filter((other) => other !== replica);
    await replica.stop();
    this.#writeRoster();
  }

  /** Stops the gateway, then the services, then the servers. */
  stop() {
    return (this.stopping ??= this.#stopAll());
  }

  /** Deletes the data of a temporary estate that is stopped. */
  async discard() {
    const { discardPostgres } = await import('../servers/postgres-files.mjs');
    discardPostgres(this.dataDir);
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  async #stopAll() {
    const { gateway, ...services } = this.processes;
    const all = [...this.replicas, ...Object.values(services)];
    await this.commands?.stop();
    await gateway?.stop();
    await Promise.all(all.map((process) => process.stop()));
    await Promise.all([this.mail?.stop(), this.nats?.stop()]);
    await this.postgres?.stop();
    rmSync(this.roster, { force: true });
    unlock(this.lock);
  }
}

/** @param {Environment} env */
function rootTokenFrom(env) {
  if (env.ROOKERY_ROOT_TOKEN_FILE && existsSync(env.ROOKERY_ROOT_TOKEN_FILE))
    return readFileSync(env.ROOKERY_ROOT_TOKEN_FILE, 'utf8').trim();
  return env.ROOKERY_ROOT_TOKEN || undefined;
}

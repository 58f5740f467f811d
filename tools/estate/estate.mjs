/**
 * The whole of Rookery on this machine: PostgreSQL, NATS, a mail sink and the six processes, started in order, watched
 * and stopped in order. `npm start` prints around it; tests, drills and benches use it as a library.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { databaseVariable, environmentOf, isGiven, LOOPBACK, PROCESSES, SERVICES } from './environment.mjs';
import { FirstStart } from './first-start.mjs';
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
} from './processes.mjs';
import { readSecrets } from './secrets.mjs';
import { ServiceProcess } from './service-process.mjs';
import { Refused, Snapshots } from './snapshots.mjs';
import { heardOf, kept } from './told.mjs';

/** What has work in hand for longer is ended, when the estate is to rest. Units: ms. */
const REST_WITHIN_MS = 600;
const DEFAULT_DATA = fileURLToPath(new URL('../../.rookery', import.meta.url));

/**
 * Purpose: a running estate on the data below `dataDir`. Resolves when all six processes are ready.
 * Shape: `{ baseUrl, token, dataDir, mailDir, pids, processes: { identity: ServiceProcess… }, postgres, nats, mail,
 * databases: { identity: url… }, natsUrls, snapshots, replica(name, env), atRest(use), stop(), discard() }`; `postgres`,
 * `nats` and `mail` are null when the operator named a server of their own. `env` is laid over this process's environment;
 * `digests` come from `build()`; `signal` gives up a start that is under way; `resettable`: its states can be kept and put
 * back (snapshots.mjs); `commanded`: commands beside it are heard (local-control.mjs).
 * Errors: a busy port, a second estate on the same data, a part that does not start; what was started is stopped again.
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
} = {}) {
  const all = { ...heardOf(process.env), ...env };
  const folder = resolve(dataDir ?? (all.ROOKERY_DATA || DEFAULT_DATA));
  const seed = all.ROOKERY_SEED ? (await import('./seed-file.mjs')).readSeed(all.ROOKERY_SEED) : null;
  const estate = new Estate(folder, all, Number(port ?? (all.PORT || 8080)), {
    say,
    warn,
    seed,
    isResettable: resettable,
  });
  const steps = [
    () => estate.startServers(),
    async () => estate.prepare(digests ?? (await (await import('./build.mjs')).build()).digests),
    async () => commanded && estate.takeCommands(),
    () => estate.startProcesses(signal, { keepsState: resettable }),
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

class Estate {
  constructor(dataDir, env, port, { say, warn, seed, isResettable }) {
    Object.assign(this, { dataDir, env, port, say, warn, isResettable });
    this.mailDir = join(dataDir, 'mail');
    this.blobsUrl = join(dataDir, 'blobs');
    this.logs = join(dataDir, 'logs');
    this.lock = join(dataDir, 'run/supervisor.lock');
    this.roster = join(dataDir, 'run/processes.json');
    this.processes = {};
    this.replicas = [];
    this.postgres = this.nats = this.mail = null;
    this.snapshots = new Snapshots(this);
    this.firstStart = new FirstStart(this, seed);
  }

  get baseUrl() {
    return `http://localhost:${this.port}`;
  }

  get pids() {
    const own = [...Object.values(this.processes), ...this.replicas].map((process) => [process.name, process.pid]);
    const servers = { supervisor: process.pid, postgres: this.postgres?.pid, nats: this.nats?.pid };
    return Object.fromEntries([...own, ...Object.entries(servers)].filter(([, pid]) => pid));
  }

  /** Takes the data folder and ends what a killed supervisor left on it. */
  async claim() {
    mkdirSync(this.dataDir, { recursive: true });
    for (const name of ['logs', 'run', 'mail']) mkdirSync(join(this.dataDir, name), { recursive: true, mode: 0o700 });
    const holder = tryLock(this.lock, { url: this.baseUrl });
    if (holder)
      throw new Error(
        `Rookery runs on ${this.dataDir} already (process ${holder.pid}, ${holder.url}). ` +
          'Stop it, or choose another folder and port: ROOKERY_DATA=/path PORT=8081 npm start',
      );
    const leftovers = (readRecord(this.roster) ?? []).filter(isAlive);
    if (leftovers.length > 0) this.say(`ending ${leftovers.length} processes of a supervisor that was killed`);
    await Promise.all(leftovers.map((record) => endProcess(record, { graceMs: 3000 })));
    rmSync(this.roster, { force: true });
    await this.#refuseBusyPort();
  }

  async #refuseBusyPort() {
    this.host = this.env.HOST || LOOPBACK;
    if (await portIsFree(this.port, this.host)) return;
    unlock(this.lock);
    throw new Error(
      `Port ${this.port} is in use by another program. Stop it or choose another port: PORT=${this.port + 1} npm start`,
    );
  }

  /** PostgreSQL, NATS and the mail sink, each unless the operator named one; side by side. */
  async startServers() {
    this.secrets = readSecrets(this.dataDir);
    this.token = rootToken(this.env) ?? this.secrets.rootToken;
    const [postgres, nats, mail] = await Promise.allSettled([
      this.#startPostgres(),
      this.#startNats(),
      this.#startMail(),
    ]);
    const failed = [postgres, nats, mail].find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
  }

  async #startPostgres() {
    this.databases = {};
    const embedded = SERVICES.filter((service) => !isGiven(this.env, databaseVariable(service)));
    this.cluster = 'external';
    if (embedded.length === 0) return;
    const { startPostgres } = await import('./postgres.mjs');
    const { ensureDatabases } = await import('./databases.mjs');
    this.postgres = await startPostgres({ folder: this.dataDir, password: this.secrets.postgres });
    this.cluster = this.postgres.identity;
    this.databases = await ensureDatabases(this.postgres, this.secrets.databases, embedded);
    this.say(`PostgreSQL on 127.0.0.1:${this.postgres.port}`);
  }

  async #startNats() {
    if (isGiven(this.env, 'NATS_URL')) return;
    const { natsProgram, startNats } = await import('./nats.mjs');
    const program = natsProgram({ say: this.say });
    this.nats = await startNats({ folder: join(this.dataDir, 'nats'), program, passwords: this.secrets.bus });
    this.natsUrls = Object.fromEntries(SERVICES.map((name) => [name, this.nats.urlOf(name)]));
    this.say(`NATS with JetStream on 127.0.0.1:${this.nats.port}`);
  }

  async #startMail() {
    if (isGiven(this.env, 'SMTP_URL')) return;
    const { startMailSink } = await import('./mail-sink.mjs');
    this.mail = await startMailSink({ folder: this.mailDir });
    this.smtpUrl = this.mail.url;
    this.say(`mail is kept in ${this.mailDir}`);
  }

  /** Ports, schema and administrator. */
  async prepare(digests) {
    const free = await freePorts(PROCESSES.length * 2, [this.port]);
    this.ports = Object.fromEntries(
      PROCESSES.map((name) => [name, { http: name === 'gateway' ? this.port : free.pop(), management: free.pop() }]),
    );
    this.externalUrl = this.env.ROOKERY_EXTERNAL_URL || this.baseUrl;
    this.digests = digests;
    this.firstStart.begin();
    const mended = await this.snapshots.mend();
    if (mended) this.say(`restored ${mended}, which had been broken off`);
    await this.bringUpToDate();
  }

  /** The schema of the code and the administrator of the token, whatever state the databases are of. */
  async bringUpToDate() {
    const { bootstrap, migrate } = await import('./migrations.mjs');
    const about = { dataDir: this.dataDir, estate: this, cluster: this.cluster };
    const migrated = await migrate({ ...about, digests: this.digests });
    if (migrated.length > 0) this.say(`schema brought up to date: ${migrated.join(', ')}`);
    if (await bootstrap({ ...about, token: this.token }))
      this.say(this.firstStart.isUnderWay ? 'administrator root made' : 'root has the token that was given now');
  }

  /** At a first start nobody gets in before it is over: whoever finds the estate ready finds all that it begins with. */
  async startProcesses(signal, { keepsState }) {
    signal?.addEventListener('abort', () => void this.stop(), { once: true });
    const environments = Object.fromEntries(PROCESSES.map((name) => [name, environmentOf(name, this)]));
    // For operators' commands (operate.mjs), which run beside the processes.
    const keptOf = (name) => [name, kept(environments[name], this.secrets, this.env)];
    writeRecord(join(this.dataDir, 'run/environments.json'), Object.fromEntries(PROCESSES.map(keptOf)));
    const isFirst = this.firstStart.isUnderWay && (keepsState || this.firstStart.seed !== null);
    await this.#start(isFirst ? SERVICES : PROCESSES, environments);
    await this.firstStart.finish({ keepsState });
    if (isFirst) await this.#start(['gateway'], environments);
    await this.#gatewayReady();
  }

  async #start(names, environments) {
    for (const name of names) this.processes[name] = this.#process(name, environments[name]);
    const failures = [];
    const starts = names.map((name) => this.processes[name].start());
    for (const start of starts) start.catch((error) => failures.push(error.message));
    try {
      await Promise.all(starts);
    } catch {
      // Those that fail for the same reason do so at nearly the same time; the others are not waited for.
      await delay(1000);
      throw new Error(failures.join('\n\n'));
    }
  }

  async #gatewayReady() {
    const answer = await until(() => this.#readiness(), 120_000, 10);
    if (!answer) throw new Error(`The gateway does not get ready: ${this.lastAnswer}`);
  }

  /**
   * Runs `use` while no process reads or writes anything. Afterwards all of them begin anew, with nothing in memory from
   * before; resolves when they are ready. Errors: of `use`; then they stay at rest, unless `resumesAfterFailure`.
   */
  async atRest(use, { resumesAfterFailure = true } = {}) {
    const processes = [...Object.values(this.processes), ...this.replicas];
    // The door first: what is on its way through it needs the others.
    const { gateway } = this.processes;
    await gateway?.rest(REST_WITHIN_MS);
    await Promise.all(processes.map((process) => process.rest(REST_WITHIN_MS)));
    let isDone = false;
    try {
      await use();
      isDone = true;
    } finally {
      if ((isDone || resumesAfterFailure) && !this.stopping) {
        await Promise.all(processes.map((process) => process.resume()));
        if (gateway) await this.#gatewayReady();
        this.#writeRoster();
      }
    }
  }

  async #readiness() {
    try {
      const response = await fetch(`http://127.0.0.1:${this.port}/-/health/ready`);
      this.lastAnswer = `${response.status} ${await response.text()}`;
      return response.status === 200;
    } catch (error) {
      this.lastAnswer = error.message;
      return false;
    }
  }

  #process(name, env) {
    return new ServiceProcess({ name, env, logs: this.logs, onSpawn: () => this.#writeRoster(), onCrash: this.warn });
  }

  #writeRoster() {
    const running = [...Object.values(this.processes), ...this.replicas];
    writeRecord(this.roster, running.map((process) => process.record).filter(Boolean));
    writeRecord(join(this.dataDir, 'run/pids.json'), this.pids);
  }

  /** Ends one process, which stays away until it is started again. Errors: Refused. */
  async stopService(name) {
    await this.#known(name).stop();
    this.#writeRoster();
  }

  /** Starts one process again, on the schema of the code: its database may be another by now. Errors: Refused. */
  async startService(name) {
    const process = this.#known(name);
    if (isAlive(process.record)) throw new Refused(`${name} runs`);
    const { runRole } = await import('./migrations.mjs');
    if (SERVICES.includes(name)) await runRole(name, ['migrate'], this);
    await process.start();
    this.#writeRoster();
  }

  #known(name) {
    if (!Object.hasOwn(this.processes, name))
      throw new Refused(`There is no service "${name}"; there are: ${PROCESSES.join(', ')}`);
    return this.processes[name];
  }

  /** From now on `npm run reset`, `snapshot` and `service` are heard, and done when everything has started. */
  async takeCommands() {
    const { startLocalControl } = await import('./local-control.mjs');
    this.commands = await startLocalControl(this);
  }

  /** One more process of a kind, on ports of its own (`baseUrl`, `managementUrl`); it ends with the estate. */
  async replica(name, env = {}) {
    const [http, management] = await freePorts(2);
    const own = { PORT: String(http), MANAGEMENT_PORT: String(management) };
    const replica = this.#process(name, { ...environmentOf(name, this), ...env, ...own });
    this.replicas.push(replica);
    await replica.start();
    return replica;
  }

  async endReplica(replica) {
    this.replicas = this.replicas.filter((other) => other !== replica);
    await replica.stop();
    this.#writeRoster();
  }

  /** The door first, then the rooms, then what they stand on. */
  stop() {
    return (this.stopping ??= this.#stop());
  }

  /** Deletes the data of a throw-away estate that is stopped. */
  async discard() {
    const { discardPostgres } = await import('./postgres-files.mjs');
    discardPostgres(this.dataDir);
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  async #stop() {
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

function rootToken(env) {
  if (env.ROOKERY_ROOT_TOKEN_FILE && existsSync(env.ROOKERY_ROOT_TOKEN_FILE))
    return readFileSync(env.ROOKERY_ROOT_TOKEN_FILE, 'utf8').trim();
  return env.ROOKERY_ROOT_TOKEN || undefined;
}

#!/usr/bin/env node
/**
 * `npm run drill [-- name ...] [--seed text] [--sabotage name,...]`: checks guarantees on a whole estate of its own during
 * faults. Prints one JSON line per drill; the exit status is non-zero when a drill found a violation.
 *
 * Faults under load (notes, and reports of failed commits): does every acknowledged write survive, with exactly its effects?
 *   kill       kill -9 of each service five times under load
 *   relay      the relay repeatedly dies between the bus's acknowledgement and its own mark
 *   nats       NATS is stopped for 30 seconds
 *   thrice     every message is delivered three times
 *
 * Permissions, with the product's own limits: does a user receive data that they may not see?
 *   copy       a copy of the directory is held back while users lose access and notes that mention them wait
 *   mail       the mail server stalls while queued texts become confidential; then it drops, defers and refuses some of 200
 *   door       unknown and foreign accounts on the bus, and forged deletion events
 *   rotations  fifty requests rotate one token at once while other users work
 *   searches   anonymous callers send the most expensive searches for ten seconds while other users read
 *
 * Load from other programs, with the product's own limits: is a user refused, delayed or forgotten?
 *   busy       three processes per core burn CPU while 64 users read, write and use new tokens, for 60 s
 *
 * The test suite of a client's author: is normal use refused?
 *   suite      2,000 requests with 200 new users, three times in a row, with the product's own limits
 *   unlimited  the same with limits off
 *
 * Failures beyond a crash:
 *   silent     connections to a database hang silently; a leading relay hangs or is cut off
 *   doubt      connections are cut at one commit in twenty, after the commit
 *   rolling    every process is restarted in turn, with two replicas each behind balancers, while users write
 *   restore    the databases of identity and then collaboration are restored to their state of two minutes ago, under load
 *
 * Repositories:
 *   git        both replicas of collaboration, processes of git, the gateway, PostgreSQL and NATS are killed during pushes
 *   merges     the same during merges, rebases and applied suggestions
 *   clients    50 clones and 20 pushes at once to one repository while other clients are killed; access ends during a push
 *
 * Files of packages:
 *   uploads    a thousand uploads at once; then clients cut uploads, and the package service and PostgreSQL are killed
 *   large      1 GiB goes up and down, and a large npm document up, while the memory of the processes is watched
 *   exports    a million components become exports of each kind, in one of which the package service is killed
 *
 * Imports:
 *   imports    a repository is imported again and again while the services, NATS and PostgreSQL are killed, between stages and
 *              at any time; then the credential of the host is searched for in files, databases and processes
 *   imports-server, imports-cloud  the same from a repository server, and from the repository service
 *
 * Releases:
 *   upgrade    services of the previous release run on the schema of this one: alone, next to the new ones, and replaced
 *
 * `--sabotage` disables safeguards (names of tools/drills/sabotage.cjs, and of server-sabotage.mjs), to show that the drill detects it.
 * Source: reference reliability 12.
 *
 * @import { Estate } from '../processes/estate.mjs'
 * @typedef {{ env?: Record<string, string>, server?: any }} Prepared
 * @typedef {{ prepare?: () => Prepared | Promise<Prepared>, start?: typeof startEstate,
 *   run(client: DrillClient, prepared: any): Promise<Verdict> }} Drill
 * @typedef {{ sabotage?: string[], run(estate: Estate, facts: Record<string, any>): Promise<void> }} Fault
 * @typedef {Record<string, any> & { wrong: number }} Verdict
 * @typedef {{ seed: string, sabotage: string[] }} Options
 */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { EVERY_MAIL, WITHOUT_RATES } from '../processes/environment.mjs';
import { startEstate } from '../processes/estate.mjs';
import { freePort } from '../processes/process-records.mjs';
import { sharedTemporaryFolder } from '../servers/postgres-files.mjs';
import { DrillClient, until } from './client.mjs';
import { NoteLedger } from './ledger.mjs';
import { PipelineLedger } from './pipeline-ledger.mjs';
import { deliverAgain } from './redelivery.mjs';
import { SERVER_SABOTAGE } from './server-sabotage.mjs';
import * as busy from './busy.mjs';
import * as suite from './suite.mjs';
import * as door from './authorization/bus-door.mjs';
import * as searches from './authorization/costly-searches.mjs';
import * as copy from './authorization/held-copy.mjs';
import * as rotations from './authorization/rotations.mjs';
import * as mail from './authorization/stalled-mail.mjs';
import * as brokenMail from './failures/broken-mail.mjs';
import * as doubt from './failures/doubt.mjs';
import * as restore from './failures/restore.mjs';
import * as rolling from './failures/rolling.mjs';
import * as silent from './failures/silent.mjs';
import { createImportDrill } from './imports/broken-imports.mjs';
import * as uploads from './packages/broken-uploads.mjs';
import * as exports from './packages/large-exports.mjs';
import * as large from './packages/large-files.mjs';
import * as merges from './repositories/broken-merges.mjs';
import * as pushes from './repositories/broken-pushes.mjs';
import * as clients from './repositories/parallel-clients.mjs';
import * as upgrade from './upgrades/upgrade.mjs';

const SABOTAGE = fileURLToPath(new URL('sabotage.cjs', import.meta.url));
const SERVICES = ['identity', 'collaboration', 'import', 'package', 'admin', 'gateway'];
/** With short leases, e-mails of a killed process are soon taken by another one. */
const FAST_MAIL = {
  ...EVERY_MAIL,
  MAILER_LEASE_MS: '10000',
  MAILER_TIMEOUT_MS: '1000',
};
/** Units: notes per second. */
const RATE = 15;
/** Units: reports of failed commits per second. */
const REPORT_RATE = 4;

const unlimited = { ...suite, prepare: () => ({ env: WITHOUT_RATES }) };
/**
 * Drills with the product's defaults. `run` returns figures, of which `wrong` is the number of violations; `prepare` starts
 * servers that the estate uses; `start` replaces the start of the whole estate.
 * @type {Record<string, Drill>}
 */
const BY_DEFAULTS = {
  copy,
  mail: { ...mail, run: runMailDrills },
  door,
  rotations,
  busy,
  searches,
  suite,
  unlimited,
  rolling,
  silent,
  doubt,
  restore,
  uploads,
  large,
  git: pushes,
  merges,
  clients,
  exports,
  imports: createImportDrill('remote'),
  'imports-server': createImportDrill('server'),
  'imports-cloud': createImportDrill('cloud'),
  upgrade,
};
/**
 * Faults under the load of a ledger.
 * @type {Record<string, Fault>}
 */
const FAULTS = {
  kill: {
    async run(estate, facts) {
      facts.unavailableMs = {};
      for (const name of SERVICES) {
        for (let round = 0; round < 5; round += 1) {
          await delay(300 + Math.random() * 400);
          const from = Date.now();
          await estate.processes[name]?.restart();
          facts.unavailableMs[name] = Math.max(facts.unavailableMs[name] ?? 0, Date.now() - from);
        }
      }
    },
  },
  relay: {
    sabotage: ['kill-before-mark'],
    async run(estate, facts) {
      const fault = join(estate.dataDir, 'fault');
      writeFileSync(fault, '');
      const services = ['collaboration', 'package'];
      const seen = new Set();
      for (const until = Date.now() + 25_000; Date.now() < until; await delay(50)) {
        for (const name of services) if (estate.processes[name]?.pid) seen.add(estate.processes[name].pid);
      }
      rmSync(fault);
      facts.relaysKilled = seen.size - services.length;
    },
  },
  nats: {
    async run(estate, facts) {
      await delay(2000);
      await estate.nats?.stop();
      const from = Date.now();
      await delay(30_000);
      await estate.nats?.start();
      facts.natsDownMs = Date.now() - from;
      await delay(2000);
    },
  },
  thrice: {
    async run(estate, facts) {
      const redelivery = await deliverAgain(estate.nats?.urlOf('operator') ?? '', {
        streams: ['COLLABORATION', 'IDENTITY', 'PACKAGE'],
        copies: 2,
      });
      await delay(12_000);
      facts.redelivered = await redelivery.stop();
    },
  },
};

/** @param {string[]} words */
function parseOptions(words) {
  /** @param {string} name */
  const valueOf = (name) => (words.includes(name) ? words.splice(words.indexOf(name), 2)[1] : undefined);
  const seed = valueOf('--seed') ?? Date.now().toString(36);
  const sabotage = valueOf('--sabotage')?.split(',') ?? [];
  const all = [...Object.keys(FAULTS), ...Object.keys(BY_DEFAULTS)];
  const unknown = words.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Error(`there is no drill ${unknown.join(', ')}; there are ${all.join(', ')}`);
  return { seed, sabotage, names: words.length > 0 ? words : all };
}

/**
 * @param {string} name
 * @param {Options} options
 * @returns {Promise<Verdict>}
 */
async function runDrill(name, { seed, sabotage }) {
  const dataDir = mkdtempSync(join(sharedTemporaryFolder(), `rookery-drill-${name}-`));
  const [fault, given] = [FAULTS[name], BY_DEFAULTS[name]];
  /** @type {Prepared} */
  const prepared = (await given?.prepare?.()) ?? {};
  const changes = [...(fault?.sabotage ?? []), ...sabotage.filter((one) => !SERVER_SABOTAGE[one])];
  const env = {
    ...(fault ? { ...WITHOUT_RATES, ...FAST_MAIL } : {}),
    ...prepared.env,
    ...(changes.length > 0
      ? {
          DRILL_SABOTAGE: changes.join(','),
          NODE_OPTIONS: `--require ${SABOTAGE}`,
          DRILL_FAULT_FILE: join(dataDir, 'fault'),
        }
      : {}),
  };
  const start = given?.start ?? startEstate;
  const estate = await start({ dataDir, port: await freePort(), env });
  const started = Date.now();
  try {
    for (const one of sabotage) await SERVER_SABOTAGE[one]?.(estate);
    const client = new DrillClient(estate, `${name}${seed}`);
    const verdict = await (fault
      ? runFaultUnderLoad(client, fault)
      : /** @type {Drill} */ (given).run(client, prepared));
    // The estate of a drill is deleted, so its logs are copied if they are needed.
    const logs = verdict.wrong > 0 ? { logs: copyDrillLogs(estate.logs, name, seed) } : {};
    return { drill: name, seed, sabotage, seconds: Math.round((Date.now() - started) / 1000), ...verdict, ...logs };
  } finally {
    await estate.stop();
    await estate.discard();
    await prepared.server?.close();
  }
}

/**
 * Copies the logs of a failed drill. Returns the folder of the copies.
 * @param {string} folder
 * @param {string} name
 * @param {string} seed
 */
function copyDrillLogs(folder, name, seed) {
  const kept = join(sharedTemporaryFolder(), `rookery-drill-${name}-${seed}-logs`);
  cpSync(folder, kept, { recursive: true });
  return kept;
}

/**
 * @param {DrillClient} client
 * @param {any} prepared
 */
async function runMailDrills(client, prepared) {
  const stalled = await mail.run(client, prepared);
  const broken = await brokenMail.run(client, prepared);
  return { ...stalled, broken, wrong: stalled.wrong + broken.wrong };
}

/**
 * @param {DrillClient} client
 * @param {Fault} fault
 * @returns {Promise<Verdict>}
 */
async function runFaultUnderLoad(client, fault) {
  /** @type {Record<string, any>} */
  const facts = {};
  const [notes, pipelines] = [new NoteLedger(client), new PipelineLedger(client)];
  await notes.prepare();
  await pipelines.prepare();
  notes.write(RATE);
  pipelines.write(REPORT_RATE);
  await fault.run(client.estate, facts);
  await notes.stop();
  await pipelines.stop();
  await waitUntilReady(client.estate);
  const verdicts = { notes: await notes.check(), pipelines: await pipelines.check() };
  const wrong = Object.values(verdicts).map(({ acknowledged, lost, missing, duplicate }) => {
    const isBlind = acknowledged === 0 ? 1 : 0;
    return lost + missing + duplicate + isBlind;
  });
  return { wrong: sumOf(wrong), ...verdicts, ...facts };
}

/** @param {number[]} numbers */
function sumOf(numbers) {
  return numbers.reduce((total, one) => total + one, 0);
}

/**
 * Waits until the whole estate answers again.
 * @param {Estate} estate
 */
function waitUntilReady(estate) {
  const answers = () =>
    fetch(`${estate.baseUrl}/-/health/ready`).then(
      ({ status }) => status === 200,
      () => false,
    );
  return until('the estate is ready', answers);
}

const chosen = parseOptions(process.argv.slice(2));
for (const name of chosen.names) {
  const verdict = await runDrill(name, chosen);
  process.stdout.write(`${JSON.stringify(verdict)}\n`);
  if (verdict.wrong > 0) process.exitCode = 1;
}
process.exit();

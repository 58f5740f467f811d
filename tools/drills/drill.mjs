#!/usr/bin/env node
/**
 * `npm run drill [-- name ...] [--seed text] [--sabotage name,...]`: checks guarantees on a whole estate of its own during
 * faults. Prints one JSON line per drill; the exit status is non-zero when a drill found a violation.
 *
 * Faults under load: does every acknowledged write survive, with exactly its effects?
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
 * `--sabotage` disables safeguards (names of tools/drills/sabotage.cjs, and of BY_HAND), to show that the drill detects it.
 * Source: reference reliability 12.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { EVERY_MAIL, WITHOUT_RATES } from '../estate/environment.mjs';
import { startEstate } from '../estate/estate.mjs';
import { freePort } from '../estate/processes.mjs';
import { sharedTemporary } from '../estate/postgres-files.mjs';
import { Client, until } from './client.mjs';
import { Ledger } from './ledger.mjs';
import { deliverAgain } from './redelivery.mjs';
import * as busy from './busy.mjs';
import * as suite from './suite.mjs';
import * as door from './rights/bus-door.mjs';
import * as searches from './rights/costly-searches.mjs';
import * as copy from './rights/held-copy.mjs';
import * as rotations from './rights/rotations.mjs';
import * as mail from './rights/stalled-mail.mjs';
import * as brokenMail from './failures/broken-mail.mjs';
import * as doubt from './failures/doubt.mjs';
import * as restore from './failures/restore.mjs';
import * as rolling from './failures/rolling.mjs';
import * as silent from './failures/silent.mjs';

const SABOTAGE = fileURLToPath(new URL('sabotage.cjs', import.meta.url));
/** Safeguards that are not code of the product. */
const BY_HAND = { 'no-uniqueness': dropUniqueness, 'open-door': openDoor };
const SERVICES = ['identity', 'collaboration', 'import', 'package', 'admin', 'gateway'];
/** What a killed process held is soon taken by the next. */
const FAST_MAIL = {
  ...EVERY_MAIL,
  MAILER_LEASE_MS: '10000',
  MAILER_TIMEOUT_MS: '1000',
};
/** Units: notes a second. */
const RATE = 15;

const unlimited = { ...suite, prepare: () => ({ env: WITHOUT_RATES }) };
/** Shape: `run` returns figures, of which `wrong` is the number of violations; `prepare` starts servers that the estate uses. */
const BY_DEFAULTS = {
  copy,
  mail: { ...mail, run: allOfMail },
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
};
const FAULTS = {
  kill: {
    async run(estate, facts) {
      facts.unavailableMs = {};
      for (const name of SERVICES) {
        for (let round = 0; round < 5; round += 1) {
          await delay(300 + Math.random() * 400);
          const from = Date.now();
          await estate.processes[name].restart();
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
      const seen = new Set();
      for (const until = Date.now() + 25_000; Date.now() < until; await delay(50)) {
        if (estate.processes.collaboration.pid) seen.add(estate.processes.collaboration.pid);
      }
      rmSync(fault);
      facts.relaysKilled = seen.size - 1;
    },
  },
  nats: {
    async run(estate, facts) {
      await delay(2000);
      await estate.nats.stop();
      const from = Date.now();
      await delay(30_000);
      await estate.nats.start();
      facts.natsDownMs = Date.now() - from;
      await delay(2000);
    },
  },
  thrice: {
    async run(estate, facts) {
      const redelivery = await deliverAgain(estate.nats.urlOf('operator'), {
        streams: ['COLLABORATION', 'IDENTITY'],
        copies: 2,
      });
      await delay(12_000);
      facts.redelivered = await redelivery.stop();
    },
  },
};

function options(words) {
  const valueOf = (name) => (words.includes(name) ? words.splice(words.indexOf(name), 2)[1] : undefined);
  const seed = valueOf('--seed') ?? Date.now().toString(36);
  const sabotage = valueOf('--sabotage')?.split(',') ?? [];
  const all = [...Object.keys(FAULTS), ...Object.keys(BY_DEFAULTS)];
  const unknown = words.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Error(`there is no drill ${unknown.join(', ')}; there are ${all.join(', ')}`);
  return { seed, sabotage, names: words.length > 0 ? words : all };
}

async function drill(name, { seed, sabotage }) {
  const dataDir = mkdtempSync(join(sharedTemporary(), `rookery-drill-${name}-`));
  const prepared = (await BY_DEFAULTS[name]?.prepare?.()) ?? {};
  const changes = [...(FAULTS[name]?.sabotage ?? []), ...sabotage.filter((one) => !BY_HAND[one])];
  const env = {
    ...(FAULTS[name] ? { ...WITHOUT_RATES, ...FAST_MAIL } : {}),
    ...prepared.env,
    ...(changes.length > 0
      ? {
          DRILL_SABOTAGE: changes.join(','),
          NODE_OPTIONS: `--require ${SABOTAGE}`,
          DRILL_FAULT_FILE: join(dataDir, 'fault'),
        }
      : {}),
  };
  const estate = await startEstate({ dataDir, port: await freePort(), env });
  const started = Date.now();
  try {
    for (const one of sabotage) await BY_HAND[one]?.(estate);
    const run = FAULTS[name] ? underLoad : BY_DEFAULTS[name].run;
    const verdict = await run(new Client(estate, `${name}${seed}`), FAULTS[name] ?? prepared);
    return { drill: name, seed, sabotage, seconds: Math.round((Date.now() - started) / 1000), ...verdict };
  } finally {
    await estate.stop();
    await estate.discard();
    await prepared.server?.close();
  }
}

async function allOfMail(client, prepared) {
  const stalled = await mail.run(client, prepared);
  const broken = await brokenMail.run(client, prepared);
  return { ...stalled, broken, wrong: stalled.wrong + broken.wrong };
}

async function underLoad(client, fault) {
  const facts = {};
  const ledger = new Ledger(client);
  await ledger.prepare();
  ledger.write(RATE);
  await fault.run(client.estate, facts);
  await ledger.stop();
  await isReady(client.estate);
  const verdict = await ledger.check();
  const isBlind = verdict.acknowledged === 0 ? 1 : 0;
  return { ...verdict, wrong: verdict.lost + verdict.missing + verdict.duplicate + isBlind, ...facts };
}

/** Effects without their second safeguard, the unique keys of to-dos, events and mails. */
async function dropUniqueness({ databases }) {
  const client = new pg.Client({ connectionString: databases.collaboration });
  await client.connect();
  for (const table of ['todos', 'activity_events', 'mails'])
    await client.query(`drop index uq_${table}_source_event_id`);
  await client.end();
}

/** A bus on which every account may do everything, also without credentials. */
async function openDoor({ dataDir, nats }) {
  const file = join(dataDir, 'nats/users.conf');
  const users = readFileSync(file, 'utf8').replaceAll(/\n {6}permissions: \{[\s\S]*?\n {6}\}/g, '');
  writeFileSync(file, users);
  process.kill(nats.pid, 'SIGHUP');
}

/** Waits until the whole estate answers again. */
function isReady(estate) {
  const answers = () =>
    fetch(`${estate.baseUrl}/-/health/ready`).then(
      ({ status }) => status === 200,
      () => false,
    );
  return until('the estate is ready', answers);
}

const chosen = options(process.argv.slice(2));
for (const name of chosen.names) {
  const verdict = await drill(name, chosen);
  process.stdout.write(`${JSON.stringify(verdict)}\n`);
  if (verdict.wrong > 0) process.exitCode = 1;
}
process.exit();

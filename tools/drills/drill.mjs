#!/usr/bin/env node
/**
 * `npm run drill [-- name ...] [--seed text] [--sabotage name,...]`: faults under load, on a whole estate of its own,
 * and whether every acknowledged write is still there with exactly what must follow from it. Prints one JSON line a
 * drill; the exit status is non-zero when one lost, missed or doubled anything.
 *
 *   kill       kill -9 of each service five times under load
 *   relay      the relay dies between the bus's acknowledgement and its own mark, again and again
 *   nats       NATS is stopped for 30 seconds
 *   thrice     every message is delivered three times
 *
 * `--sabotage` takes guards out (names of tools/drills/sabotage.cjs, and no-uniqueness), to show that the drill finds it.
 * Source: reliability-and-security 12.1 (F1, F3, F5, F15), 12.2.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { PATIENCE } from '../estate/environment.mjs';
import { startEstate } from '../estate/estate.mjs';
import { freePort } from '../estate/processes.mjs';
import { sharedTemporary } from '../estate/postgres-files.mjs';
import { Ledger } from './ledger.mjs';
import { deliverAgain } from './redelivery.mjs';

const SABOTAGE = fileURLToPath(new URL('sabotage.cjs', import.meta.url));
const NO_UNIQUENESS = 'no-uniqueness';
const SERVICES = ['identity', 'collaboration', 'import', 'package', 'admin', 'gateway'];
/** Nobody waits for his share of mail, and what a killed process held is soon taken by the next. */
const FAST_MAIL = {
  MAILER_PER_RECIPIENT_PER_MINUTE_COUNT: '100000',
  MAILER_PER_RECIPIENT_BURST_COUNT: '100000',
  MAILER_LEASE_MS: '10000',
  MAILER_TIMEOUT_MS: '1000',
};
/** Units: notes a second. */
const RATE = 15;

const DRILLS = {
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
      const redelivery = await deliverAgain(estate.natsUrl, { streams: ['COLLABORATION', 'IDENTITY'], copies: 2 });
      await delay(12_000);
      facts.redelivered = await redelivery.stop();
    },
  },
};

function options(words) {
  const valueOf = (name) => (words.includes(name) ? words.splice(words.indexOf(name), 2)[1] : undefined);
  const seed = valueOf('--seed') ?? Date.now().toString(36);
  const sabotage = valueOf('--sabotage')?.split(',') ?? [];
  const unknown = words.filter((name) => !DRILLS[name]);
  if (unknown.length > 0)
    throw new Error(`there is no drill ${unknown.join(', ')}; there are ${Object.keys(DRILLS).join(', ')}`);
  return { seed, sabotage, names: words.length > 0 ? words : Object.keys(DRILLS) };
}

async function drill(name, { seed, sabotage }) {
  const dataDir = mkdtempSync(join(sharedTemporary(), `rookery-drill-${name}-`));
  const changes = [...(DRILLS[name].sabotage ?? []), ...sabotage.filter((one) => one !== NO_UNIQUENESS)];
  const env = {
    ...PATIENCE,
    ...FAST_MAIL,
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
  const facts = {};
  try {
    if (sabotage.includes(NO_UNIQUENESS)) await dropUniqueness(estate.databases.collaboration);
    const ledger = new Ledger(estate, `${name}${seed}`);
    await ledger.prepare();
    ledger.write(RATE);
    await DRILLS[name].run(estate, facts);
    await ledger.stop();
    await isReady(estate);
    const verdict = await ledger.check();
    return { drill: name, seed, sabotage, seconds: Math.round((Date.now() - started) / 1000), ...verdict, ...facts };
  } finally {
    await estate.stop();
    await estate.discard();
  }
}

/** Effects without their second belt, the natural uniqueness of to-dos, events and mails. */
async function dropUniqueness(databaseUrl) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  for (const table of ['todos', 'activity_events', 'mails'])
    await client.query(`drop index uq_${table}_source_event_id`);
  await client.end();
}

/** The fault is over when the whole estate answers again. */
async function isReady(estate) {
  for (;;) {
    const response = await fetch(`${estate.baseUrl}/-/health/ready`).catch(() => null);
    if (response?.status === 200) return;
    await delay(100);
  }
}

const chosen = options(process.argv.slice(2));
for (const name of chosen.names) {
  const verdict = await drill(name, chosen);
  process.stdout.write(`${JSON.stringify(verdict)}\n`);
  if (verdict.lost + verdict.missing + verdict.duplicate > 0 || verdict.acknowledged === 0) process.exitCode = 1;
}
process.exit();

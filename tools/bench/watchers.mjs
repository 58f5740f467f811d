/**
 * `npm run bench -- watchers [--count 20000] [--rounds 3]`: notes in a project of a group that `--count` users watch, compared
 * with notes in a project that no user watches, in turn: 20 notes each, two a second. Then one note alone: the time until an
 * e-mail is queued for each watcher, and the growth of the memory of the collaboration service. No mail server answers, so
 * the e-mails stay in the queue. The exit code is 1 if the ratio of the medians exceeds 1.1 or the watchers take longer than
 * 10 s.
 *
 * `npm run bench -- effects [--seconds 20] [--concurrency 100]`: `--concurrency` notes a second, each with a mention: the time
 * from the answer to the visible to-do and to the mail server. The exit code is 1 if p99 exceeds 250 ms or 5 s.
 *
 * @typedef {{ id: number, username: string, token: string }} Person
 */
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { SMTPServer } from 'smtp-server';
import { WITHOUT_RATES } from '../processes/environment.mjs';
import { freePort } from '../processes/process-records.mjs';
import { sharedTemporary } from '../servers/postgres-files.mjs';
import { startEstateOf } from './checkout.mjs';
import { makePerson, writerOf } from './writer.mjs';

const ROOM = { ...WITHOUT_RATES, NOTES_CREATES_PER_MINUTE_COUNT: '0', NOTES_PER_NOTEABLE_COUNT: '1000000' };
/** Goals. Units: ratio, seconds, ms, ms. */
const GOALS = { ratio: 1.1, resolved: 10, todo: 250, mail: 5000 };
const NOTES = 20;
const INTERVAL_MS = 500;
/** Ids of watchers, far above those of the estate. */
const FIRST_ID = 50_000_000;

/**
 * @param {string} root
 * @param {Record<string, string>} env
 */
async function start(root, env) {
  const startEstate = await startEstateOf(root);
  const dataDir = mkdtempSync(join(sharedTemporary(), 'rookery-bench-'));
  const estate = await startEstate({ dataDir, port: await freePort(), env: { ...ROOM, ...env } });
  const database = new pg.Client({ connectionString: estate.databases['collaboration'] });
  await database.connect();
  const end = async () => {
    await database.end();
    await estate.stop();
    await estate.discard();
  };
  return { estate, database, post: writerOf(estate), end };
}

/** @param {number[]} values @param {number} part */
function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
}

/** Resident memory of a process. Units: MB. @param {number} pid */
function memoryOf(pid) {
  const [, kb = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1024;
}

/**
 * Adds users who watch a group to the copy of the directory that the service has.
 * @param {pg.Client} database
 * @param {number} group
 * @param {number} count
 */
async function addWatchers(database, group, count) {
  await database.query(
    `insert into directory_users (id, username, name, state, kind, admin, external, private_profile, notification_email, created_at)
     select $1::bigint + g, 'watcher' || g, 'Watcher', 'active', 'human', false, false, false, 'w' || g || '@mail.example', now()
     from generate_series(1, $2::integer) g`,
    [FIRST_ID, count],
  );
  await database.query(
    `insert into notification_settings (user_id, source_type, source_id, level)
     select $1::bigint + g, 'namespace', $3, 'watch' from generate_series(1, $2::integer) g`,
    [FIRST_ID, count, group],
  );
  await database.query('analyze directory_users, notification_settings');
}

/**
 * Writes notes, two a second. Resolves to the median of their durations in ms.
 * @param {() => Promise<unknown>} write
 */
async function medianOf(write) {
  /** @type {number[]} */
  const took = [];
  for (let n = 0; n < NOTES; n += 1) {
    const at = performance.now();
    await write();
    took.push(performance.now() - at);
    await delay(Math.max(0, INTERVAL_MS - (performance.now() - at)));
  }
  return quantile(took, 0.5);
}

/**
 * Runs the benchmark of watchers. Resolves to whether the goals are met.
 * @param {{ root: string, rounds: number, count: number }} options
 */
export async function benchWatchers({ root, rounds, count }) {
  const { estate, database, post, end } = await start(root, { SMTP_URL: 'smtp://127.0.0.1:9' });
  try {
    const [watched, quiet] = [await placeOf(post, 'watched'), await placeOf(post, 'quiet')];
    await addWatchers(database, watched.group, count);
    const waiting = async () => {
      const { rows } = await database.query('select count(*)::integer as count from mail_fan_outs');
      return rows[0].count;
    };
    const settled = async () => {
      for (let idle = 0; idle < 3; idle = (await waiting()) === 0 ? idle + 1 : 0) await delay(300);
    };
    await medianOf(() => post(quiet.notes, { body: 'Warm' }));
    /** @type {number[]} */
    const ratios = [];
    for (let round = 0; round < rounds; round += 1) {
      const without = await medianOf(() => post(quiet.notes, { body: 'Text' }));
      const with_ = await medianOf(() => post(watched.notes, { body: 'Text' }));
      ratios.push(with_ / without);
      console.log(
        `p50 without watchers ${without.toFixed(1)} ms, with ${with_.toFixed(1)} ms, ratio ${(with_ / without).toFixed(2)}`,
      );
      await settled();
      await database.query('delete from mails');
    }
    const pid = estate.pids['collaboration'] ?? 0;
    const before = memoryOf(pid);
    let most = before;
    const { id } = await post(watched.notes, { body: 'Alone' });
    const from = performance.now();
    let queued = 0;
    while (queued < count && performance.now() - from < 120_000) {
      const { rows } = await database.query('select count(*)::integer as count from mails where note_id = $1', [id]);
      queued = rows[0].count;
      most = Math.max(most, memoryOf(pid));
      await delay(50);
    }
    const seconds = (performance.now() - from) / 1000;
    const ratio = quantile(ratios, 0.5);
    console.log(`${queued} of ${count} watchers resolved in ${seconds.toFixed(1)} s (goal ${GOALS.resolved})`);
    console.log(`memory of the service ${before.toFixed(0)} MB, at most ${most.toFixed(0)} MB meanwhile`);
    console.log(`ratio of the writing request: x ${ratio.toFixed(2)} (goal ${GOALS.ratio})`);
    return ratio <= GOALS.ratio && seconds <= GOALS.resolved && queued === count;
  } finally {
    await end();
  }
}

/**
 * A group with a project and an issue.
 * @param {import('./writer.mjs').Post} post
 * @param {string} name
 */
async function placeOf(post, name) {
  const { id: group } = await post('/groups', { name, path: name, visibility: 'public' });
  const { id: project } = await post('/projects', { name, namespace_id: group, visibility: 'public' });
  const { iid } = await post(`/projects/${project}/issues`, { title: 'Notes' });
  return { group, notes: `/projects/${project}/issues/${iid}/notes` };
}

/** A mail server that keeps the arrival of each note's e-mail. @param {Map<number, number>} arrivals */
async function startArrivals(arrivals) {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    onData(stream, _session, done) {
      let text = '';
      stream.on('data', (/** @type {Buffer} */ chunk) => (text += chunk.toString('latin1')));
      stream.on('end', () => {
        const [, note] = /^Message-ID: <note_(\d+)\./im.exec(text) ?? [];
        if (note !== undefined && !arrivals.has(Number(note))) arrivals.set(Number(note), performance.now());
        done();
      });
    },
  });
  server.on('error', () => {});
  const port = await freePort();
  await new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(undefined)));
  return {
    url: `smtp://127.0.0.1:${port}`,
    stop: () => new Promise((resolve) => server.close(() => resolve(undefined))),
  };
}

/**
 * Runs the benchmark of effects. Resolves to whether the goals are met.
 * @param {{ root: string, seconds: number, concurrency: number }} options
 */
export async function benchEffects({ root, seconds, concurrency: rate }) {
  /** @type {Map<number, number>} */
  const mails = new Map();
  const sink = await startArrivals(mails);
  const { database, post, end } = await start(root, { SMTP_URL: sink.url });
  try {
    const { notes } = await placeOf(post, 'effects');
    /** @type {Person[]} */
    const people = [];
    for (let n = 0; n < 100; n += 1) people.push(await makePerson(post, `seen${n}`));
    /** @type {Map<number, number>} */
    const answers = new Map();
    /** @type {Map<number, number>} */
    const todos = new Map();
    const watch = new AbortController();
    const watching = (async () => {
      for (let last = 0; !watch.signal.aborted; await delay(5)) {
        const { rows } = await database.query('select id, note_id from todos where id > $1 order by id', [last]);
        for (const row of rows) todos.set(Number(row.note_id), performance.now());
        last = Number(rows.at(-1)?.id ?? last);
      }
    })();
    const issues = notes.replace(/\/\d+\/notes$/, '');
    /** @type {string[]} */
    const targets = [];
    // Each mentioned user has an issue, whose other participants are none: a note causes one e-mail.
    for (const person of people) {
      const { iid } = await post(issues, { title: `For ${person.username}` });
      targets.push(`${issues}/${iid}/notes`);
    }
    const total = rate * seconds;
    const from = performance.now();
    /** @type {Promise<void>[]} */
    const writes = [];
    let refused = 0;
    for (let n = 0; n < total; n += 1) {
      await delay(Math.max(0, from + (n * 1000) / rate - performance.now()));
      const at = n % people.length;
      const write = post(targets[at] ?? '', { body: `Look, @${people[at]?.username}, number ${n}` });
      writes.push(
        write.then(
          ({ id }) => void answers.set(id, performance.now()),
          () => void (refused += 1),
        ),
      );
    }
    await Promise.all(writes);
    const wrote = (performance.now() - from) / 1000;
    for (
      const end = performance.now() + 60_000;
      performance.now() < end && [...answers.keys()].some((id) => !mails.has(id));
    )
      await delay(100);
    watch.abort();
    await watching;
    /** @param {Map<number, number>} seen */
    const delays = (seen) => [...answers].map(([id, at]) => Math.max(0, (seen.get(id) ?? Infinity) - at));
    const [todo, mail] = [delays(todos), delays(mails)];
    console.log(
      `${answers.size} notes in ${wrote.toFixed(1)} s (${(answers.size / wrote).toFixed(0)}/s), ${refused} refused`,
    );
    /** @type {(name: string, values: number[], goal: number) => void} */
    const show = (name, values, goal) =>
      console.log(
        `${name}: p50 ${quantile(values, 0.5).toFixed(0)} ms, p99 ${quantile(values, 0.99).toFixed(0)} ms (goal ${goal})`,
      );
    show('answer to visible to-do', todo, GOALS.todo);
    show('answer to mail server', mail, GOALS.mail);
    return refused === 0 && quantile(todo, 0.99) <= GOALS.todo && quantile(mail, 0.99) <= GOALS.mail;
  } finally {
    await end();
    await sink.stop();
  }
}

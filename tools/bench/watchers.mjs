/**
 * `npm run bench -- watchers [--count 20000] [--rounds 3]`: notes in a project of a group that `--count` users watch, compared
 * with notes in a project that no user watches, in turn: ten pairs a round. After each pair, the time until an e-mail is queued
 * for each watcher, and the growth of the memory of the collaboration service. No mail server answers, so the e-mails stay in
 * the queue. The exit code is 1 if the ratio of the medians exceeds 1.1 or the watchers of a note take longer than 10 s.
 *
 * `npm run bench -- effects [--seconds 20] [--concurrency 100]`: `--concurrency` notes a second, each with a mention: the time
 * from the answer to the visible to-do and to the mail server. Notes of the first five seconds, in which processes warm up, are
 * not counted. The exit code is 1 if p99 exceeds 250 ms or 5 s.
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
import { sharedTemporaryFolder } from '../servers/postgres-files.mjs';
import { loadStartEstate } from './checkout.mjs';
import { makePerson, writerOf } from './writer.mjs';

const ROOM = { ...WITHOUT_RATES, NOTES_CREATES_PER_MINUTE_COUNT: '0', NOTES_PER_NOTEABLE_COUNT: '1000000' };
/** Goals. Units: ratio, seconds, ms, ms. */
const GOALS = { ratio: 1.1, resolved: 10, todo: 250, mail: 5000 };
const PAIRS = 10;
const WARM_NOTES = 50;
const PAUSE_MS = 500;
/** Longest wait for the e-mails of a note. Units: ms. */
const QUEUED_WITHIN_MS = 120_000;
const WARM_SECONDS = 5;
/** Transactions may commit to-dos after others with greater ids. */
const LATE_IDS = 200;
/** Ids of watchers, far above those of the estate. */
const FIRST_ID = 50_000_000;

/**
 * @param {string} root
 * @param {Record<string, string>} env
 */
async function startEstateOfCheckout(root, env) {
  const startEstate = await loadStartEstate(root);
  const dataDir = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-bench-'));
  const estate = await startEstate({ dataDir, port: await freePort(), env: { ...ROOM, ...env } });
  const database = new pg.Client({ connectionString: estate.owners['collaboration'] });
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

/** Resident memory of a process. Units: MiB. @param {number} pid */
function residentMib(pid) {
  const [, kb = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1024;
}

/**
 * Adds users who watch a group to the copy of the directory that the service has.
 * @param {pg.Client} database
 * @param {number} group
 * @param {number} count
 */
async function insertGroupWatchers(database, group, count) {
  await database.query(
    `insert into directory_users (id, username, name, state, kind, admin, external, private_profile, notification_email, created_at)
     select $1::bigint + g, 'watcher' || g, 'Watcher', 'active', 'human', false, false, false, 'w' || g || '@mail.example', now()
     from generate_series(1, $2::integer) g`,
    [FIRST_ID, count],
  );
  await database.query(
    `insert into notification_settings (user_id, source_type, source_id, level)
     select $1::bigint + g, 'namespace', $3::bigint, 'watch' from generate_series(1, $2::integer) g`,
    [FIRST_ID, count, group],
  );
  await database.query('analyze directory_users, notification_settings');
}

/**
 * Writes a note after a pause. Resolves to its id and to the duration of the request in ms.
 * @param {() => Promise<{ id: number }>} write
 */
async function timeNoteWrite(write) {
  await delay(PAUSE_MS);
  const at = performance.now();
  const { id } = await write();
  return { id, ms: performance.now() - at };
}

/**
 * Waits until an e-mail of a note is queued for each watcher. Returns the number of `queued` e-mails and the seconds of
 * the wait.
 * @param {pg.Client} database
 * @param {{ id: number, count: number, sample: () => void }} note  `sample` runs again and again meanwhile
 */
async function waitForQueuedMails(database, { id, count, sample }) {
  const from = performance.now();
  for (let queued = 0; ; await delay(100)) {
    const { rows } = await database.query('select count(*)::integer as count from mails where note_id = $1', [id]);
    queued = rows[0].count;
    sample();
    const ms = performance.now() - from;
    if (queued >= count || ms > QUEUED_WITHIN_MS) return { queued, seconds: ms / 1000 };
  }
}

/**
 * Runs the benchmark of watchers. Resolves to whether the goals are met.
 * @param {{ root: string, rounds: number, count: number }} options
 */
export async function benchWatchers({ root, rounds, count }) {
  const { estate, database, post, end } = await startEstateOfCheckout(root, { SMTP_URL: 'smtp://127.0.0.1:9' });
  try {
    const [watched, quiet] = [await createGroupWithIssue(post, 'watched'), await createGroupWithIssue(post, 'quiet')];
    await insertGroupWatchers(database, watched.group, count);
    for (let n = 0; n < WARM_NOTES; n += 1) await post(quiet.notes, { body: 'Warm' });
    const memory = () => residentMib(estate.pids['collaboration'] ?? 0);
    /** @type {[ratios: number[], times: number[]]} */
    const [ratios, times] = [[], []];
    const fewest = { queued: count };
    const before = memory();
    let most = before;
    for (let round = 0; round < rounds; round += 1) {
      /** @type {[without: number[], with_: number[]]} */
      const [without, with_] = [[], []];
      for (let pair = 0; pair < PAIRS; pair += 1) {
        without.push((await timeNoteWrite(() => post(quiet.notes, { body: 'Text' }))).ms);
        const { id, ms } = await timeNoteWrite(() => post(watched.notes, { body: 'Text' }));
        with_.push(ms);
        const sample = () => void (most = Math.max(most, memory()));
        const { queued, seconds } = await waitForQueuedMails(database, { id, count, sample });
        times.push(seconds);
        fewest.queued = Math.min(fewest.queued, queued);
        await database.query('truncate mails');
      }
      const [low, high] = [quantile(without, 0.5), quantile(with_, 0.5)];
      ratios.push(high / low);
      console.log(
        `p50 without watchers ${low.toFixed(1)} ms, with ${high.toFixed(1)} ms, ratio ${(high / low).toFixed(2)}`,
      );
    }
    const [ratio, seconds] = [quantile(ratios, 0.5), Math.max(...times)];
    console.log(
      `${fewest.queued} of ${count} watchers resolved in ${quantile(times, 0.5).toFixed(1)} s, at most ${seconds.toFixed(1)} s (goal ${GOALS.resolved})`,
    );
    console.log(`memory of the service ${before.toFixed(0)} MB, at most ${most.toFixed(0)} MB meanwhile`);
    console.log(`ratio of the writing request: x ${ratio.toFixed(2)} (goal ${GOALS.ratio})`);
    return ratio <= GOALS.ratio && seconds <= GOALS.resolved && fewest.queued === count;
  } finally {
    await end();
  }
}

/**
 * A group with a project and an issue.
 * @param {import('./writer.mjs').Post} post
 * @param {string} name
 */
async function createGroupWithIssue(post, name) {
  const { id: group } = await post('/groups', { name, path: name, visibility: 'public' });
  const { id: project } = await post('/projects', { name, namespace_id: group, visibility: 'public' });
  const { iid } = await post(`/projects/${project}/issues`, { title: 'Notes' });
  return { group, notes: `/projects/${project}/issues/${iid}/notes` };
}

/** A mail server that keeps the arrival of each note's e-mail. @param {Map<number, number>} arrivals */
async function startMailArrivalServer(arrivals) {
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
  const sink = await startMailArrivalServer(mails);
  const { database, post, end } = await startEstateOfCheckout(root, { SMTP_URL: sink.url });
  try {
    const { notes } = await createGroupWithIssue(post, 'effects');
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
        const text = 'select id, note_id from todos where id > $1 order by id';
        const { rows } = await database.query(text, [last - LATE_IDS]);
        for (const { note_id: note } of rows) if (!todos.has(Number(note))) todos.set(Number(note), performance.now());
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
    const [warm, total] = [rate * WARM_SECONDS, rate * (WARM_SECONDS + seconds)];
    const from = performance.now();
    /** @type {Promise<void>[]} */
    const writes = [];
    let refused = 0;
    for (let n = 0; n < total; n += 1) {
      await delay(Math.max(0, from + (n * 1000) / rate - performance.now()));
      const at = n % people.length;
      const write = post(targets[at] ?? '', { body: `Look, @${people[at]?.username}, number ${n}` });
      const isCounted = n >= warm;
      writes.push(
        write.then(
          ({ id }) => void (isCounted && answers.set(id, performance.now())),
          () => void (refused += 1),
        ),
      );
    }
    await Promise.all(writes);
    const wrote = (performance.now() - from) / 1000 - WARM_SECONDS;
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

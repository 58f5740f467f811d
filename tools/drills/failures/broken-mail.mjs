/**
 * A mail server drops sessions at some messages, defers others, and permanently refuses some, while 200 users are notified
 * of one comment. No recipient is delayed because of another one, and names and titles cannot inject headers.
 * Source: docs/reference/reliability.md 2.7.
 *
 * @import { DrillClient, Person } from '../client.mjs'
 * @import { StallingServer } from '../authorization/stalled-mail.mjs'
 * @typedef {Pick<Person, 'id' | 'username' | 'email'>} Recipient
 */
import pg from 'pg';
import { until } from '../client.mjs';

const RECIPIENTS = 200;
/** Recipients for whom the server drops the session once. */
const DROPPED = 40;
/** Recipients that the server defers once. */
const DEFERRED = 20;
/** Recipients that the server does not know. */
const UNKNOWN = 10;
const AT_ONCE = 10;
/**
 * Limit for e-mails to unaffected recipients: some seconds, or on a busy machine twice the time that all e-mails take
 * without faults. Units: ms.
 */
const SOON_MS = 5000;
const BUSY_FACTOR = 2;
/** The product's delay before a second attempt, plus a margin. Units: ms. */
const AGAIN_WITHIN_MS = 120_000;

/**
 * Runs the drill. `calmMs` is the duration without faults, `slowestInnocentMs` that of unaffected recipients. `late`,
 * `missing` (also those with two message ids) and `attacked` (with a foreign header) are counts. `wrong` is the number
 * of violations.
 * @param {DrillClient} client
 * @param {{ server: StallingServer }} prepared
 */
export async function run(client, { server }) {
  const facts = {
    recipients: RECIPIENTS,
    innocents: 0,
    calmMs: 0,
    slowestInnocentMs: 0,
    late: 0,
    missing: 0,
    attacked: 0,
    /** @type {Record<string, number>} */
    states: {},
    wrong: 0,
  };
  const project = await client.projectWithIssue('broken', 'private');
  const people = await createRecipients(client);
  for (let first = 0; first < people.length; first += 50)
    await client.join(project, people.slice(first, first + 50), 30);
  // The drill counts e-mails about notes only, so those about the new membership must arrive before them.
  await until('the members have their e-mails about the membership', () =>
    people.every(({ email }) => server.messages.some(({ to }) => to.includes(email))),
  );
  const body = people.map(({ username }) => `@${username}`).join(' ');
  facts.calmMs = await measureFaultFreeNotificationMs(server, people, () =>
    client.made(`/projects/${project}/issues/1/notes`, { body }),
  );
  const soonMs = Math.max(SOON_MS, BUSY_FACTOR * facts.calmMs);
  const fates = new Map(people.map(({ email }, index) => [email, mailFaultOfRecipient(index)]));
  const met = new Set();
  server.answer = (stage, email) => {
    const fault = fates.get(email);
    if (stage === 'rcpt' && fault === 'unknown') return { code: 550, text: 'no such user' };
    if (fault === undefined || fault === 'none' || met.has(email)) return null;
    if (fault === 'deferred' && stage === 'rcpt') return met.add(email) && { code: 451, text: 'try again' };
    if (fault === 'dropped' && stage === 'data') return met.add(email) && 'drop';
    return null;
  };
  const attack = 'x\r\nBcc: thief@mail.example\u2028X-Attack: 1';
  const title = { title: attack, description: 'broken' };
  await client.done(200, 'PUT', `/projects/${project}/issues/1`, { json: title });
  const from = Date.now();
  const note = await client.made(`/projects/${project}/issues/1/notes`, { body: `${body} ${attack}` });
  /** @param {string} email */
  const of = (email) => server.messages.filter(({ to, at }) => to.includes(email) && at >= from);
  const reached = people.filter((_, index) => mailFaultOfRecipient(index) !== 'unknown');
  await until(
    'all recipients are notified',
    () => reached.every(({ email }) => of(email).length > 0),
    AGAIN_WITHIN_MS,
  ).catch(() => {});
  for (const [index, { email }] of people.entries()) {
    const got = of(email);
    if (mailFaultOfRecipient(index) === 'unknown' ? got.length > 0 : new Set(got.map(({ id }) => id)).size !== 1)
      facts.missing += 1;
    if (got.some(({ to, head }) => to.length !== 1 || /^(bcc|x-attack):/im.test(head))) facts.attacked += 1;
    if (mailFaultOfRecipient(index) !== 'none') continue;
    facts.innocents += 1;
    const ms = Math.min(...got.map(({ at }) => at)) - from;
    facts.slowestInnocentMs = Math.max(facts.slowestInnocentMs, ms);
    if (ms > soonMs) facts.late += 1;
  }
  facts.states = await mailCountsByState(client, note.id);
  const wrongStates =
    (facts.states['sent'] ?? 0) !== RECIPIENTS - UNKNOWN || facts.states['failed'] !== UNKNOWN ? 1 : 0;
  facts.wrong = facts.late + facts.missing + facts.attacked + wrongStates;
  return facts;
}

/**
 * Time until all recipients are notified without faults. Units: ms.
 * @param {StallingServer} server
 * @param {Recipient[]} people
 * @param {() => Promise<unknown>} write
 */
async function measureFaultFreeNotificationMs(server, people, write) {
  const from = Date.now();
  await write();
  const notified = () => new Set(server.messages.filter(({ at }) => at >= from).flatMap(({ to }) => to));
  await until('all recipients are notified without faults', () => people.every(({ email }) => notified().has(email)));
  return Date.now() - from;
}

/** @param {number} index */
function mailFaultOfRecipient(index) {
  // The faults are mixed, so that each batch of e-mails contains all of them.
  const place = index % (RECIPIENTS / 10);
  if (place < DROPPED / 10) return 'dropped';
  if (place < (DROPPED + DEFERRED) / 10) return 'deferred';
  return place < (DROPPED + DEFERRED + UNKNOWN) / 10 ? 'unknown' : 'none';
}

/** @param {DrillClient} client */
async function createRecipients(client) {
  /** @type {Recipient[]} */
  const people = [];
  while (people.length < RECIPIENTS) {
    const indexes = Array.from({ length: AT_ONCE }, (_, index) => people.length + index);
    people.push(
      ...(await Promise.all(
        indexes.map(async (index) => {
          const username = `recipient${index}-${client.seed}`;
          const email = `${username}@mail.example`;
          const { id } = await client.made('/users', { username, email, name: username, force_random_password: true });
          return { id, username, email };
        }),
      )),
    );
  }
  return people;
}

/**
 * Counts of e-mails by state.
 * @param {DrillClient} client
 * @param {number} noteId
 * @returns {Promise<Record<string, number>>}
 */
async function mailCountsByState({ estate }, noteId) {
  const database = new pg.Client({ connectionString: estate.databases['collaboration'] });
  await database.connect();
  try {
    const { rows } = await database.query(
      'select state, count(*)::int from mails where note_id = $1 and recipient_id <> actor_id group by 1',
      [noteId],
    );
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  } finally {
    await database.end();
  }
}

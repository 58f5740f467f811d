/**
 * A mail server that drops sessions over some messages, puts others off, and refuses some for good, while 200 people are
 * told of one comment: nobody waits because of anybody else, and names and titles end no header.
 * Source: docs/reference/reliability.md 2.7.
 */
import pg from 'pg';
import { until } from '../client.mjs';

const RECIPIENTS = 200;
/** How many of them the server drops the session over, once; puts off, once; knows not. */
const DROPPED = 40;
const PUT_OFF = 20;
const UNKNOWN = 10;
const AT_ONCE = 10;
/**
 * Within which those come whom nothing is wrong with: some seconds, or on a busy machine twice as long as all take when
 * nothing is wrong with anybody. Units: ms.
 */
const SOON_MS = 5000;
const BUSY_FACTOR = 2;
/** The product's delay before a second try, and some time. Units: ms. */
const AGAIN_WITHIN_MS = 120_000;

/**
 * Shape: `calmMs` when nothing is wrong, `slowestInnocentMs`, how many were `late`, `missing`, under two `ids` or got a header
 * that is not ours: `wrong`.
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
    wrong: 0,
  };
  const project = await client.projectWithIssue('broken', 'private');
  const people = await peopleOf(client);
  for (let first = 0; first < people.length; first += 50)
    await client.join(project, people.slice(first, first + 50), 30);
  const body = people.map(({ username }) => `@${username}`).join(' ');
  facts.calmMs = await calm(server, people, () => client.made(`/projects/${project}/issues/1/notes`, { body }));
  const soonMs = Math.max(SOON_MS, BUSY_FACTOR * facts.calmMs);
  const fate = new Map(people.map(({ email }, index) => [email, fateOf(index)]));
  const met = new Set();
  server.answer = (stage, email) => {
    const what = fate.get(email);
    if (stage === 'rcpt' && what === 'unknown') return { code: 550, text: 'no such user' };
    if (what === undefined || what === 'fine' || met.has(email)) return null;
    if (what === 'put off' && stage === 'rcpt') return met.add(email) && { code: 451, text: 'come again' };
    if (what === 'dropped' && stage === 'data') return met.add(email) && 'drop';
    return null;
  };
  const attack = 'x\r\nBcc: thief@mail.example\u2028X-Attack: 1';
  const title = { title: attack, description: 'broken' };
  await client.done(200, 'PUT', `/projects/${project}/issues/1`, { json: title });
  const from = Date.now();
  const note = await client.made(`/projects/${project}/issues/1/notes`, { body: `${body} ${attack}` });
  const of = (email) => server.messages.filter(({ to, at }) => to.includes(email) && at >= from);
  const reached = people.filter((_, index) => fateOf(index) !== 'unknown');
  await until('all are told', () => reached.every(({ email }) => of(email).length > 0), AGAIN_WITHIN_MS).catch(
    () => {},
  );
  for (const [index, { email }] of people.entries()) {
    const got = of(email);
    if (fateOf(index) === 'unknown' ? got.length > 0 : new Set(got.map(({ id }) => id)).size !== 1) facts.missing += 1;
    if (got.some(({ to, head }) => to.length !== 1 || /^(bcc|x-attack):/im.test(head))) facts.attacked += 1;
    if (fateOf(index) !== 'fine') continue;
    facts.innocents += 1;
    const ms = Math.min(...got.map(({ at }) => at)) - from;
    facts.slowestInnocentMs = Math.max(facts.slowestInnocentMs, ms);
    if (ms > soonMs) facts.late += 1;
  }
  facts.states = await statesOf(client, note.id);
  const wrongStates = (facts.states.sent ?? 0) !== RECIPIENTS - UNKNOWN || facts.states.failed !== UNKNOWN ? 1 : 0;
  facts.wrong = facts.late + facts.missing + facts.attacked + wrongStates;
  return facts;
}

/** How long all of them take while nothing is wrong. Units: ms. */
async function calm(server, people, write) {
  const from = Date.now();
  await write();
  const told = () => new Set(server.messages.filter(({ at }) => at >= from).flatMap(({ to }) => to));
  await until('all are told while nothing is wrong', () => people.every(({ email }) => told().has(email)));
  return Date.now() - from;
}

function fateOf(index) {
  // Mixed, so that each batch has some of all.
  const place = index % (RECIPIENTS / 10);
  if (place < DROPPED / 10) return 'dropped';
  if (place < (DROPPED + PUT_OFF) / 10) return 'put off';
  return place < (DROPPED + PUT_OFF + UNKNOWN) / 10 ? 'unknown' : 'fine';
}

async function peopleOf(client) {
  const people = [];
  while (people.length < RECIPIENTS) {
    const indexes = Array.from({ length: AT_ONCE }, (_, index) => people.length + index);
    people.push(
      ...(await Promise.all(
        indexes.map(async (index) => {
          const username = `told${index}-${client.seed}`;
          const email = `${username}@mail.example`;
          const { id } = await client.made('/users', { username, email, name: username, force_random_password: true });
          return { id, username, email };
        }),
      )),
    );
  }
  return people;
}

async function statesOf({ estate }, noteId) {
  const database = new pg.Client({ connectionString: estate.databases.collaboration });
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

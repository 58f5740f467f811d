/**
 * Collaboration's copy of the directory is held back while users lose access; then a note mentions them. The note is not
 * written before the copy moves, and no user who could not read the note when it was written may learn of it by to-do,
 * feed or e-mail. Half of the rounds hold nothing back: there the effect races with the copy. Source: ADR 0042, 0171; reference
 * reliability 4.2 (7).
 *
 * @import { DrillClient, Person } from '../client.mjs'
 * @typedef {(client: DrillClient, project: number, person: Person) => Promise<unknown>} RevokeAccess
 * @typedef {{ prepare(client: DrillClient, project: number, people: Person[]): unknown, take: RevokeAccess,
 *   visibility?: string, internal?: boolean }} RevocationWay
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { until } from '../client.mjs';
import { MailFiles } from '../mail-files.mjs';

const LOSERS = 4;
/** Time for which a note must wait for the copy: longer than the wait before identity is asked, and than a commit. Units: ms. */
const HELD_MS = 1500;

/** @type {(take: RevokeAccess, more?: { internal?: boolean }) => RevocationWay} */
const createMemberRevocation = (take, more = {}) => ({
  prepare: (client, project, people) => client.join(project, people, 20),
  take,
  ...more,
});
/** @type {(visibility: string, take: RevokeAccess) => RevocationWay} */
const createAllUsersRevocation = (visibility, take) => ({ visibility, prepare: () => {}, take });
/**
 * Ways in which users lose access to a project.
 * @type {Record<string, RevocationWay>}
 */
const WAYS = {
  removed: createMemberRevocation((client, project, { id }) =>
    client.done(204, 'DELETE', `/projects/${project}/members/${id}`),
  ),
  blocked: createMemberRevocation((client, _, { id }) => client.done(201, 'POST', `/users/${id}/block`)),
  demoted: createMemberRevocation(
    (client, project, { id }) =>
      client.done(200, 'PUT', `/projects/${project}/members/${id}`, { json: { access_level: 10 } }),
    { internal: true },
  ),
  hidden: createAllUsersRevocation('public', (client, project) =>
    client.done(200, 'PUT', `/projects/${project}`, { json: { visibility: 'private' } }),
  ),
  external: createAllUsersRevocation('internal', (client, _, { id }) =>
    client.done(200, 'PUT', `/users/${id}`, { json: { external: true } }),
  ),
};

/**
 * Runs the drill. `notified` counts notifications of users who kept their access. `wrong` counts those of users who
 * lost it.
 * @param {DrillClient} client
 */
export async function run(client) {
  const drill = new HeldDirectoryCopyDrill(client);
  await drill.open();
  try {
    for (const isHeld of [true, false])
      for (const [name, way] of Object.entries(WAYS)) await drill.round(name, way, isHeld);
  } finally {
    await drill.close();
  }
  return drill.facts;
}

class HeldDirectoryCopyDrill {
  facts = { rounds: 0, notified: 0, wrong: 0, examples: /** @type {string[]} */ ([]) };

  /** @param {DrillClient} client */
  constructor(client) {
    this.client = client;
    this.estate = client.estate;
    this.mails = new MailFiles(client.estate.mailDir);
    this.database = new pg.Client({ connectionString: client.estate.databases['collaboration'] });
    this.holder = new pg.Client({ connectionString: client.estate.databases['collaboration'] });
  }

  async open() {
    await Promise.all([this.database.connect(), this.holder.connect()]);
  }

  async close() {
    await Promise.all([this.database.end(), this.holder.end()]);
  }

  /**
   * @param {string} wayName
   * @param {RevocationWay} way
   * @param {boolean} isHeld
   */
  async round(wayName, { prepare, take, visibility, internal = false }, isHeld) {
    const { client } = this;
    const name = `${wayName}-${isHeld ? 'held' : 'free'}`;
    const project = await client.projectWithIssue(name, visibility);
    const losers = await client.people(LOSERS, `loser-${name}-`);
    const stays = await client.person(`stays-${name}`);
    await client.join(project, [stays], 40);
    await prepare(client, project, losers);
    const word = `word-${name}-${client.seed}.`;
    const body = `${[...losers, stays].map(({ username }) => `@${username}`).join(' ')} ${word}`;
    if (isHeld) await this.hold();
    let note;
    try {
      for (const loser of losers) await take(client, project, loser);
      note = client.made(`/projects/${project}/issues/1/notes`, { body, internal });
      note.catch(() => undefined);
      if (isHeld) await this.noteWaits(name, word);
    } finally {
      if (isHeld) await this.holder.query('rollback');
    }
    await note;
    const all = async () => (await this.notificationsOf(stays, word)).length === 3;
    await until(`${stays.username} is notified`, all);
    for (const loser of losers) this.note(`${name}: ${loser.username}`, await this.notificationsOf(loser, word));
    this.facts.rounds += 1;
    this.facts.notified += 3;
  }

  /** Simulates a process that hangs while it applies a batch: the API continues with a copy that does not move. */
  async hold() {
    await this.holder.query('begin');
    await this.holder.query('select 1 from directory_state for update');
  }

  /**
   * Checks that the note is not stored yet: recipients of mentions are checked with the copy, which is outdated.
   * @param {string} round
   * @param {string} word
   */
  async noteWaits(round, word) {
    await delay(HELD_MS);
    const { rowCount } = await this.database.query('select 1 from notes where body like $1', [`%${word}%`]);
    if (rowCount) this.note(round, ['a note stored with an outdated copy']);
  }

  /**
   * Kinds of notifications that a user got: to-dos as rows, because lists check access again; e-mails as the mail server
   * received them; feeds as shown.
   * @param {Person} person
   * @param {string} word
   */
  async notificationsOf({ id, email, token }, word) {
    const text = `%${word}%`;
    const todos = await this.database.query(
      `select 1 from todos t join notes n on n.id = t.note_id where t.user_id = $1 and n.body like $2`,
      [id, text],
    );
    const mails = (await this.mails.all()).filter((mail) => mail.to === email && mail.text.includes(word));
    const feed = await this.client.api('GET', '/events?scope=all&per_page=100', { token });
    const isShown = feed.status === 200 && feed.body.some((/** @type {any} */ { note }) => note?.body.includes(word));
    return [
      ...(todos.rowCount ? ['to-do'] : []),
      ...(mails.length > 0 ? ['e-mail'] : []),
      ...(isShown ? ['feed'] : []),
    ];
  }

  /**
   * @param {string} recipient
   * @param {string[]} kinds
   */
  note(recipient, kinds) {
    this.facts.wrong += kinds.length;
    if (kinds.length > 0 && this.facts.examples.length < 5)
      this.facts.examples.push(`${recipient} got ${kinds.join(', ')}`);
  }
}

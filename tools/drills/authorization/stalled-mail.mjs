/**
 * The mail server stalls while e-mails wait that were already taken from the queue; meanwhile their content becomes
 * confidential. Users who may no longer read it get no e-mail. Source: ADR 0171; reference work-tracking 8.5.
 *
 * @import { DrillClient } from '../client.mjs'
 * @typedef {{ code?: number, text?: string }} Refusal
 * @typedef {{ to: string[], head: string, id: string | undefined, at: number }} Message
 * @typedef {{ answer(stage: 'rcpt' | 'data', address: string): Refusal | 'drop' | null | false, messages: Message[],
 *   url: string, held: (() => void)[], taken: string[], stall(): void, goOn(): void, close(): Promise<unknown> }} StallingServer
 */
import pg from 'pg';
import { SMTPServer } from 'smtp-server';
import { freePort } from '../../processes/process-records.mjs';
import { until } from '../client.mjs';

/** As many as the product has connections: their SMTP dialogue has begun when the server stalls. */
const MEMBERS = 15;
/** With the members at most one batch of the queue, so that all e-mails are taken at once. */
const OUTSIDERS = 14;

/**
 * Ways to make an open text readable for members only.
 * @type {Record<string, (client: DrillClient, project: number) => Promise<unknown>>}
 */
const WAYS = {
  confidential: (client, project) =>
    client.done(200, 'PUT', `/projects/${project}/issues/1`, { json: { confidential: true } }),
  private: (client, project) => client.done(200, 'PUT', `/projects/${project}`, { json: { visibility: 'private' } }),
};

/** Starts the mail server of the estate. `env` contains settings for the estate. */
export async function prepare() {
  const server = await startStallingSmtpServer();
  return { env: { SMTP_URL: server.url }, server };
}

/**
 * Runs the drill. `notified` is the number of notified members. `wrong` is the number of other users who were notified.
 * @param {DrillClient} client
 * @param {{ server: StallingServer }} prepared
 */
export async function run(client, { server }) {
  const facts = { rounds: 0, notified: 0, dropped: 0, wrong: 0, examples: /** @type {string[]} */ ([]) };
  const database = new pg.Client({ connectionString: client.estate.databases['collaboration'] });
  await database.connect();
  try {
    for (const [name, way] of Object.entries(WAYS))
      await runAccessLossDuringMailStall(client, { name, way, server, database }, facts);
  } finally {
    await database.end();
  }
  return facts;
}

/**
 * @param {DrillClient} client
 * @param {{ name: string, way: (client: DrillClient, project: number) => Promise<unknown>, server: StallingServer,
 *   database: pg.Client }} round
 * @param {{ rounds: number, notified: number, dropped: number, wrong: number, examples: string[] }} facts
 */
async function runAccessLossDuringMailStall(client, { name, way, server, database }, facts) {
  const project = await client.projectWithIssue(name, 'public');
  // E-mails are sent in the order in which the users were created.
  const members = await client.people(MEMBERS, `member-${name}`);
  const outsiders = await client.people(OUTSIDERS, `outsider-${name}`);
  await client.join(project, members, 30);
  // The drill stalls e-mails about the note only, so those about new tokens and memberships must arrive before it.
  const ids = members.map(({ id }) => id);
  await until('e-mails about memberships are sent, and no other waits', async () => {
    const { rows } = await database.query(
      `select (select count(*)::int from place_mails where recipient_id = any($1::bigint[]) and state = 'sent') as sent,
         (select count(*)::int from place_mails where state = 'queued')
         + (select count(*)::int from account_mails where state = 'queued') as queued`,
      [ids],
    );
    return rows[0].sent === MEMBERS && rows[0].queued === 0;
  });
  server.taken.length = 0;
  server.stall();
  const body = [...members, ...outsiders].map(({ username }) => `@${username}`).join(' ');
  const note = await client.made(`/projects/${project}/issues/1/notes`, { body });
  /** @param {string} where */
  const count = async (where) => {
    const { rows } = await database.query(`select count(*)::int from mails where note_id = $1 and ${where}`, [note.id]);
    return rows[0].count;
  };
  await until('all are taken', async () => (await count('attempts > 0')) === MEMBERS + OUTSIDERS);
  await until('the server holds as many as it can', () => server.held.length === MEMBERS);
  await way(client, project);
  server.goOn();
  await until('the queue is empty', async () => (await count(`state = 'queued'`)) === 0);

  const got = new Set(server.taken);
  facts.rounds += 1;
  facts.notified += members.filter(({ email }) => got.has(email)).length;
  facts.dropped += await count(`state = 'dropped'`);
  for (const { email } of outsiders.filter((one) => got.has(one.email))) {
    facts.wrong += 1;
    if (facts.examples.length < 5) facts.examples.push(`${name}: ${email}`);
  }
}

/**
 * Starts an SMTP server that does not answer to the text of a message while it stalls. `answer(stage, address)` may be
 * replaced: null accepts, an object refuses with code and text, 'drop' ends the session without an answer.
 * @returns {Promise<StallingServer>}
 */
async function startStallingSmtpServer() {
  let isStalled = false;
  /** @type {(() => void)[]} */
  const held = [];
  /** @type {string[]} */
  const taken = [];
  /** @type {Message[]} */
  const messages = [];
  /** @type {(stage: 'rcpt' | 'data', address: string, id: string) => Error | null} */
  const refusalOf = (stage, address, id) => {
    const answer = server.answer(stage, address);
    if (!answer) return null;
    if (answer === 'drop') {
      const sessions = /** @type {Set<any>} */ (smtp.connections);
      [...sessions].find((one) => one.id === id)?._socket.destroy();
    }
    const { text = 'dropped', code = 421 } = answer === 'drop' ? {} : answer;
    return Object.assign(new Error(text), { responseCode: code });
  };
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    onRcptTo: ({ address }, { id }, done) => done(refusalOf('rcpt', address, id)),
    onData(stream, { envelope, id }, done) {
      /** @type {Buffer[]} */
      const parts = [];
      stream.on('data', (part) => parts.push(part));
      stream.on('end', () => {
        const to = envelope.rcptTo.map(({ address }) => address);
        const refusal = refusalOf('data', to[0] ?? '', id);
        if (refusal) return done(refusal);
        const [head = ''] = Buffer.concat(parts).toString().split('\r\n\r\n');
        messages.push({ to, head, id: /^message-id: *(\S+)/im.exec(head)?.[1], at: Date.now() });
        taken.push(...envelope.rcptTo.map(({ address }) => address));
        if (isStalled) held.push(done);
        else done();
      });
    },
  });
  const port = await freePort();
  await new Promise((resolve) => smtp.listen(port, '127.0.0.1', () => resolve(undefined)));
  /** @type {StallingServer} */
  const server = {
    answer: () => null,
    messages,
    url: `smtp://127.0.0.1:${port}`,
    held,
    taken,
    stall: () => void (isStalled = true),
    goOn() {
      isStalled = false;
      for (const done of held.splice(0)) done();
    },
    close: () => new Promise((resolve) => smtp.close(() => resolve(undefined))),
  };
  return server;
}

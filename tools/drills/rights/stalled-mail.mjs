/**
 * The mail server stalls while e-mails wait that were taken already; meanwhile what they tell of becomes confidential.
 * Whoever may read it no more gets none. Source: ADR 0171; reference work-tracking 8.5.
 */
import pg from 'pg';
import { SMTPServer } from 'smtp-server';
import { freePort } from '../../estate/processes.mjs';
import { until } from '../client.mjs';

/** As many as there are connections: their SMTP dialogue has begun when the server stalls. */
const MEMBERS = 5;
/** Together at most one batch of the queue, so that all are taken at once. */
const OUTSIDERS = 14;

/** Ways to make an open text readable for members only. */
const WAYS = {
  confidential: (client, project) =>
    client.done(200, 'PUT', `/projects/${project}/issues/1`, { json: { confidential: true } }),
  private: (client, project) => client.done(200, 'PUT', `/projects/${project}`, { json: { visibility: 'private' } }),
};

/** Starts the mail server of the estate. Shape: `env` for the estate. */
export async function prepare() {
  const server = await startStallingServer();
  return { env: { SMTP_URL: server.url }, server };
}

/** Shape: `told` is the number of notified members, `wrong` of notified other users. */
export async function run(client, { server }) {
  const facts = { rounds: 0, told: 0, dropped: 0, wrong: 0, examples: [] };
  const database = new pg.Client({ connectionString: client.estate.databases.collaboration });
  await database.connect();
  try {
    for (const way of Object.keys(WAYS)) await round(client, { way, server, database }, facts);
  } finally {
    await database.end();
  }
  return facts;
}

async function round(client, { way, server, database }, facts) {
  const project = await client.projectWithIssue(way, 'public');
  // Whoever came first is told first.
  const members = await client.people(MEMBERS, `member-${way}`);
  const outsiders = await client.people(OUTSIDERS, `outsider-${way}`);
  await client.join(project, members, 30);
  server.stall();
  const body = [...members, ...outsiders].map(({ username }) => `@${username}`).join(' ');
  const note = await client.made(`/projects/${project}/issues/1/notes`, { body });
  const count = async (where) => {
    const { rows } = await database.query(`select count(*)::int from mails where note_id = $1 and ${where}`, [note.id]);
    return rows[0].count;
  };
  await until('all are taken', async () => (await count('attempts > 0')) === MEMBERS + OUTSIDERS);
  await until('the server holds as many as it can', () => server.held.length === MEMBERS);
  await WAYS[way](client, project);
  server.goOn();
  await until('nothing waits any more', async () => (await count(`state = 'queued'`)) === 0);

  const got = new Set(server.taken);
  facts.rounds += 1;
  facts.told += members.filter(({ email }) => got.has(email)).length;
  facts.dropped += await count(`state = 'dropped'`);
  for (const { email } of outsiders.filter((one) => got.has(one.email))) {
    facts.wrong += 1;
    if (facts.examples.length < 5) facts.examples.push(`${way}: ${email}`);
  }
}

/**
 * Answers nothing to the text of a message while it stalls. Shape: `answer(stage, address)` may be set: null takes it, else
 * a refusal by code and text, or 'drop', which ends the session without a word.
 */
async function startStallingServer() {
  let isStalled = false;
  const held = [];
  const taken = [];
  const messages = [];
  const refusalOf = (stage, address, id) => {
    const answer = server.answer(stage, address);
    if (answer === null) return null;
    if (answer === 'drop') [...smtp.connections].find((one) => one.id === id)?._socket.destroy();
    return Object.assign(new Error(answer.text ?? 'dropped'), { responseCode: answer.code ?? 421 });
  };
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    onRcptTo: ({ address }, { id }, done) => done(refusalOf('rcpt', address, id)),
    onData(stream, { envelope, id }, done) {
      const parts = [];
      stream.on('data', (part) => parts.push(part));
      stream.on('end', () => {
        const to = envelope.rcptTo.map(({ address }) => address);
        const refusal = refusalOf('data', to[0], id);
        if (refusal) return done(refusal);
        const [head] = Buffer.concat(parts).toString().split('\r\n\r\n');
        messages.push({ to, head, id: /^message-id: *(\S+)/im.exec(head)?.[1], at: Date.now() });
        taken.push(...envelope.rcptTo.map(({ address }) => address));
        if (isStalled) held.push(done);
        else done();
      });
    },
  });
  const port = await freePort();
  await new Promise((resolve) => smtp.listen(port, '127.0.0.1', resolve));
  const server = {
    answer: () => null,
    messages,
    url: `smtp://127.0.0.1:${port}`,
    held,
    taken,
    stall: () => (isStalled = true),
    goOn() {
      isStalled = false;
      for (const done of held.splice(0)) done();
    },
    close: () => new Promise((resolve) => smtp.close(resolve)),
  };
  return server;
}

/**
 * Connections are cut at commits after the server has executed them. Callers learn that the outcome is unknown, and are
 * never asked to repeat the write. Effects of stored writes happen exactly once. Callers with an idempotency key repeat the
 * write until they get an answer: each write is executed once, and the last answer describes the stored resource; callers
 * that rotate their own token thus receive the new one.
 * Source: docs/reference/reliability.md 5.
 *
 * @import { DrillClient, Person } from '../client.mjs'
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { EVERY_MAIL, WITHOUT_RATES } from '../../processes/environment.mjs';
import { NoteLedger } from '../ledger.mjs';
import { FaultInjectingProxy } from './proxy.mjs';

/** Proportion of commits whose answer is lost. */
const PART = 0.05;
/** The same for writes with an idempotency key. */
const NAMED_PART = 0.4;
/** Idempotent writes of each kind whose outcome has to be unknown at first. */
const NAMED = 40;
/** Notes a second, of all writers together. */
const RATE = 20;
const LASTS_MS = 40_000;

export async function prepare() {
  return { env: { ...WITHOUT_RATES, ...EVERY_MAIL } };
}

/**
 * Runs the drill. Returns the `statuses` of answers, and the numbers of `cut` commits and of stored writes that callers
 * were `invited` to repeat. `namedInDoubt` counts idempotent writes with an unknown outcome. `misnamed` counts those
 * whose last answer did not describe the only stored resource. `wrong` is the number of violations.
 * @param {DrillClient} client
 */
export async function run(client) {
  const facts = {
    /** @type {Record<string, number>} */
    statuses: {},
    cut: 0,
    invited: 0,
    isBlind: 0,
    namedInDoubt: 0,
    misnamed: 0,
    rotationsInDoubt: 0,
    lockedOut: 0,
    /** @type {string[]} */
    examples: [],
  };
  const ledger = new NoteLedger(client);
  await ledger.prepare();
  const verdict = await withProxiedDatabase(client, 'collaboration', async (proxy) => {
    /** @type {string[]} */
    const invited = [];
    ledger.onAnswer = ({ status, headers }, entry) => {
      facts.statuses[status] = (facts.statuses[status] ?? 0) + 1;
      if (status !== 201 && headers.has('retry-after')) invited.push(entry.marker);
    };
    cutConnectionsAtCommits(proxy, PART);
    ledger.write(RATE);
    await delay(LASTS_MS);
    await ledger.stop();
    cutConnectionsAtCommits(proxy, 0);
    const written = await ledger.markers();
    for (const marker of invited.filter((one) => written.has(one))) {
      facts.invited += 1;
      if (facts.examples.length < 5) facts.examples.push(`${marker} is stored, but the caller was asked to repeat it`);
    }
    facts.isBlind = facts.statuses['502'] === undefined ? 1 : 0;
    Object.assign(facts, await writeNotesWithIdempotencyKeys(ledger, proxy));
    facts.cut = proxy.lostCount;
    return ledger.check();
  });
  const { examples, ...rotations } = await rotateTokensWithIdempotencyKeys(client, ledger.readers);
  Object.assign(facts, rotations);
  facts.examples.push(...examples, ...verdict.examples);
  const { invited, misnamed, lockedOut, isBlind } = facts;
  const wrong = invited + misnamed + lockedOut + isBlind + verdict.lost + verdict.missing + verdict.duplicate;
  return { ...verdict, ...facts, wrong };
}

/**
 * @param {NoteLedger} ledger
 * @param {FaultInjectingProxy} proxy
 */
async function writeNotesWithIdempotencyKeys(ledger, proxy) {
  cutConnectionsAtCommits(proxy, NAMED_PART);
  let inDoubt = 0;
  for (let index = 0; inDoubt < NAMED && index < NAMED * 20; index += 1) {
    const writer = /** @type {Person} */ (ledger.writers[index % ledger.writers.length]);
    if ((await ledger.writeNamed(writer)) > 0) inDoubt += 1;
  }
  cutConnectionsAtCommits(proxy, 0);
  return { namedInDoubt: inDoubt, misnamed: (await ledger.misnamed()).length + (inDoubt < NAMED ? 1 : 0) };
}

/**
 * Users rotate the token that authenticates the request.
 * @param {DrillClient} client
 * @param {Person[]} people
 */
async function rotateTokensWithIdempotencyKeys(client, people) {
  return withProxiedDatabase(client, 'identity', async (proxy) => {
    const facts = { rotationsInDoubt: 0, lockedOut: 0, examples: /** @type {string[]} */ ([]) };
    for (let index = 0; facts.rotationsInDoubt < NAMED && index < NAMED * 20; index += 1) {
      cutConnectionsAtCommits(proxy, 0);
      const { id } = /** @type {Person} */ (people[index % people.length]);
      const token = await client.tokenOf(id);
      cutConnectionsAtCommits(proxy, NAMED_PART);
      const how = { token, key: randomUUID() };
      const { status, body, doubts } = await client.named('POST', '/personal_access_tokens/self/rotate', how);
      if (doubts > 0) facts.rotationsInDoubt += 1;
      const after = status === 200 ? (await client.named('GET', '/user', { token: body.token })).status : 'not checked';
      if (after === 200) continue;
      facts.lockedOut += 1;
      facts.examples.push(
        `a rotation after ${doubts} unknown outcomes: ${status} ${JSON.stringify(body)}, then ${after}`,
      );
    }
    if (facts.rotationsInDoubt < NAMED) facts.lockedOut += 1;
    return facts;
  });
}

/**
 * Cuts the connection at a proportion of the commits, after the server has executed them.
 * @param {FaultInjectingProxy} proxy
 * @param {number} part
 */
function cutConnectionsAtCommits(proxy, part) {
  proxy.losesAnswerTo = (bytes) => bytes.includes('COMMIT') && Math.random() < part;
}

/**
 * Runs `use` while a service reaches its database through a proxy.
 * @template T
 * @param {DrillClient} client
 * @param {string} service
 * @param {(proxy: FaultInjectingProxy) => Promise<T>} use
 * @returns {Promise<T>}
 */
async function withProxiedDatabase(client, service, use) {
  const process = client.process(service);
  const name = `DATABASE_URL_${service.toUpperCase()}`;
  const direct = process.env[name] ?? '';
  const { hostname: host, port } = new URL(direct);
  const proxy = await new FaultInjectingProxy(() => ({ host, port: Number(port) })).listen(0);
  const url = new URL(direct);
  url.host = `127.0.0.1:${proxy.port}`;
  url.searchParams.delete('host');
  process.env[name] = url.href;
  try {
    await process.restart();
    return await use(proxy);
  } finally {
    process.env[name] = direct;
    await process.restart();
    await proxy.close();
  }
}

/**
 * Connections are cut over commits, once the server has done them: whoever wrote is told that nobody knows, and never to
 * send it again. Of what was written, everything follows exactly once. Whoever named their write sends it again until they
 * know: each is done once, and the last answer names what was made; who replaced their own token so has the new one.
 * Source: docs/reference/reliability.md 5.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { EVERY_MAIL, WITHOUT_RATES } from '../../estate/environment.mjs';
import { Ledger } from '../ledger.mjs';
import { Proxy } from './proxy.mjs';

const PART = 0.05;
/** Of commits with a name. */
const NAMED_PART = 0.4;
/** Named writes of each kind that have to be in doubt. */
const NAMED = 40;
/** Notes a second, of all writers together. */
const RATE = 20;
const LASTS_MS = 40_000;

export async function prepare() {
  return { env: { ...WITHOUT_RATES, ...EVERY_MAIL } };
}

/**
 * Shape: answers by status, how many commits were `cut`, how many writes were `invited` to be sent again; how many named
 * writes were in doubt, and of how many the last answer did not name the only thing made; `wrong` of all.
 */
export async function run(client) {
  const facts = { statuses: {}, cut: 0, invited: 0, examples: [] };
  const ledger = new Ledger(client);
  await ledger.prepare();
  const verdict = await behindProxy(client, 'collaboration', async (proxy) => {
    const invited = [];
    ledger.onAnswer = ({ status, headers }, entry) => {
      facts.statuses[status] = (facts.statuses[status] ?? 0) + 1;
      if (status !== 201 && headers.has('retry-after')) invited.push(entry.marker);
    };
    cuts(proxy, PART);
    ledger.write(RATE);
    await delay(LASTS_MS);
    await ledger.stop();
    cuts(proxy, 0);
    const written = await ledger.markers();
    for (const marker of invited.filter((one) => written.has(one))) {
      facts.invited += 1;
      if (facts.examples.length < 5) facts.examples.push(`${marker} is there, and was to be sent again`);
    }
    facts.isBlind = facts.statuses[502] === undefined ? 1 : 0;
    Object.assign(facts, await namedNotes(ledger, proxy));
    facts.cut = proxy.lostCount;
    return ledger.check();
  });
  const { examples, ...rotations } = await namedRotations(client, ledger.readers);
  Object.assign(facts, rotations);
  facts.examples.push(...examples, ...verdict.examples);
  const { invited, misnamed, lockedOut, isBlind } = facts;
  const wrong = invited + misnamed + lockedOut + isBlind + verdict.lost + verdict.missing + verdict.duplicate;
  return { ...verdict, ...facts, wrong };
}

async function namedNotes(ledger, proxy) {
  cuts(proxy, NAMED_PART);
  let inDoubt = 0;
  for (let index = 0; inDoubt < NAMED && index < NAMED * 20; index += 1) {
    if ((await ledger.writeNamed(ledger.writers[index % ledger.writers.length])) > 0) inDoubt += 1;
  }
  cuts(proxy, 0);
  return { namedInDoubt: inDoubt, misnamed: (await ledger.misnamed()).length + (inDoubt < NAMED ? 1 : 0) };
}

/** People who replace the token that they come with. */
async function namedRotations(client, people) {
  return behindProxy(client, 'identity', async (proxy) => {
    const facts = { rotationsInDoubt: 0, lockedOut: 0, examples: [] };
    for (let index = 0; facts.rotationsInDoubt < NAMED && index < NAMED * 20; index += 1) {
      cuts(proxy, 0);
      const token = await client.tokenOf(people[index % people.length].id);
      cuts(proxy, NAMED_PART);
      const how = { token, key: randomUUID() };
      const { status, body, doubts } = await client.named('POST', '/personal_access_tokens/self/rotate', how);
      if (doubts > 0) facts.rotationsInDoubt += 1;
      const after = status === 200 ? (await client.named('GET', '/user', { token: body.token })).status : 'not asked';
      if (after === 200) continue;
      facts.lockedOut += 1;
      facts.examples.push(`a rotation after ${doubts} doubts: ${status} ${JSON.stringify(body)}, then ${after}`);
    }
    if (facts.rotationsInDoubt < NAMED) facts.lockedOut += 1;
    return facts;
  });
}

/** Shape: `part` of the commits is done, and not told. */
function cuts(proxy, part) {
  proxy.losesAnswerTo = (bytes) => bytes.includes('COMMIT') && Math.random() < part;
}

/** With a service that reaches its database through a proxy. */
async function behindProxy(client, service, use) {
  const process = client.estate.processes[service];
  const name = `DATABASE_URL_${service.toUpperCase()}`;
  const direct = process.env[name];
  const { hostname: host, port } = new URL(direct);
  const proxy = await new Proxy(() => ({ host, port: Number(port) })).listen(0);
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

/**
 * The connection is cut over every twentieth commit, once the server has done it: whoever wrote is told that nobody knows,
 * and never to send it again. Of what was written, everything follows exactly once.
 * Source: docs/reference/reliability.md 5.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { WITHOUT_RATES } from '../../estate/environment.mjs';
import { Ledger } from '../ledger.mjs';
import { Proxy } from './proxy.mjs';

const PART = 0.05;
/** Notes a second, of all writers together. */
const RATE = 20;
const LASTS_MS = 40_000;

export async function prepare() {
  return { env: { ...WITHOUT_RATES, MAILER_PER_RECIPIENT_PER_MINUTE_COUNT: '100000' } };
}

/** Shape: answers by status, how many commits were `cut`, how many writes were `invited` to be sent again; `wrong` of all. */
export async function run(client) {
  const { collaboration } = client.estate.processes;
  const direct = collaboration.env.DATABASE_URL_COLLABORATION;
  const { hostname: host, port } = new URL(direct);
  const proxy = await new Proxy(() => ({ host, port: Number(port) })).listen(0);
  const facts = { statuses: {}, cut: 0, invited: 0, examples: [] };
  const ledger = new Ledger(client);
  await ledger.prepare();
  const url = new URL(direct);
  url.host = `127.0.0.1:${proxy.port}`;
  url.searchParams.delete('host');
  collaboration.env.DATABASE_URL_COLLABORATION = url.href;
  try {
    await collaboration.restart();
    const invited = [];
    ledger.onAnswer = ({ status, headers }, entry) => {
      facts.statuses[status] = (facts.statuses[status] ?? 0) + 1;
      if (headers.has('retry-after')) invited.push(entry.marker);
    };
    proxy.losesAnswerTo = (bytes) => bytes.includes('COMMIT') && Math.random() < PART;
    ledger.write(RATE);
    await delay(LASTS_MS);
    await ledger.stop();
    proxy.losesAnswerTo = () => false;
    facts.cut = proxy.lostCount;
    const verdict = await ledger.check();
    const written = await ledger.markers();
    for (const marker of invited.filter((one) => written.has(one))) {
      facts.invited += 1;
      if (facts.examples.length < 5) facts.examples.push(`${marker} is there, and was to be sent again`);
    }
    facts.examples.push(...verdict.examples);
    const isBlind = facts.statuses[502] === undefined ? 1 : 0;
    const wrong = facts.invited + verdict.lost + verdict.missing + verdict.duplicate + isBlind;
    return { ...verdict, ...facts, wrong };
  } finally {
    collaboration.env.DATABASE_URL_COLLABORATION = direct;
    await collaboration.restart();
    await proxy.close();
  }
}

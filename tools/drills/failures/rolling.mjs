/**
 * Two replicas of each process behind a load balancer are restarted in turn while users write notes, push by git and upload
 * packages: no write fails, and each is there once. Source: docs/reference/reliability.md 6.4.
 *
 * @import { ServiceProcess } from '../../processes/service-process.mjs'
 * @typedef {Record<string, Balancer>} Balancers
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROCESSES, SERVICES, WITHOUT_RATES } from '../../processes/environment.mjs';
import { DrillClient, until } from '../client.mjs';
import { NoteLedger } from '../ledger.mjs';
import { Balancer } from './balancer.mjs';
import { post, RollingWriters } from './rolling-writers.mjs';

/** Notes per second whose to-dos and events are verified. */
const FOLLOWED = 8;
/** Projects that are requested from one gateway right after the other gateway created them. */
const ELSEWHERE = 40;
/** The product's default, which an estate on one machine overrides. */
const SHUTDOWN_DELAY_MS = '5000';

/** Starts a balancer for each process; the gateway and the services reach each other through them. */
export async function prepare() {
  /** @type {Balancers} */
  const balancers = {};
  for (const name of PROCESSES) {
    const balancer = new Balancer();
    await balancer.listen(0);
    balancers[name] = balancer;
  }
  const upstreams = SERVICES.map((name) => [
    `GATEWAY_UPSTREAM_${name.toUpperCase()}`,
    requireBalancer(balancers, name).url,
  ]);
  const server = { balancers, close: () => Promise.all(Object.values(balancers).map((one) => one.close())) };
  return { env: { ...WITHOUT_RATES, SHUTDOWN_DELAY_MS, ...Object.fromEntries(upstreams) }, server };
}

/**
 * @param {Balancers} balancers
 * @param {string} name
 */
function requireBalancer(balancers, name) {
  const balancer = balancers[name];
  if (!balancer) throw new Error(`${name} has no balancer`);
  return balancer;
}

/**
 * Runs the drill. Returns the number of `restarts`, writes by outcome, and reasons of answers 502 to 504. `wrong` is
 * the number of failed writes and of violations that the ledger and the writers find.
 * @param {DrillClient} given
 * @param {{ server: { balancers: Balancers } }} prepared
 */
export async function run({ estate, seed }, { server: { balancers } }) {
  const replicas = await startReplicas(estate, balancers);
  const { url } = requireBalancer(balancers, 'gateway');
  const client = new DrillClient(Object.create(estate, { baseUrl: { value: url } }), seed);
  const writers = new RollingWriters(client);
  await readNewResourcesFromOtherGateway(client, writers);
  const ledger = new NoteLedger(client, { mails: false });
  await ledger.prepare();
  await writers.begin();
  ledger.write(FOLLOWED);
  let restarts = 0;
  for (const name of [...SERVICES, 'gateway']) {
    for (const replica of replicas[name] ?? []) {
      await replica.kill('SIGTERM');
      await replica.start();
      await until(`${name} is balanced again`, () => requireBalancer(balancers, name).isReady(replica));
      restarts += 1;
    }
  }
  await writers.end();
  await ledger.stop();
  const { examples, ...verdict } = await ledger.check();
  const differences = await writers.differences();
  const { lost, missing, duplicate, unknown, refused } = verdict;
  const { outcomes, slowestMs, failures } = writers;
  return {
    ...{ restarts, outcomes, slowestMs, reasons: unavailableAnswerCountsInLogs(estate.logs), ...verdict },
    examples: [...writers.examples, ...differences, ...examples],
    wrong: failures + differences.length + lost + missing + duplicate + unknown + refused,
  };
}

/**
 * Counts of answers 502 to 504 in the logs, by process and reason, without health checks.
 * @param {string} folder
 */
function unavailableAnswerCountsInLogs(folder) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.log'))) {
    for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
      const [, reason] = /"answered that something is unavailable: ([a-z ]+)/.exec(line) ?? [];
      if (reason === undefined || reason === 'not ready') continue;
      const name = `${file.replace('.log', '')}: ${reason}`;
      counts[name] = (counts[name] ?? 0) + 1;
    }
  }
  return counts;
}

/**
 * Requests resources from one gateway right after the other created them: by id, and as a user who just became a member.
 * @param {DrillClient} client
 * @param {RollingWriters} writers
 */
async function readNewResourcesFromOtherGateway(client, writers) {
  const group = await client.made('/groups', { name: 'places', path: `places-${client.seed}` });
  const person = await client.person('elsewhere');
  /** @type {(path: string, json: object, token?: string) => Promise<any>} */
  const create = async (path, json, token) => {
    const [status, text] = await post(client, path, json, { agent: false, token });
    writers.count(status, `from another gateway: ${text}`);
    return status === 201 ? JSON.parse(text) : {};
  };
  for (let round = 0; round < ELSEWHERE; round += 1) {
    const { id } = await create('/projects', { name: `elsewhere ${round}`, namespace_id: group.id });
    await create(`/projects/${id}/issues`, { title: 'elsewhere' });
    await create(`/projects/${id}/members`, { user_id: person.id, access_level: 20 });
    await create(`/projects/${id}/issues/1/notes`, { body: 'elsewhere' }, person.token);
  }
}

/**
 * Starts a second replica of each process; all of them reach each other through the balancers.
 * @param {DrillClient['estate']} estate
 * @param {Balancers} balancers
 */
async function startReplicas(estate, balancers) {
  /** @type {Record<string, ServiceProcess[]>} */
  const replicas = {};
  const urls = {
    IDENTITY_URL: requireBalancer(balancers, 'identity').url,
    ADMIN_URL: requireBalancer(balancers, 'admin').url,
    COLLABORATION_URL: requireBalancer(balancers, 'collaboration').url,
    PACKAGE_URL: requireBalancer(balancers, 'package').url,
    IMPORT_URL: requireBalancer(balancers, 'import').url,
  };
  for (const name of PROCESSES) {
    const own = name === 'identity' ? urls : { IDENTITY_URL: urls.IDENTITY_URL, ADMIN_URL: urls.ADMIN_URL };
    const first = /** @type {ServiceProcess} */ (estate.processes[name]);
    const second = await estate.replica(name, own);
    const balancer = requireBalancer(balancers, name);
    replicas[name] = [first, second];
    balancer.balance([first, second]);
    await until(`${name} is balanced`, () => balancer.isReady(second));
    first.env = { ...first.env, ...own };
    await first.kill('SIGTERM');
    await first.start();
    await until(`${name} is balanced`, () => balancer.isReady(first));
  }
  return replicas;
}

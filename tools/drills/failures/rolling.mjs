/**
 * Two replicas of each process behind a balancer, and each restarted in turn while people write: nobody gets anything
 * but 2xx. Source: docs/reference/reliability.md 6.4.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PROCESSES, SERVICES, WITHOUT_RATES } from '../../estate/environment.mjs';
import { Client, until } from '../client.mjs';
import { Ledger } from '../ledger.mjs';
import { Proxy } from './proxy.mjs';

const WRITERS = 8;
/** Notes a second that are followed to their to-dos, events and mails. */
const FOLLOWED = 8;
/** Projects of which one gateway is asked right after the other made them. */
const ELSEWHERE = 40;
/** How often a balancer asks who is ready. Units: ms. */
const LOOK_MS = 250;
/** The product's own, which the estate of one machine does without. */
const SHUTDOWN_DELAY_MS = '5000';

/** A balancer a service: where the gateway and the other services look for it. */
export async function prepare() {
  const balancers = {};
  for (const name of PROCESSES) balancers[name] = await new Balancer().listen(0);
  const upstreams = SERVICES.map((name) => [`GATEWAY_UPSTREAM_${name.toUpperCase()}`, balancers[name].url]);
  const server = { balancers, close: () => Promise.all(Object.values(balancers).map((one) => one.close())) };
  return { env: { ...WITHOUT_RATES, SHUTDOWN_DELAY_MS, ...Object.fromEntries(upstreams) }, server };
}

/** Shape: `restarts`, answers by status, why some were 502 to 504, `wrong` of all that were not 2xx and of what the ledger misses. */
export async function run({ estate, seed }, { server: { balancers } }) {
  const replicas = await doubled(estate, balancers);
  const client = new Client(Object.create(estate, { baseUrl: { value: balancers.gateway.url } }), seed);
  const facts = { restarts: 0, statuses: {}, slowestMs: 0, examples: [] };
  await askedElsewhere(client, facts);
  const ledger = new Ledger(client, { mails: false });
  await ledger.prepare();
  const writers = new Writers(client, facts);
  await writers.begin();
  ledger.write(FOLLOWED);
  for (const name of [...SERVICES, 'gateway']) {
    for (const replica of replicas[name]) {
      await replica.kill('SIGTERM');
      await replica.start();
      await until(`${name} is balanced again`, () => balancers[name].isReady(replica));
      facts.restarts += 1;
    }
  }
  await writers.end();
  await ledger.stop();
  const { examples, ...verdict } = await ledger.check();
  facts.examples.push(...examples);
  const failed = Object.entries(facts.statuses).reduce((sum, [status, count]) => sum + (status < '3' ? 0 : count), 0);
  const { lost, missing, duplicate, unknown, refused } = verdict;
  return {
    ...facts,
    reasons: reasonsOf(estate.logs),
    ...verdict,
    wrong: failed + lost + missing + duplicate + unknown + refused,
  };
}

/** What processes logged of answers 502 to 504, by process and reason; health left out. */
function reasonsOf(folder) {
  const counts = {};
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.log'))) {
    for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
      const [, reason] = /"answered that something is unavailable: ([a-z ]+)/.exec(line) ?? [];
      if (!reason || reason === 'not ready') continue;
      const name = `${file.replace('.log', '')}: ${reason}`;
      counts[name] = (counts[name] ?? 0) + 1;
    }
  }
  return counts;
}

/** What was made by one gateway is asked for at the other at once: by its id, and by a person who was just let in. */
async function askedElsewhere(client, facts) {
  const group = await client.made('/groups', { name: 'places', path: `places-${client.seed}` });
  const person = await client.person('elsewhere');
  const asked = async (path, json, token) => {
    const [status, text] = await sent(client, path, json, { agent: false, token });
    facts.statuses[status] = (facts.statuses[status] ?? 0) + 1;
    if (status !== 201) facts.examples.push(`${status} by another gateway: ${text}`);
    return status === 201 ? JSON.parse(text) : {};
  };
  for (let round = 0; round < ELSEWHERE; round += 1) {
    const { id } = await asked('/projects', { name: `elsewhere ${round}`, namespace_id: group.id });
    await asked(`/projects/${id}/issues`, { title: 'elsewhere' });
    await asked(`/projects/${id}/members`, { user_id: person.id, access_level: 20 });
    await asked(`/projects/${id}/issues/1/notes`, { body: 'elsewhere' }, person.token);
  }
}

/** Shape: status and text. Errors: what the connection says. */
function sent({ estate }, path, json, { agent, token = estate.token }) {
  const headers = { 'private-token': token, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const asked = request(`${estate.baseUrl}/api/v4${path}`, { method: 'POST', agent, headers }, async (answer) => {
      const parts = [];
      try {
        for await (const part of answer) parts.push(part);
        resolve([answer.statusCode, Buffer.concat(parts).toString()]);
      } catch (error) {
        reject(error);
      }
    });
    asked.on('error', reject);
    asked.end(JSON.stringify(json));
  });
}

/** All ask each other through the balancers. */
async function doubled(estate, balancers) {
  const replicas = {};
  const urls = {
    IDENTITY_URL: balancers.identity.url,
    ADMIN_URL: balancers.admin.url,
    COLLABORATION_URL: balancers.collaboration.url,
  };
  for (const name of PROCESSES) {
    const own = name === 'identity' ? urls : { IDENTITY_URL: urls.IDENTITY_URL, ADMIN_URL: urls.ADMIN_URL };
    const first = estate.processes[name];
    replicas[name] = [first, await estate.replica(name, own)];
    balancers[name].stand(replicas[name]);
    await until(`${name} is balanced`, () => balancers[name].isReady(replicas[name][1]));
    Object.assign(first.env, own);
    await first.kill('SIGTERM');
    await first.start();
    await until(`${name} is balanced`, () => balancers[name].isReady(first));
  }
  return replicas;
}

/** New connections go in turn to those that say that they are ready; what is open stays where it is. */
class Balancer extends Proxy {
  #replicas = [];
  #ready = new Set();
  #turn = 0;

  constructor() {
    super(() => this.#next());
  }

  get url() {
    return `http://localhost:${this.port}`;
  }

  stand(replicas) {
    this.#replicas = replicas;
    this.looking ??= this.#look();
  }

  isReady(replica) {
    return this.#ready.has(replica);
  }

  async close() {
    this.isClosed = true;
    await this.looking;
    await super.close();
  }

  #next() {
    const ready = [...this.#ready];
    const replica = ready[(this.#turn += 1) % ready.length];
    return replica ? { host: '127.0.0.1', port: Number(replica.env.PORT) } : null;
  }

  async #look() {
    while (!this.isClosed) {
      for (const replica of this.#replicas) {
        const answers = await fetch(`${replica.managementUrl}/-/health/ready`, { signal: AbortSignal.timeout(1000) })
          .then(({ status }) => status === 200)
          .catch(() => false);
        if (answers) this.#ready.add(replica);
        else this.#ready.delete(replica);
      }
      await delay(LOOK_MS);
    }
  }
}

/** Each writes one note after the other over its own connection, which it keeps as long as it may. */
class Writers {
  #isOver = false;

  constructor(client, facts) {
    Object.assign(this, { client, facts });
  }

  async begin() {
    this.project = await this.client.projectWithIssue('rolling', 'private');
    const titles = Array.from({ length: WRITERS }, (_, index) => `rolling ${index}`);
    const issues = await Promise.all(
      titles.map((title) => this.client.made(`/projects/${this.project}/issues`, { title })),
    );
    this.running = issues.map(({ iid }) => this.#work(new Agent({ keepAlive: true, maxSockets: 1 }), iid));
  }

  async end() {
    this.#isOver = true;
    await Promise.all(this.running);
  }

  async #work(agent, iid) {
    while (!this.#isOver) {
      const from = performance.now();
      const [status, text] = await this.#note(agent, iid).catch((error) => [error.code ?? 'failed', error.message]);
      this.facts.statuses[status] = (this.facts.statuses[status] ?? 0) + 1;
      this.facts.slowestMs = Math.max(this.facts.slowestMs, Math.round(performance.now() - from));
      if (status !== 201 && this.facts.examples.length < 5) this.facts.examples.push(`${status}: ${text}`);
    }
    agent.destroy();
  }

  #note(agent, iid) {
    return sent(this.client, `/projects/${this.project}/issues/${iid}/notes`, { body: 'rolling' }, { agent });
  }
}

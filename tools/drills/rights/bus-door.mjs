/**
 * Accounts without credentials on the bus, services that use subjects of other services, and forged events about existing
 * resources: no account may publish, consume, read or destroy data of another service. Source: ADR 0170, 0171; reference
 * reliability 2.3.
 */
import { randomUUID } from 'node:crypto';
import { connect } from 'nats';
import pg from 'pg';
import { until } from '../client.mjs';
import { SERVICES } from '../../estate/environment.mjs';

const DELETIONS = ['identity.user.deleted.v1', 'identity.project.deleted.v1', 'identity.group.deleted.v1'];

/** Shape: `attempts`, `through` (successful ones), `refused` (effects of forged events), `lost` resources; `wrong` is the number of violations. */
export async function run(client) {
  const drill = new BusDoor(client);
  await drill.open();
  try {
    const nest = await drill.settle();
    await drill.strangers();
    await drill.falseNews(nest);
    for (const name of SERVICES) await drill.service(name);
  } finally {
    await drill.close();
  }
  return { ...drill.facts, wrong: drill.facts.through + drill.facts.lost };
}

class BusDoor {
  facts = { attempts: 0, through: 0, refused: 0, lost: 0, examples: [] };

  constructor(client) {
    this.client = client;
    this.nats = client.estate.nats;
  }

  async open() {
    this.operator = await this.#enter(new URL(this.nats.urlOf('operator')));
    this.manager = await this.operator.jetstreamManager();
  }

  async close() {
    await this.operator?.close();
  }

  #enter({ host, username, password }) {
    return connect({ servers: host, user: username, pass: password, inboxPrefix: `_INBOX_${username}`, timeout: 2000 });
  }

  #count(isThrough, what) {
    this.facts.attempts += 1;
    if (!isThrough) return;
    this.facts.through += 1;
    this.#complain(what);
  }

  #complain(text) {
    if (this.facts.examples.length < 5) this.facts.examples.push(text);
  }

  /** A user with every kind of data, and a genuine deletion event of each kind as a template for forged ones. */
  async settle() {
    const { client } = this;
    const person = await client.person('nester');
    const path = `nest-${client.seed}`;
    const group = await client.made('/groups', { name: path, path }, person.token);
    const project = await client.made('/projects', { name: path, namespace_id: group.id }, person.token);
    await client.made(`/projects/${project.id}/issues`, { title: `for @${person.username}` }, person.token);
    await client.made(`/projects/${project.id}/issues/1/notes`, { body: `@${person.username} word` });
    const rule = { package_name_pattern: '@nest/*', package_type: 'npm', minimum_access_level_for_push: 'maintainer' };
    await client.made(`/projects/${project.id}/packages/protection/rules`, rule, person.token);
    await this.#removeForGood();
    const nest = { person, group: group.id, project: project.id };
    await until('the nest has its to-dos and feed', async () => {
      const { todos, feed } = await this.#shownOf(nest);
      return todos.length > 0 && feed.length >= 3;
    });
    return { ...nest, before: await this.#shownOf(nest) };
  }

  async #removeForGood() {
    const { client } = this;
    const person = await client.person('leaver');
    await client.done(204, 'DELETE', `/users/${person.id}`);
    const path = `gone-${client.seed}`;
    const group = await client.made('/groups', { name: path, path });
    await client.made('/projects', { name: path, namespace_id: group.id });
    await client.done(202, 'DELETE', `/groups/${group.id}`);
    await client.done(202, 'DELETE', `/groups/${group.id}?permanently_remove=true&full_path=${path}`);
    for (const subject of DELETIONS)
      await until(`${subject} is told`, () => this.#lastOf(subject).then(Boolean, () => false));
  }

  async #lastOf(subject) {
    const message = await this.manager.streams.getMessage('IDENTITY', { last_by_subj: subject });
    return message && JSON.parse(message.string());
  }

  async #shownOf({ person: { token }, project }) {
    const rows = async (path) => {
      const { status, body } = await this.client.api('GET', path, { token });
      return status === 200 ? body.map((row) => row.id ?? row.title) : [];
    };
    return {
      issues: await rows(`/projects/${project}/issues`),
      notes: await rows(`/projects/${project}/issues/1/notes`),
      rules: await rows(`/projects/${project}/packages/protection/rules`),
      todos: await rows('/todos'),
      feed: await rows(`/projects/${project}/events`),
    };
  }

  /** Without a user name, and with a wrong password. */
  async strangers() {
    const { host } = new URL(this.nats.url);
    for (const login of [
      {},
      { user: 'identity' },
      { user: 'identity', pass: 'guess' },
      { user: 'operator', pass: '' },
    ]) {
      const connection = await connect({ servers: host, timeout: 2000, reconnect: false, ...login }).catch(() => null);
      this.#count(connection !== null, `a stranger as ${JSON.stringify(login)}`);
      await connection?.close();
    }
  }

  /** A service's own key allows its own subjects only: tries every call and subscription of all other services. */
  async service(name) {
    const connection = await this.#enter(new URL(this.nats.urlOf(name)));
    for (const other of SERVICES.filter((one) => one !== name)) {
      for (const subject of await this.#callsOn(other)) {
        const answer = connection.request(subject, '{}', { timeout: 500 });
        this.#count(!(await isForbidden(answer)), `${name} on ${subject}`);
      }
      for (const subject of [`${other}.>`, `_INBOX_${other}.>`]) await this.#listen(connection, name, subject);
    }
    for (const subject of ['>', '$JS.>', '_INBOX.>']) await this.#listen(connection, name, subject);
    await connection.close();
  }

  async #callsOn(service) {
    const stream = service.toUpperCase();
    const own = await this.manager.consumers
      .list(stream)
      .next()
      .catch(() => []);
    const consumers = own
      .filter((consumer) => consumer.name.startsWith(`${service}--`))
      .map((consumer) => consumer.name);
    const streams = ['INFO', 'CREATE', 'UPDATE', 'PURGE', 'MSG.GET', 'MSG.DELETE', 'SNAPSHOT', 'DELETE'];
    return [
      ...(service === 'identity' ? DELETIONS : [`${service}.thing.made.v1`]),
      ...consumers.flatMap((consumer) => [
        `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`,
        `$JS.API.CONSUMER.INFO.${stream}.${consumer}`,
        `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${consumer}`,
        `$JS.ACK.${stream}.${consumer}.1.1.1.1.1`,
        `$JS.API.CONSUMER.DELETE.${stream}.${consumer}`,
      ]),
      `$JS.API.CONSUMER.CREATE.${stream}`,
      `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.stranger`,
      ...streams.map((call) => `$JS.API.STREAM.${call}.${stream}`),
    ];
  }

  async #listen(connection, name, subject) {
    const subscription = connection.subscribe(subject);
    const refusal = subscription.closed.then((error) => error ?? true);
    await connection.flush();
    // The server reports refusals before the flush; allowed subscriptions stay open.
    const isClosed = await Promise.race([refusal, connection.flush().then(() => null)]);
    this.#count(isClosed === null && !subscription.isClosed(), `${name} hears ${subject}`);
    subscription.unsubscribe();
  }

  /** Publishes with identity's own key, as an attacker would: about existing resources, with and without a directory version. */
  async falseNews(nest) {
    const connection = await this.#enter(new URL(this.nats.urlOf('identity')));
    const ids = [nest.person.id, nest.project, nest.group];
    const forged = [];
    for (const [index, subject] of DELETIONS.entries()) {
      const pattern = await this.#lastOf(subject);
      const key = Object.keys(pattern.data)[0];
      for (const isOld of [false, true]) {
        const data = { ...pattern.data, [key]: ids[index] };
        const event = { ...pattern, id: randomUUID(), aggregateid: ids[index], time: new Date().toISOString(), data };
        if ('hard_delete' in data) Object.assign(data, { hard_delete: true, ghost_user_id: null });
        if (isOld) for (const name of ['directoryversion', 'directoryepoch']) delete event[name];
        await connection.jetstream().publish(subject, JSON.stringify(event), { msgID: event.id });
        forged.push({ id: event.id, subject });
      }
    }
    await connection.close();
    await this.#judged(forged);
    await this.#compare(nest);
  }

  /** Waits until each effect of the event, in every service, has refused or processed it. */
  async #judged(forged) {
    const hearers = await this.manager.consumers.list('IDENTITY').next();
    for (const [service, url] of Object.entries(this.client.estate.databases)) {
      const database = new pg.Client({ connectionString: url });
      await database.connect();
      for (const { id, subject } of forged) {
        const hears = ({ name, config }) => name.startsWith(`${service}--`) && config.filter_subject === subject;
        const expected = hearers.filter(hears).length;
        await until(`${service} has judged ${subject}`, async () => {
          const { rows } = await database.query(
            `select effect, 'refused' as what from dead_letters where event_id = $1
             union select effect, 'done' from inbox where event_id = $1`,
            [id],
          );
          this.facts.refused += rows.length < expected ? 0 : rows.filter(({ what }) => what === 'refused').length;
          return rows.length >= expected;
        });
      }
      await database.end();
    }
  }

  async #compare(nest) {
    const after = await this.#shownOf(nest);
    for (const [what, ids] of Object.entries(nest.before)) {
      const lost = ids.filter((id) => !after[what].includes(id));
      this.facts.lost += lost.length;
      if (lost.length > 0) this.#complain(`${lost.length} of ${ids.length} ${what} are gone`);
    }
  }
}

function isForbidden(answer) {
  return answer.then(
    () => false,
    (error) => /permissions violation/i.test(error.message),
  );
}

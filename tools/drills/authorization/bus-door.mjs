/**
 * Accounts without credentials on the bus, services that use subjects of other services, and forged events about existing
 * resources: no account may publish, consume, read or destroy data of another service. Source: ADR 0170, 0171; reference
 * reliability 2.3.
 *
 * @import { NatsConnection } from 'nats'
 * @import { NatsServer } from '../../servers/nats.mjs'
 * @import { DrillClient, Person } from '../client.mjs'
 * @typedef {{ person: Person, group: number, project: number }} TargetData
 * @typedef {TargetData & { before: Record<string, unknown[]> }} TargetDataBefore
 */
import { randomUUID } from 'node:crypto';
import { connect } from 'nats';
import pg from 'pg';
import { until } from '../client.mjs';
import { SERVICES } from '../../processes/environment.mjs';

const DELETIONS = ['identity.user.deleted.v1', 'identity.project.deleted.v1', 'identity.group.deleted.v1'];

/**
 * Runs the drill. Returns numbers of `attempts`, of successful ones (`through`), of `refused` effects of forged events,
 * and of `lost` resources. `wrong` is the number of violations.
 * @param {DrillClient} client
 */
export async function run(client) {
  const drill = new BusPermissionsDrill(client);
  await drill.open();
  try {
    const nest = await drill.settle();
    await drill.strangers();
    await drill.forgeEvents(nest);
    for (const name of SERVICES) await drill.service(name);
  } finally {
    await drill.close();
  }
  return { ...drill.facts, wrong: drill.facts.through + drill.facts.lost };
}

class BusPermissionsDrill {
  facts = { attempts: 0, through: 0, refused: 0, lost: 0, examples: /** @type {string[]} */ ([]) };
  /** @type {NatsConnection | undefined} */
  operator;

  /** @param {DrillClient} client */
  constructor(client) {
    this.client = client;
    this.nats = /** @type {NatsServer} */ (client.estate.nats);
  }

  async open() {
    this.operator = await this.#connectAs(new URL(this.nats.urlOf('operator')));
  }

  async #openManager() {
    return /** @type {NatsConnection} */ (this.operator).jetstreamManager();
  }

  async close() {
    await this.operator?.close();
  }

  /** @param {URL} url */
  #connectAs({ host, username, password }) {
    return connect({ servers: host, user: username, pass: password, inboxPrefix: `_INBOX_${username}`, timeout: 2000 });
  }

  /**
   * @param {boolean} isThrough
   * @param {string} attempt
   */
  #countAttempt(isThrough, attempt) {
    this.facts.attempts += 1;
    if (!isThrough) return;
    this.facts.through += 1;
    this.#complain(attempt);
  }

  /** @param {string} text */
  #complain(text) {
    if (this.facts.examples.length < 5) this.facts.examples.push(text);
  }

  /**
   * Creates a user with every kind of data, and a genuine deletion event of each kind as a template for forged ones.
   * @returns {Promise<TargetDataBefore>}
   */
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
    await this.#deleteUserAndGroup();
    const nest = { person, group: group.id, project: project.id };
    await until('the nest has its to-dos and feed', async () => {
      const { todos, feed } = await this.#visibleIdsOf(nest);
      return todos.length > 0 && feed.length >= 3;
    });
    return { ...nest, before: await this.#visibleIdsOf(nest) };
  }

  async #deleteUserAndGroup() {
    const { client } = this;
    const person = await client.person('leaver');
    await client.done(204, 'DELETE', `/users/${person.id}`);
    const path = `gone-${client.seed}`;
    const group = await client.made('/groups', { name: path, path });
    await client.made('/projects', { name: path, namespace_id: group.id });
    await client.done(202, 'DELETE', `/groups/${group.id}`);
    const { full_path: marked } = await client.done(200, 'GET', `/groups/${group.id}`);
    await client.done(202, 'DELETE', `/groups/${group.id}?permanently_remove=true&full_path=${marked}`);
    for (const subject of DELETIONS)
      await until(`${subject} is published`, () => this.#lastEventOf(subject).then(Boolean, () => false));
  }

  /** @param {string} subject */
  async #lastEventOf(subject) {
    const message = await (await this.#openManager()).streams.getMessage('IDENTITY', { last_by_subj: subject });
    return message && JSON.parse(message.string());
  }

  /**
   * Ids of visible resources by kind.
   * @param {TargetData} nest
   */
  async #visibleIdsOf({ person: { token }, project }) {
    /**
     * @param {string} path
     * @returns {Promise<unknown[]>}
     */
    const rows = async (path) => {
      const { status, body } = await this.client.api('GET', path, { token });
      return status === 200 ? body.map((/** @type {any} */ row) => row.id ?? row.title) : [];
    };
    return {
      issues: await rows(`/projects/${project}/issues`),
      notes: await rows(`/projects/${project}/issues/1/notes`),
      rules: await rows(`/projects/${project}/packages/protection/rules`),
      todos: await rows('/todos'),
      feed: await rows(`/projects/${project}/events`),
    };
  }

  /** Connects without a user name, and with a wrong password. */
  async strangers() {
    const { host } = new URL(this.nats.url);
    for (const login of [
      {},
      { user: 'identity' },
      { user: 'identity', pass: 'guess' },
      { user: 'operator', pass: '' },
    ]) {
      const connection = await connect({ servers: host, timeout: 2000, reconnect: false, ...login }).catch(() => null);
      this.#countAttempt(connection !== null, `a stranger as ${JSON.stringify(login)}`);
      await connection?.close();
    }
  }

  /**
   * Tries every call and subscription of all other services with a service's own key, which allows its own subjects only.
   * @param {string} name
   */
  async service(name) {
    const connection = await this.#connectAs(new URL(this.nats.urlOf(name)));
    for (const other of SERVICES.filter((one) => one !== name)) {
      for (const subject of await this.#forbiddenSubjectsOf(other)) {
        const answer = connection.request(subject, '{}', { timeout: 500 });
        this.#countAttempt(!(await isPermissionViolation(answer)), `${name} on ${subject}`);
      }
      for (const subject of [`${other}.>`, `_INBOX_${other}.>`]) await this.#trySubscribe(connection, name, subject);
    }
    for (const subject of ['>', '$JS.>', '_INBOX.>']) await this.#trySubscribe(connection, name, subject);
    await connection.close();
  }

  /** @param {string} service */
  async #forbiddenSubjectsOf(service) {
    const stream = service.toUpperCase();
    const own = await (
      await this.#openManager()
    ).consumers
      .list(stream)
      .next()
      .catch(() => []);
    const consumers = own
      .filter((consumer) => consumer.name.startsWith(`${service}--`))
      .map((consumer) => consumer.name);
    const streams = ['INFO', 'CREATE', 'UPDATE', 'PURGE', 'MSG.GET', 'MSG.DELETE', 'SNAPSHOT', 'DELETE'];
    return [
      ...(service === 'identity' ? DELETIONS : [`${service}.sample.created.v1`]),
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

  /**
   * @param {NatsConnection} connection
   * @param {string} name
   * @param {string} subject
   */
  async #trySubscribe(connection, name, subject) {
    const subscription = connection.subscribe(subject);
    const refusal = subscription.closed.then((error) => error ?? true);
    await connection.flush();
    // The server reports refusals before the flush; allowed subscriptions stay open.
    const isClosed = await Promise.race([refusal, connection.flush().then(() => null)]);
    this.#countAttempt(isClosed === null && !subscription.isClosed(), `${name} subscribes to ${subject}`);
    subscription.unsubscribe();
  }

  /**
   * Publishes with identity's own key, as an attacker would: about existing resources, with and without a directory version.
   * @param {TargetDataBefore} nest
   */
  async forgeEvents(nest) {
    const connection = await this.#connectAs(new URL(this.nats.urlOf('identity')));
    const ids = [nest.person.id, nest.project, nest.group];
    const forged = [];
    for (const [index, subject] of DELETIONS.entries()) {
      const pattern = await this.#lastEventOf(subject);
      const key = Object.keys(pattern.data)[0] ?? '';
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
    await this.#waitUntilHandled(forged);
    await this.#compareVisibleIds(nest);
  }

  /**
   * Waits until each effect of the events, in every service, has refused or processed them.
   * @param {{ id: string, subject: string }[]} forged
   */
  async #waitUntilHandled(forged) {
    const consumers = await (await this.#openManager()).consumers.list('IDENTITY').next();
    for (const [service, url] of Object.entries(this.client.estate.databases)) {
      const database = new pg.Client({ connectionString: url });
      await database.connect();
      for (const { id, subject } of forged) {
        const expected = consumers.filter(
          ({ name, config }) => name.startsWith(`${service}--`) && config.filter_subject === subject,
        ).length;
        await until(`${service} has handled ${subject}`, async () => {
          const { rows } = await database.query(
            `select effect, 'refused' as outcome from dead_letters where event_id = $1
             union select effect, 'done' from inbox where event_id = $1`,
            [id],
          );
          this.facts.refused += rows.length < expected ? 0 : rows.filter(({ outcome }) => outcome === 'refused').length;
          return rows.length >= expected;
        });
      }
      await database.end();
    }
  }

  /** @param {TargetDataBefore} nest */
  async #compareVisibleIds(nest) {
    /** @type {Record<string, unknown[]>} */
    const after = await this.#visibleIdsOf(nest);
    for (const [kind, ids] of Object.entries(nest.before)) {
      const lost = ids.filter((id) => !after[kind]?.includes(id));
      this.facts.lost += lost.length;
      if (lost.length > 0) this.#complain(`${lost.length} of ${ids.length} ${kind} are lost`);
    }
  }
}

/** @param {Promise<unknown>} answer */
function isPermissionViolation(answer) {
  return answer.then(
    () => false,
    (error) => /permissions violation/i.test(error.message),
  );
}

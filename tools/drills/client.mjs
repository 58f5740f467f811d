/**
 * HTTP client of the drills, and the users, projects and other resources that they need.
 *
 * @import { Estate } from '../processes/estate.mjs'
 * @typedef {{ id: number, username: string, email: string, token: string, group?: number }} Person
 * @typedef {{ status: number, headers: Headers, body: any }} Answer
 * @typedef {{ token?: string | undefined, json?: object | undefined, key?: string | undefined }} How
 */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { isAlive } from '../processes/process-records.mjs';

export class DrillClient {
  /**
   * @param {Estate} estate
   * @param {string} seed
   */
  constructor(estate, seed) {
    this.estate = estate;
    this.seed = seed;
  }

  /**
   * A process of the estate.
   * @param {string} name
   */
  process(name) {
    const found = this.estate.processes[name];
    if (!found) throw new Error(`there is no process ${name}`);
    return found;
  }

  /**
   * Resident memory of a process; 0 while it restarts. Units: MiB.
   * @param {string} name
   */
  residentMib(name) {
    try {
      const status = readFileSync(`/proc/${Number(this.process(name).pid)}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
    } catch {
      return 0;
    }
  }

  /** Ends PostgreSQL without a chance to write anything, and starts it on what is on disk. */
  async killPostgres() {
    const { postgres } = this.estate;
    if (!postgres) throw new Error('the estate has no PostgreSQL of its own');
    postgres.kill();
    await until('PostgreSQL has ended', () => !isAlive(postgres.record));
    await postgres.start();
  }

  /**
   * Returns rows from the database of a service, over a connection of its own.
   * @param {string} service
   * @param {string} text
   * @param {unknown[]} [values]
   * @returns {Promise<any[]>}
   */
  async query(service, text, values = []) {
    const database = new pg.Client({ connectionString: this.estate.databases[service] });
    await database.connect();
    try {
      return (await database.query(text, values)).rows;
    } finally {
      await database.end();
    }
  }

  /**
   * Sends a request; `key` is an idempotency key. Errors: a cut connection, or no answer within 15 s.
   * @param {string} method
   * @param {string} path
   * @param {How} [how]
   * @returns {Promise<Answer>}
   */
  async api(method, path, { token = this.estate.token, json, key } = {}) {
    const response = await fetch(`${this.estate.baseUrl}/api/v4${path}`, {
      method,
      headers: {
        'private-token': token,
        ...(json ? { 'content-type': 'application/json' } : {}),
        ...(key ? { 'idempotency-key': key } : {}),
      },
      ...(json ? { body: JSON.stringify(json) } : {}),
      signal: AbortSignal.timeout(15_000),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : null };
  }

  /**
   * Sends an idempotent write until its outcome is known. Returns the last answer. `doubts` is the number of earlier
   * answers that left the outcome open.
   * @param {string} method
   * @param {string} path
   * @param {How} how
   */
  async named(method, path, how) {
    for (let doubts = 0; ; doubts += 1) {
      const answer = await this.api(method, path, how).catch(() => null);
      if (answer && answer.status < 500 && answer.status !== 409) return { ...answer, doubts };
      if (doubts === 200) throw new Error(`${method} ${path}: ${answer?.status ?? 'cut'} for good`);
      await delay(50);
    }
  }

  /**
   * Creates a resource with retries, because a fault may already be active.
   * @param {string} path
   * @param {object} json
   */
  async made(path, json, token = this.estate.token) {
    for (let attempt = 1; ; attempt += 1) {
      const { status, body } = await this.api('POST', path, { json, token });
      if (status === 201) return body;
      if (status < 502 || attempt === 20) throw new Error(`POST ${path}: ${status} ${JSON.stringify(body)}`);
      await delay(500);
    }
  }

  /**
   * Sends a request and returns the body. Errors: any answer other than the expected one.
   * @param {number} expected
   * @param {string} method
   * @param {string} path
   * @param {How} [how]
   */
  async done(expected, method, path, how) {
    const { status, body } = await this.api(method, path, how);
    if (status !== expected) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /**
   * @param {string} name
   * @returns {Promise<Person>}
   */
  async person(name) {
    const username = `${name}-${this.seed}`;
    const email = `${username}@mail.example`;
    const user = await this.made('/users', { username, email, name, force_random_password: true });
    return { id: user.id, username, email, token: await this.tokenOf(user.id) };
  }

  /**
   * @param {number} userId
   * @returns {Promise<string>}
   */
  async tokenOf(userId) {
    const { token } = await this.made(`/users/${userId}/personal_access_tokens`, { name: 'drill', scopes: ['api'] });
    return token;
  }

  /**
   * @param {number} count
   * @param {string} name
   */
  people(count, name) {
    return Promise.all(Array.from({ length: count }, (_, index) => this.person(`${name}${index}`)));
  }

  /**
   * Creates a project in a new group, with an issue 1. Resolves to its id.
   * @param {string} name
   * @returns {Promise<number>}
   */
  async projectWithIssue(name, visibility = 'private') {
    const path = `${name}-${this.seed}`;
    const group = await this.made('/groups', { name: path, path, visibility: 'public' });
    const project = await this.made('/projects', { name: path, namespace_id: group.id, visibility });
    await this.made(`/projects/${project.id}/issues`, { title: name });
    return project.id;
  }

  /**
   * @param {number} project
   * @param {Pick<Person, 'id'>[]} people
   * @param {number} level
   */
  async join(project, people, level) {
    if (people.length === 0) return;
    const ids = people.map(({ id }) => id).join(',');
    await this.made(`/projects/${project}/members`, { user_id: ids, access_level: level });
  }
}

/**
 * Polls until the condition holds. Units: ms. Errors: the condition does not hold within the bound.
 * @param {string} condition
 * @param {() => unknown} holds
 */
export async function until(condition, holds, withinMs = 60_000) {
  for (const end = Date.now() + withinMs; Date.now() < end; await delay(50)) if (await holds()) return;
  throw new Error(`not within ${withinMs} ms: ${condition}`);
}

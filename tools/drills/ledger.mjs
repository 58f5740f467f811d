/**
 * Load generator and verifier of all drills: writes uniquely numbered notes that mention one user each, records which
 * ones were acknowledged, and afterwards compares notes, to-dos, activity events and mails with the record.
 * Source: reference reliability 11.
 *
 * @import { Answer, DrillClient, Person } from './client.mjs'
 * @typedef {{ number: number, marker: string, reader: Person, outcome: string, id?: number }} LedgerEntry
 * @typedef {{ acknowledged: number, unknown: number, refused: number, lost: number, missing: number, duplicate: number,
 *   examples: string[] }} Verdict
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { MailFiles } from './mail-files.mjs';

const WRITERS = 4;
const READERS = 4;
const PROJECTS = 2;

export class NoteLedger {
  /** By marker. @type {Map<string, LedgerEntry>} */
  #entries = new Map();
  #next = 0;
  #stopping = false;
  /** @type {Promise<void>[]} */
  #running = [];
  /** @type {Person[]} */
  writers = [];
  /** @type {Person[]} */
  readers = [];
  /** @type {number[]} */
  projects = [];
  /** @type {((answer: Answer, entry: LedgerEntry) => void) | undefined} */
  onAnswer;

  /**
   * `mails` is whether e-mails are verified; they are delayed where users have a sending limit.
   * @param {DrillClient} client
   * @param {{ writers?: number, mails?: boolean }} [options]
   */
  constructor(client, { writers = WRITERS, mails = true } = {}) {
    this.client = client;
    this.count = writers;
    this.checksMails = mails;
    this.seed = client.seed;
    this.mails = new MailFiles(client.estate.mailDir);
  }

  /** Creates users, and projects with one issue each. */
  async prepare() {
    const { client, seed } = this;
    this.writers = await client.people(this.count, 'writer');
    this.readers = await client.people(READERS, 'reader');
    const group = await client.made('/groups', { name: `drill-${seed}`, path: `drill-${seed}` });
    this.projects = await Promise.all(
      Array.from({ length: PROJECTS }, async (_, index) => {
        const project = await client.made('/projects', { name: `p${index}`, namespace_id: group.id });
        await client.join(project.id, [...this.writers, ...this.readers], 30);
        await client.made(`/projects/${project.id}/issues`, { title: 'drill' });
        return project.id;
      }),
    );
  }

  /**
   * Uses the users and projects of another ledger.
   * @param {NoteLedger} other
   */
  adopt({ writers, readers, projects }) {
    this.writers = writers;
    this.readers = readers;
    this.projects = projects;
  }

  /**
   * Writes until `stop`. Units: notes per second, of all writers together.
   * @param {number} rate
   */
  write(rate) {
    this.#running = this.writers.map(async (writer) => {
      while (!this.#stopping) {
        await this.writeOne(writer).catch(() => undefined);
        await delay((1000 / rate) * this.writers.length * (0.5 + Math.random()));
      }
    });
  }

  /**
   * Writes one note. Resolves to the status. Errors: a cut connection, after which the outcome of the write is unknown.
   * @param {Person} writer
   */
  async writeOne(writer) {
    const { entry, path, how } = this.#addEntry(writer);
    return this.#recordOutcome(entry, await this.client.api('POST', path, how));
  }

  /**
   * Writes one note with an idempotency key until it is answered. Resolves to the number of earlier answers that left the
   * outcome open.
   * @param {Person} writer
   */
  async writeNamed(writer) {
    const { entry, path, how } = this.#addEntry(writer);
    const answer = await this.client.named('POST', path, { ...how, key: randomUUID() });
    entry.id = answer.body?.id;
    this.#recordOutcome(entry, answer);
    return answer.doubts;
  }

  /** @param {Person} writer */
  #addEntry(writer) {
    const number = (this.#next += 1);
    const marker = `drill ${this.seed}-${number} of`;
    const reader = /** @type {Person} */ (this.readers[number % this.readers.length]);
    const project = this.projects[number % this.projects.length];
    /** @type {LedgerEntry} */
    const entry = { number, marker, reader, outcome: 'unknown' };
    this.#entries.set(marker, entry);
    const json = { body: `@${reader.username} ${marker} ${writer.username}` };
    return { entry, path: `/projects/${project}/issues/1/notes`, how: { token: writer.token, json } };
  }

  /**
   * @param {LedgerEntry} entry
   * @param {Answer} answer
   */
  #recordOutcome(entry, answer) {
    const { status } = answer;
    this.onAnswer?.(answer, entry);
    if (status === 201) entry.outcome = 'acknowledged';
    else if (status < 500) entry.outcome = `refused with ${status}`;
    return status;
  }

  /** Idempotent notes whose last answer does not describe the only stored note. */
  async misnamed() {
    const ids = new Map();
    for (const { id, body } of await this.#fetchAllNotes()) {
      const marker = /drill \S+ of/.exec(body)?.[0];
      ids.set(marker, [...(ids.get(marker) ?? []), id]);
    }
    const named = [...this.#entries.values()].filter(({ id }) => id !== undefined);
    return named.filter(({ marker, id }) => ids.get(marker)?.join() !== String(id)).map(({ marker }) => marker);
  }

  async stop() {
    this.#stopping = true;
    await Promise.all(this.#running);
  }

  /**
   * @param {string} path
   * @param {string} token
   * @returns {Promise<any[]>}
   */
  async #fetchAllPages(path, token) {
    const rows = [];
    for (let page = 1; ; page += 1) {
      const answer = await this.client.api('GET', `${path}${path.includes('?') ? '&' : '?'}per_page=100&page=${page}`, {
        token,
      });
      if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status}`);
      rows.push(...answer.body);
      if (answer.body.length < 100) return rows;
    }
  }

  async #fetchAllNotes() {
    const { token } = this.#firstWriter;
    return (
      await Promise.all(this.projects.map((id) => this.#fetchAllPages(`/projects/${id}/issues/1/notes`, token)))
    ).flat();
  }

  get #firstWriter() {
    return /** @type {Person} */ (this.writers[0]);
  }

  /** Markers of all stored notes. */
  async markers() {
    return new Set((await this.#fetchAllNotes()).map(({ body }) => /drill \S+ of/.exec(body)?.[0]));
  }

  /** Compares everything once. Returns counts, and up to five examples of violations. */
  async #compareAll() {
    /** @param {string[]} texts */
    const countBy = (texts) => {
      /** @type {Map<string, number>} */
      const counts = new Map();
      for (const text of texts) {
        const marker = /drill \S+ of/.exec(text)?.[0] ?? '';
        if (marker) counts.set(marker, (counts.get(marker) ?? 0) + 1);
      }
      return counts;
    };
    const writer = this.#firstWriter;
    const notes = countBy((await this.#fetchAllNotes()).map(({ body }) => body));
    const todos = countBy(
      (
        await Promise.all(
          this.readers.map(({ token }) => this.#fetchAllPages('/todos?action=directly_addressed', token)),
        )
      )
        .flat()
        .map(({ body }) => body),
    );
    const events = countBy(
      (
        await Promise.all(
          this.projects.map((id) => this.#fetchAllPages(`/projects/${id}/events?action=commented`, writer.token)),
        )
      )
        .flat()
        .map(({ note }) => note.body),
    );
    /** @type {Map<string, Set<string | undefined>>} */
    const mails = new Map();
    for (const { id, to, text } of await this.mails.all()) {
      const marker = /drill \S+ of/.exec(text)?.[0] ?? '';
      const entry = this.#entries.get(marker);
      if (entry && to === entry.reader.email) mails.set(marker, (mails.get(marker) ?? new Set()).add(id));
    }
    return this.#createVerdict({ notes, todos, events, mails });
  }

  /**
   * @param {{ notes: Map<string, number>, todos: Map<string, number>, events: Map<string, number>,
   *   mails: Map<string, Set<string | undefined>> }} found
   */
  #createVerdict({ notes, todos, events, mails }) {
    /** @type {Verdict} */
    const verdict = { acknowledged: 0, unknown: 0, refused: 0, lost: 0, missing: 0, duplicate: 0, examples: [] };
    /** @type {(kind: 'lost' | 'missing' | 'duplicate', entry: LedgerEntry, resource: string) => void} */
    const wrong = (kind, entry, resource) => {
      verdict[kind] += 1;
      if (verdict.examples.length < 5)
        verdict.examples.push(`${kind}: ${resource} of note ${entry.number} (${entry.outcome})`);
    };
    for (const entry of this.#entries.values()) {
      const isStored = notes.has(entry.marker);
      if (entry.outcome === 'acknowledged') verdict.acknowledged += 1;
      else if (entry.outcome === 'unknown') verdict.unknown += 1;
      else verdict.refused += 1;
      if (entry.outcome === 'acknowledged' && !isStored) wrong('lost', entry, 'note');
      const found = {
        'to-do': todos.get(entry.marker) ?? 0,
        event: events.get(entry.marker) ?? 0,
        ...(this.checksMails ? { mail: mails.get(entry.marker)?.size ?? 0 } : {}),
      };
      if ((notes.get(entry.marker) ?? 0) > 1) wrong('duplicate', entry, 'note');
      for (const [resource, count] of Object.entries(found)) {
        if (isStored && count === 0) wrong('missing', entry, resource);
        if (count > 1 || (!isStored && count > 0)) wrong('duplicate', entry, resource);
      }
    }
    return verdict;
  }

  /** Compares until nothing is missing, at most for 45 s. */
  check() {
    return settledVerdict(() => this.#compareAll());
  }
}

/**
 * Compares until nothing is missing, at most for the bound: messages delivered to a killed process are delivered again
 * after the acknowledgement wait of 30 s. Units: milliseconds.
 * @param {() => Promise<Verdict>} compare
 */
export async function settledVerdict(compare, withinMs = 45_000) {
  const from = Date.now();
  for (;;) {
    const verdict = await compare();
    const settled = verdict.lost + verdict.missing === 0;
    if (settled || Date.now() - from > withinMs) return { ...verdict, recoveredInMs: Date.now() - from };
    await delay(500);
  }
}

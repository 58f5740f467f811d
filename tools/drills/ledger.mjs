/**
 * Load generator and verifier of all drills: writes uniquely numbered notes that mention one user each, records which
 * ones were acknowledged, and afterwards compares notes, to-dos, activity events and mails with the record.
 * Source: reference reliability 11.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { MailFiles } from './mail-files.mjs';

const WRITERS = 4;
const READERS = 4;
const PROJECTS = 2;

export class Ledger {
  #entries = new Map();
  #next = 0;
  #stopping = false;
  #running = [];

  /** Shape: `mails` whether e-mails are verified; they wait where users have a sending limit. */
  constructor(client, { writers = WRITERS, mails = true } = {}) {
    this.client = client;
    this.count = writers;
    this.looksAtMails = mails;
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

  /** Takes over the users and projects of another ledger. */
  adopt({ writers, readers, projects }) {
    Object.assign(this, { writers, readers, projects });
  }

  /** Writes until `stop`. Units: notes a second, of all writers together. */
  write(rate) {
    this.#running = this.writers.map(async (writer) => {
      while (!this.#stopping) {
        await this.writeOne(writer).catch(() => undefined);
        await delay((1000 / rate) * this.writers.length * (0.5 + Math.random()));
      }
    });
  }

  /** Writes one note. Shape: the status. Errors: a cut connection, after which the outcome of the write is unknown. */
  async writeOne(writer) {
    const { entry, path, how } = this.#begin(writer);
    return this.#settle(entry, await this.client.api('POST', path, how));
  }

  /** Writes one note with an idempotency key, until it is answered. Shape: the number of earlier answers that left the outcome open. */
  async writeNamed(writer) {
    const { entry, path, how } = this.#begin(writer);
    const answer = await this.client.named('POST', path, { ...how, key: randomUUID() });
    entry.id = answer.body?.id;
    this.#settle(entry, answer);
    return answer.doubts;
  }

  #begin(writer) {
    const number = (this.#next += 1);
    const marker = `drill ${this.seed}-${number} of`;
    const reader = this.readers[number % this.readers.length];
    const project = this.projects[number % this.projects.length];
    const entry = { number, marker, reader, outcome: 'unknown' };
    this.#entries.set(marker, entry);
    const json = { body: `@${reader.username} ${marker} ${writer.username}` };
    return { entry, path: `/projects/${project}/issues/1/notes`, how: { token: writer.token, json } };
  }

  #settle(entry, answer) {
    const { status } = answer;
    this.onAnswer?.(answer, entry);
    if (status === 201) entry.outcome = 'acknowledged';
    else if (status < 500) entry.outcome = `refused with ${status}`;
    return status;
  }

  /** Idempotent notes whose last answer does not describe the only stored note. */
  async misnamed() {
    const ids = new Map();
    for (const { id, body } of await this.#notes()) {
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

  async #all(path, token) {
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

  async #notes() {
    const [{ token }] = this.writers;
    return (await Promise.all(this.projects.map((id) => this.#all(`/projects/${id}/issues/1/notes`, token)))).flat();
  }

  /** Of all stored notes. */
  async markers() {
    return new Set((await this.#notes()).map(({ body }) => /drill \S+ of/.exec(body)?.[0]));
  }

  /** Compares everything once. Shape: counts, and up to five examples of violations. */
  async #look() {
    const countBy = (texts) => {
      const counts = new Map();
      for (const text of texts) {
        const marker = /drill \S+ of/.exec(text)?.[0];
        if (marker) counts.set(marker, (counts.get(marker) ?? 0) + 1);
      }
      return counts;
    };
    const [writer] = this.writers;
    const notes = countBy((await this.#notes()).map(({ body }) => body));
    const todos = countBy(
      (await Promise.all(this.readers.map(({ token }) => this.#all('/todos?action=directly_addressed', token))))
        .flat()
        .map(({ body }) => body),
    );
    const events = countBy(
      (await Promise.all(this.projects.map((id) => this.#all(`/projects/${id}/events?action=commented`, writer.token))))
        .flat()
        .map(({ note }) => note.body),
    );
    const mails = new Map();
    for (const { id, to, text } of await this.mails.all()) {
      const marker = /drill \S+ of/.exec(text)?.[0];
      const entry = this.#entries.get(marker);
      if (entry && to === entry.reader.email) mails.set(marker, (mails.get(marker) ?? new Set()).add(id));
    }
    return this.#judge({ notes, todos, events, mails });
  }

  #judge({ notes, todos, events, mails }) {
    const verdict = { acknowledged: 0, unknown: 0, refused: 0, lost: 0, missing: 0, duplicate: 0, examples: [] };
    const wrong = (kind, entry, what) => {
      verdict[kind] += 1;
      if (verdict.examples.length < 5)
        verdict.examples.push(`${kind}: ${what} of note ${entry.number} (${entry.outcome})`);
    };
    for (const entry of this.#entries.values()) {
      const isThere = notes.has(entry.marker);
      if (entry.outcome === 'acknowledged') verdict.acknowledged += 1;
      else if (entry.outcome === 'unknown') verdict.unknown += 1;
      else verdict.refused += 1;
      if (entry.outcome === 'acknowledged' && !isThere) wrong('lost', entry, 'note');
      const found = {
        'to-do': todos.get(entry.marker) ?? 0,
        event: events.get(entry.marker) ?? 0,
        ...(this.looksAtMails ? { mail: mails.get(entry.marker)?.size ?? 0 } : {}),
      };
      if ((notes.get(entry.marker) ?? 0) > 1) wrong('duplicate', entry, 'note');
      for (const [what, count] of Object.entries(found)) {
        if (isThere && count === 0) wrong('missing', entry, what);
        if (count > 1 || (!isThere && count > 0)) wrong('duplicate', entry, what);
      }
    }
    return verdict;
  }

  /**
   * Compares until nothing is missing, at most for the bound: messages delivered to a killed process are delivered again
   * after the acknowledgement wait of 30 s. Units: milliseconds.
   */
  async check(withinMs = 45_000) {
    const from = Date.now();
    for (;;) {
      const verdict = await this.#look();
      const settled = verdict.lost + verdict.missing === 0;
      if (settled || Date.now() - from > withinMs) return { ...verdict, recoveredInMs: Date.now() - from };
      await delay(500);
    }
  }
}

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { simpleParser } from 'mailparser';
import { Client } from 'pg';

/**
 * A to-do or e-mail that a user received. `at` is the time when it was found, or sent, by the clock of the run. Units:
 * ms.
 */
export interface Effect {
  readonly kind: 'to-do' | 'e-mail';
  /** The unique word in the note. */
  readonly word: string;
  /** User id for to-dos, address for e-mails. */
  readonly to: number | string;
  readonly at: number;
}

/** Interval between queries for to-dos. Units: ms. */
const POLL_MS = 100;
/** Ids that are read again, because rows may become visible in another order than that of their ids. */
const LATE_ROWS = 2000;

/**
 * Collects the effects of notes: to-dos from the table, because lists check permissions again, and e-mails as the mail
 * server received them.
 */
export class EffectsWatch {
  private readonly todos = new Map<number, Effect>();
  private readonly mails = new Map<string, readonly Effect[]>();
  private readonly stopping = new AbortController();
  private readonly client: Client;
  private running: Promise<void> = Promise.resolve();

  constructor(
    databaseUrl: string,
    private readonly mailDir: string,
    private readonly word: RegExp,
    private readonly now: () => number,
  ) {
    this.client = new Client({ connectionString: databaseUrl });
  }

  start(): void {
    this.running = this.follow();
  }

  /** Waits until a to-do and an e-mail for a word were found. Units: ms. Errors: not found within the bound. */
  async until(word: string, address: string, withinMs = 120_000): Promise<void> {
    for (const until = this.now() + withinMs; this.now() < until; await pause(POLL_MS)) {
      await this.readMails();
      const effects = this.found.filter((effect) => effect.word === word);
      if (effects.some(({ kind }) => kind === 'to-do') && effects.some(({ to }) => to === address)) return;
    }
    throw new Error(`no to-do and e-mail for ${word} within ${withinMs} ms`);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
    await this.readMails();
  }

  get found(): readonly Effect[] {
    return [...this.todos.values(), ...[...this.mails.values()].flat()];
  }

  private async follow(): Promise<void> {
    await this.client.connect();
    try {
      while (!this.stopping.signal.aborted) {
        await this.readTodos();
        await pause(POLL_MS, undefined, { signal: this.stopping.signal }).catch(() => undefined);
      }
    } finally {
      await this.client.end();
    }
  }

  private async readTodos(): Promise<void> {
    const after = Math.max(0, ...[...this.todos.keys()].slice(-1)) - LATE_ROWS;
    const { rows } = await this.client.query<{ id: string; user_id: string; body: string }>(
      `select t.id, t.user_id, n.body from todos t join notes n on n.id = t.note_id where t.id > $1 order by t.id`,
      [after],
    );
    for (const { id, user_id, body } of rows) {
      const word = this.word.exec(body)?.[0];
      if (!word || this.todos.has(Number(id))) continue;
      this.todos.set(Number(id), { kind: 'to-do', word, to: Number(user_id), at: this.now() });
    }
  }

  /** Reads new e-mails; the time of an e-mail is the modification time of its file. */
  private async readMails(): Promise<void> {
    const clockAtStart = Date.now() - this.now();
    const names = readdirSync(this.mailDir).filter((name) => name.endsWith('.eml') && !this.mails.has(name));
    for (const name of names) {
      const file = join(this.mailDir, name);
      const mail = await simpleParser(readFileSync(file));
      const word = this.word.exec(mail.text ?? '')?.[0];
      const to = [mail.to ?? []].flat().flatMap((list) => list.value.map((one) => one.address ?? ''));
      const at = statSync(file).mtimeMs - clockAtStart;
      this.mails.set(name, word ? to.map((address) => ({ kind: 'e-mail', word, to: address, at })) : []);
    }
  }
}

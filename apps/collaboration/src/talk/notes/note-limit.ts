import { Inject, Injectable } from '@nestjs/common';
import { Instance } from '@rookery/instance';
import type { SignedInViewer } from '@rookery/kernel';
import { TooManyRequests } from '@rookery/kernel';
import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { currentWaiter } from '@rookery/platform';
import { notesSettings } from './notes.config';
import type { NotesSettings } from './notes.config';

/**
 * Counts one more, or so many, in the window of a minute that began with the first note. No row comes back where they no
 * more find room. Shape: all are SQL; with `from` only where that has a row.
 */
export const countedSql = (user: string, most: string, { more = '1', from = '' } = {}): string =>
  `insert into note_creations as c (user_id, window_started_at, notes_count) select ${user}::bigint, now(), ${more} ${from}
      on conflict (user_id) do update set
        notes_count = case when c.window_started_at > now() - interval '1 minute' then c.notes_count + ${more} else ${more} end,
        window_started_at =
          case when c.window_started_at > now() - interval '1 minute' then c.window_started_at else now() end
      where c.window_started_at <= now() - interval '1 minute' or c.notes_count + ${more} <= ${most}::integer
      returning c.notes_count as written,
        ceil(extract(epoch from c.window_started_at + interval '1 minute' - now()))::integer as seconds`;

/** Boolean SQL: has the minute no room for one more, or so many? It counts nothing. */
export const fullSql = (user: string, most: string, more = '1'): string =>
  `exists (select 1 from note_creations c where c.user_id = ${user}
      and c.window_started_at > now() - interval '1 minute' and c.notes_count + ${more} > ${most}::integer)`;

/** How many notes the minute has now. Units: seconds until it ends. */
export interface CountedRow {
  readonly written: number;
  readonly seconds: number;
}

interface LimitParams {
  readonly spender: number;
  readonly most: number;
  readonly more: number;
}

const count = statement<LimitParams, CountedRow>(
  'note_limit_count',
  countedSql(':spender', ':most', { more: ':more::integer' }),
);
const wait = statement<{ spender: number }, { seconds: number }>(
  'note_limit_wait',
  `select ceil(extract(epoch from window_started_at + interval '1 minute' - now()))::integer as seconds
   from note_creations where user_id = :spender::bigint`,
);

/** Whose minute it is: bots write in that of whoever made them, for they are made without a limit. */
export function spenderOf(viewer: SignedInViewer): number {
  return viewer.makerId ?? viewer.userId;
}

const full = statement<LimitParams, never>(
  'note_limit_full',
  `select 1 where ${fullSql(':spender::bigint', ':most', ':more::integer')}`,
);

/** So many labels that one request gives or takes are as a note; fewer are none. */
const LABELS_AS_NOTE = 20;

/** What callers know the limit by. */
const NAME = 'notes_create_limit';

/**
 * How often in a minute somebody may write what reaches others: notes, whatever they are written by, and texts that name
 * people, each of which may raise hundreds of to-dos and e-mails. The row that counts is locked as the last one of a
 * transaction, when all that it writes is held: whoever holds it waits for nobody. Source: reference work-tracking 2.5, 2.7.
 */
@Injectable()
export class NoteLimit {
  /** What a transaction was counted as. */
  private readonly counted = new WeakMap<Tx, number>();
  /** Transactions that are to be counted before they are committed. */
  private readonly counting = new WeakSet<Tx>();

  constructor(
    @Inject(notesSettings.token) private readonly settings: NotesSettings,
    private readonly instance: Instance,
  ) {}

  /** Notes a minute; 0 is no limit. */
  get perMinute(): number {
    return this.instance.setting('notes_create_limit');
  }

  /** What whoever has written as many is told. Units: seconds until they may write again. */
  used(seconds: number | null | undefined): TooManyRequests {
    const setting = 'NOTES_CREATES_PER_MINUTE_COUNT';
    const limit = { name: NAME, most: this.perMinute, each: 'minute', setting } as const;
    return new TooManyRequests(Math.max(1, seconds ?? 1), limit);
  }

  /** As above, with the time that is left. */
  async usedBy(tx: Tx, viewer: SignedInViewer): Promise<TooManyRequests> {
    const [left] = await tx.run(wait, { spender: spenderOf(viewer) });
    return this.used(left?.seconds);
  }

  /** Says in the answer how many notes are left. */
  tell({ written, seconds }: CountedRow): void {
    const limit = { name: NAME, most: this.perMinute, used: written, seconds: Math.max(1, seconds) };
    currentWaiter()?.limited?.(limit);
  }

  /** Is a note that this transaction writes to be counted by itself? */
  holdsIn(tx: Tx, viewer: SignedInViewer): boolean {
    return !this.counting.has(tx) && this.holdsFor(viewer);
  }

  private holdsFor(viewer: SignedInViewer): boolean {
    const isUnlimited = this.instance.setting('notes_create_limit_allowlist').includes(viewer.userId);
    return this.settings.rateLimits && this.perMinute > 0 && !isUnlimited;
  }

  /**
   * For what is no note of its own: the system notes of one change, a text that names people, or commands. Once a
   * transaction, before it is committed; what a step of it counts goes with the step when that is taken back. One that
   * copies texts is as many `notes` as they weigh, at most a whole minute's.
   * Errors: TooManyRequests, before the commit.
   */
  count(tx: Tx, viewer: SignedInViewer, notes = 1): void {
    if (!this.holdsFor(viewer)) return;
    this.counting.add(tx);
    tx.beforeCommit(() => this.take(tx, viewer, notes));
  }

  /** As `count`, and before anything that is worth sparing. Errors: TooManyRequests at once, where it is sure already. */
  async begin(tx: Tx, viewer: SignedInViewer, notes = 1): Promise<void> {
    this.count(tx, viewer, notes);
    if (!this.holdsFor(viewer)) return;
    const values = { spender: spenderOf(viewer), most: this.perMinute, more: Math.min(notes, this.perMinute) };
    if ((await tx.run(full, values)).length > 0) throw await this.usedBy(tx, viewer);
  }

  /** As `count`, for a change of many labels at once. Shape: answers the change. */
  countLabels<C extends { readonly added: readonly number[]; readonly removed: readonly number[] }>(
    tx: Tx,
    viewer: SignedInViewer,
    change: C,
  ): C {
    const notes = Math.floor((change.added.length + change.removed.length) / LABELS_AS_NOTE);
    if (notes > 0) this.count(tx, viewer, notes);
    return change;
  }

  private async take(tx: Tx, viewer: SignedInViewer, notes: number): Promise<void> {
    const before = this.counted.get(tx) ?? 0;
    const more = Math.min(notes, this.perMinute) - before;
    if (more <= 0) return;
    this.counted.set(tx, before + more);
    const [counted] = await tx.run(count, { spender: spenderOf(viewer), most: this.perMinute, more });
    if (!counted) throw await this.usedBy(tx, viewer);
    this.tell(counted);
  }
}

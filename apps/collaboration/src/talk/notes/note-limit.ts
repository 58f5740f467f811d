import { Inject, Injectable } from '@nestjs/common';
import { InstanceSettings } from '@rookery/instance';
import type { SignedInViewer } from '@rookery/kernel';
import { TooManyRequests } from '@rookery/kernel';
import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { currentWaiter } from '@rookery/platform';
import { notesSettings } from './notes.config';
import type { NotesSettings } from './notes.config';

/**
 * Statement that adds `more` notes to the user's window of one minute, which begins with its first note. Returns no row
 * if they exceed the limit `most`. All arguments are SQL; with `from`, it counts only if that has a row.
 */
export const addToNoteLimitSql = (user: string, most: string, { more = '1', from = '' } = {}): string =>
  `insert into note_creations as c (user_id, window_started_at, notes_count) select ${user}::bigint, now(), ${more} ${from}
      on conflict (user_id) do update set
        notes_count = case when c.window_started_at > now() - interval '1 minute' then c.notes_count + ${more} else ${more} end,
        window_started_at =
          case when c.window_started_at > now() - interval '1 minute' then c.window_started_at else now() end
      where c.window_started_at <= now() - interval '1 minute' or c.notes_count + ${more} <= ${most}::integer
      returning c.notes_count as written,
        ceil(extract(epoch from c.window_started_at + interval '1 minute' - now()))::integer as seconds`;

/** Boolean SQL: would `more` notes exceed the limit? It counts nothing. */
export const wouldExceedNoteLimitSql = (user: string, most: string, more = '1'): string =>
  `exists (select 1 from note_creations c where c.user_id = ${user}
      and c.window_started_at > now() - interval '1 minute' and c.notes_count + ${more} > ${most}::integer)`;

/** Number of notes in the user's current window of one minute, which starts with its first note. Units: seconds until it ends. */
export interface CountedRow {
  readonly written: number;
  readonly seconds: number;
}

interface NoteLimitParams {
  readonly spender: number;
  readonly most: number;
  readonly more: number;
}

const incrementNoteCount = statement<NoteLimitParams, CountedRow>(
  'note_limit_count',
  addToNoteLimitSql(':spender', ':most', { more: ':more::integer' }),
);
const selectWaitSeconds = statement<{ spender: number }, { seconds: number }>(
  'note_limit_wait',
  `select ceil(extract(epoch from window_started_at + interval '1 minute' - now()))::integer as seconds
   from note_creations where user_id = :spender::bigint`,
);

/** Returns the user whose limit a note counts in: a bot's creator, because the number of bots is unlimited. */
export function noteLimitUserId(viewer: SignedInViewer): number {
  return viewer.creatorId ?? viewer.userId;
}

const selectIfFull = statement<NoteLimitParams, never>(
  'note_limit_full',
  `select 1 where ${wouldExceedNoteLimitSql(':spender::bigint', ':most', ':more::integer')}`,
);

/** Number of added or removed labels in one request that counts as one note; fewer count as none. */
const LABELS_AS_NOTE = 20;

/** Name of the limit in responses. */
const NAME = 'notes_create_limit';

/**
 * Limit per user and minute of writes that reach other users: notes of every origin, and texts that mention users, each of
 * which may cause hundreds of to-dos and e-mails. The counter row is the last row that a transaction locks, so a transaction
 * that holds it waits for no other. Source: reference work-tracking 2.5, 2.7.
 */
@Injectable()
export class NoteLimit {
  /** Number of notes that a transaction has been counted as. */
  private readonly counted = new WeakMap<Tx, number>();
  /** Transactions that will be counted before they commit. */
  private readonly counting = new WeakSet<Tx>();

  constructor(
    @Inject(notesSettings.token) readonly settings: NotesSettings,
    private readonly instance: InstanceSettings,
  ) {}

  /** Maximum notes per minute; 0 means no limit. */
  get perMinute(): number {
    return this.instance.setting('notes_create_limit');
  }

  /** Error for a user who reached the limit. Units: seconds until the user may write again. */
  private createLimitError(seconds: number | null | undefined): TooManyRequests {
    const setting = 'NOTES_CREATES_PER_MINUTE_COUNT';
    const limit = { name: NAME, most: this.perMinute, each: 'minute', setting } as const;
    return new TooManyRequests(Math.max(1, seconds ?? 1), limit);
  }

  /** Error for a user who reached the limit, with the remaining time. */
  async findExceeded(tx: Tx, viewer: SignedInViewer): Promise<TooManyRequests> {
    const [left] = await tx.run(selectWaitSeconds, { spender: noteLimitUserId(viewer) });
    return this.createLimitError(left?.seconds);
  }

  /** Adds the remaining number of notes to the response headers. */
  reportExceeded({ written, seconds }: CountedRow): void {
    const limit = { name: NAME, most: this.perMinute, used: written, seconds: Math.max(1, seconds) };
    currentWaiter()?.limited?.(limit);
  }

  /** Whether a note of this transaction is counted individually: not if the whole transaction is counted at commit. */
  countsEachNote(tx: Tx, viewer: SignedInViewer): boolean {
    return !this.counting.has(tx) && this.isLimited(viewer);
  }

  private isLimited(viewer: Pick<SignedInViewer, 'userId'>): boolean {
    const isUnlimited = this.instance.setting('notes_create_limit_allowlist').includes(viewer.userId);
    return this.settings.rateLimits && this.perMinute > 0 && !isUnlimited;
  }

  /**
   * Counts a change that is not a single note: the system notes of one change, a text that mentions users, or quick actions.
   * Counts once per transaction, just before the commit; a count is dropped if its savepoint is rolled back. A copy of texts
   * counts as `notes` by their size, at most the limit of a whole minute.
   * Errors: TooManyRequests, before the commit.
   */
  countNotes(tx: Tx, viewer: SignedInViewer, notes = 1): void {
    if (!this.isLimited(viewer)) return;
    this.counting.add(tx);
    tx.beforeCommit(() => this.chargeNotes(tx, viewer, notes));
  }

  /**
   * Like `countNotes`, and checks the limit at once, before costly work. Errors: TooManyRequests if the limit is already
   * reached.
   */
  async begin(tx: Tx, viewer: SignedInViewer, notes = 1): Promise<void> {
    this.countNotes(tx, viewer, notes);
    if (!this.isLimited(viewer)) return;
    const values = { spender: noteLimitUserId(viewer), most: this.perMinute, more: Math.min(notes, this.perMinute) };
    if ((await tx.run(selectIfFull, values)).length > 0) throw await this.findExceeded(tx, viewer);
  }

  /**
   * Counts an act that cannot be refused, such as a push, as one note. Returns false, and counts nothing, if the limit is
   * reached: then the act notifies no users. It locks the counter row, so it runs before the commit.
   */
  async tryCount(tx: Tx, userId: number): Promise<boolean> {
    if (!this.isLimited({ userId })) return true;
    return (await tx.run(incrementNoteCount, { spender: userId, most: this.perMinute, more: 1 })).length > 0;
  }

  /** Like `countNotes`, for a change of many labels at once. Returns the change. */
  countLabels<C extends { readonly added: readonly number[]; readonly removed: readonly number[] }>(
    tx: Tx,
    viewer: SignedInViewer,
    change: C,
  ): C {
    const notes = Math.floor((change.added.length + change.removed.length) / LABELS_AS_NOTE);
    if (notes > 0) this.countNotes(tx, viewer, notes);
    return change;
  }

  private async chargeNotes(tx: Tx, viewer: SignedInViewer, noteCount: number): Promise<void> {
    const before = this.counted.get(tx) ?? 0;
    const more = Math.min(noteCount, this.perMinute) - before;
    if (more <= 0) return;
    this.counted.set(tx, before + more);
    const [counted] = await tx.run(incrementNoteCount, {
      spender: noteLimitUserId(viewer),
      most: this.perMinute,
      more,
    });
    if (!counted) throw await this.findExceeded(tx, viewer);
    this.reportExceeded(counted);
  }
}

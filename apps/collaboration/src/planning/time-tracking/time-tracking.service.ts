import { Injectable } from '@nestjs/common';
import { NotFound } from '@rookery/kernel';
import type { SignedInViewer, Viewer } from '@rookery/kernel';
import { Database, statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { cachePerNoteableKindAndColumn } from '../../base/noteables/reader';
import type { NoteableReference } from '../../base/noteables/reader';
import { NoteLimit } from '../../talk/notes/note-limit';
import { toNoteReaderParams } from '../../talk/notes/notes.queries';
import type { ReaderParams } from '../../talk/notes/note-statement';
import { isNamedNoteableVisibleSql, noteableStatementName } from '../../talk/notes/notes.statements';
import { writeSystemNotes } from '../../talk/notes/system-notes';
import { timeChanges } from './time-changes';
import type { TimeChange, TrackedTimes } from './time-changes';
import { timeStatsShape } from './time-stats.shape';

/**
 * Shows and changes estimates and spent times of noteables. Returns the stats as JSON text. Source: reference
 * work-tracking 9.1.
 */
@Injectable()
export class TimeTrackingService {
  private readonly statementsOf = cachePerNoteableKindAndColumn(createTimeTrackingStatements);

  constructor(
    private readonly database: Database,
    private readonly work: Work,
    private readonly noteLimit: NoteLimit,
  ) {}

  /** Errors: NotFound for the noteable. */
  async show(viewer: Viewer, on: NoteableReference): Promise<string> {
    const { show } = this.statementsOf(on);
    const [row] = await this.database.run(show, toNoteReaderParams(viewer, on));
    if (!row) throw new NotFound(on.kind.resource);
    return row.json;
  }

  /** Sets the estimate. `duration` is a text like `1h 30m`. Errors: Refused for an invalid duration. */
  estimate(viewer: SignedInViewer, on: NoteableReference, duration: string): Promise<string> {
    return this.changeTimes(viewer, on, (now) => timeChanges.estimate(duration, now));
  }

  resetEstimate(viewer: SignedInViewer, on: NoteableReference): Promise<string> {
    return this.estimate(viewer, on, '0');
  }

  /**
   * Adds or subtracts spent time. `duration` is a text like `1h 30m`. Errors: Invalid for an invalid duration, and for
   * a total out of bounds.
   */
  spend(viewer: SignedInViewer, on: NoteableReference, duration: string): Promise<string> {
    return this.changeTimes(viewer, on, (now) => timeChanges.spend(duration, now));
  }

  resetSpent(viewer: SignedInViewer, on: NoteableReference): Promise<string> {
    return this.changeTimes(viewer, on, (now) => timeChanges.resetSpent(now));
  }

  private async changeTimes(
    viewer: SignedInViewer,
    on: NoteableReference,
    compute: (now: TrackedTimes) => TimeChange,
  ): Promise<string> {
    return (await this.work.run((tx) => this.changeInTransaction(tx, viewer, on, compute))).json;
  }

  /**
   * Changes times inside an existing transaction. `json` is the stats as JSON text. Errors: NotFound for the noteable.
   */
  async changeInTransaction(
    tx: Tx,
    viewer: SignedInViewer,
    on: NoteableReference,
    compute: (now: TrackedTimes) => TimeChange,
  ): Promise<{ readonly isChanged: boolean; readonly json: string }> {
    const { lock, write } = this.statementsOf(on);
    const [now] = await tx.run(lock, toNoteReaderParams(viewer, on));
    if (!now) throw new NotFound(on.kind.resource);
    const change = compute({ estimate: now.estimate, spent: now.spent });
    if (change === null) return { isChanged: false, json: now.json };
    this.noteLimit.countNotes(tx, viewer);
    const [after] = await tx.run(write, { id: now.id, ...change.times, at: now.at });
    const about = { noteableId: now.id, projectId: on.parent.id, actorId: viewer.userId };
    await writeSystemNotes(tx, on.kind, { ...about, bodies: [change.note], at: now.at });
    return { isChanged: true, json: after!.json };
  }
}

interface LockedTimes extends TrackedTimes {
  readonly id: number;
  readonly at: Date;
  readonly json: string;
}

type TimeParams = TrackedTimes & { readonly id: number; readonly at: Date };

/** Creates the statements of one kind. */
function createTimeTrackingStatements(kind: NoteableKind, by: NoteableReference['by']) {
  const name = noteableStatementName(kind, by, 'times');
  const stats = timeStatsShape.toSql({}).sql;
  const fromNamed = `from ${kind.table} i where ${isNamedNoteableVisibleSql(kind, by)}`;
  return {
    show: statement<ReaderParams, { json: string }>(`${name}_shown`, () => `select ${stats} as json ${fromNamed}`),
    // Locks the noteable, so that concurrent changes run one after another.
    lock: statement<ReaderParams, LockedTimes>(
      `${name}_lock`,
      () => `select i.id, i.time_estimate as estimate, i.total_time_spent as spent, now() as at, ${stats} as json
      ${fromNamed} for no key update of i`,
    ),
    write: statement<TimeParams, { json: string }>(
      `${name}_write`,
      () => `${kind.writes.update} time_estimate = :estimate::integer, total_time_spent = :spent::integer,
      updated_at = :at::timestamptz where i.id = :id::bigint returning ${stats} as json`,
    ),
  };
}

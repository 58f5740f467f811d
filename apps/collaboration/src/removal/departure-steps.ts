import { Injectable } from '@nestjs/common';
import type { Prepared, RowOf, Tx } from '@rookery/persistence';
import { activityTraces } from '../following/activity/record-activity';
import { awardTracesOf } from '../talk/award-emoji/award-removal';
import { labelTraces } from '../planning/labels/label-removal';
import { milestoneTraces } from '../planning/milestones/milestone-removal';
import { NoteableKinds } from '../base/noteables/noteable-kinds';
import { TRACES_CHUNK } from '../base/noteables/traces';
import type { Traces } from '../base/noteables/traces';
import { noteTraces } from '../talk/notes/note-removal';
import { mailTraces } from '../following/notifications/mail-traces';
import { resourceEventTraces } from '../base/resource-events/resource-event-removal';
import { subscriptionTraces } from '../following/subscriptions/subscription-removal';
import { todoTraces } from '../following/todos/raise-todos';
import { DropWritings } from './drop-writings';
import type { UserDeparture } from './user-departure.entity';

/** Somebody who is gone, and who gets what they wrote; null with `hard_delete`. */
export type Departure = RowOf<UserDeparture, 'userId' | 'ghostUserId' | 'hardDelete'>;

/** One pass over every table that names people. Source: reference identity-and-import 5; ADR 0136. */
@Injectable()
export class DepartureSteps {
  private readonly traces: readonly Traces[];

  constructor(
    private readonly writings: DropWritings,
    kinds: NoteableKinds,
  ) {
    const awards = awardTracesOf(kinds.able('awards'));
    const changes = [labelTraces, milestoneTraces, resourceEventTraces];
    const ofWings = [awards, noteTraces, ...changes, subscriptionTraces, todoTraces, activityTraces, mailTraces];
    this.traces = [...kinds.all.map((kind) => kind.traces), ...ofWings];
  }

  /** Does the next part. True when nothing was left. */
  async next(tx: Tx, { user_id: userId, ghost_user_id: heirId, hard_delete: isHard }: Departure): Promise<boolean> {
    if (!(await this.done(tx, 'own', [userId])) || !(await this.done(tx, 'named', [userId, heirId]))) return false;
    if (!isHard) return this.done(tx, 'written', [userId, heirId]);
    return (await this.done(tx, 'dropWritten', [userId])) && (await this.writings.next(tx, userId));
  }

  /** Runs statements of all tables until one finds as many rows as it may change. */
  private async done(tx: Tx, part: keyof Traces, values: readonly unknown[]): Promise<boolean> {
    for (const statement of this.traces.flatMap((traces): readonly Prepared[] => traces[part] ?? [])) {
      if ((await tx.prepared(statement, values)).length === TRACES_CHUNK) return false;
    }
    return true;
  }
}

import { Injectable } from '@nestjs/common';
import { Forbidden, NotModified } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { executeCommandsInSavepoints } from '../../talk/mentions/quick-actions/action-set';
import type { ActionResult } from '../../talk/mentions/quick-actions/action-set';
import type { Command } from '../../talk/mentions/quick-actions/parse-commands';
import { QuickActionsService } from '../../talk/mentions/quick-actions/quick-actions.service';
import { planningPolicy } from '../../base/noteables/planning.policy';
import type { NoteableWithParent } from '../../base/noteables/planning.policy';
import { parseDuration, formatDuration } from './durations';
import { timeChanges } from './time-changes';
import type { TimeChange, TrackedTimes } from './time-changes';
import { TimeTrackingService } from './time-tracking.service';

interface TimeAction {
  change(text: string, now: TrackedTimes): TimeChange;
  message(text: string): string;
  changes(text: string): Readonly<Record<string, unknown>>;
}

const normalizeDuration = (text: string): string => formatDuration(Math.abs(parseDuration(text) ?? 0)) ?? '0h';
const estimateAction: TimeAction = {
  change: (text, now) => timeChanges.estimate(text, now),
  message: (text) => `Set the time estimate to ${normalizeDuration(text)}.`,
  changes: (text) => ({ time_estimate: parseDuration(text) }),
};
const spendAction: TimeAction = {
  change: (text, now) => timeChanges.spend(text, now),
  message: (text) =>
    text.startsWith('-')
      ? `Subtracted ${normalizeDuration(text)} of spent time.`
      : `Added ${normalizeDuration(text)} of spent time.`,
  changes: (text) => ({ spend_time: { duration: parseDuration(text) } }),
};
const ACTIONS: Readonly<Record<string, TimeAction>> = {
  estimate: estimateAction,
  spend: spendAction,
  spent: spendAction,
  remove_estimate: {
    change: (_, now) => timeChanges.estimate('0', now),
    message: () => 'Removed the time estimate.',
    changes: () => ({ time_estimate: 0 }),
  },
  remove_time_spent: {
    change: (_, now) => timeChanges.resetSpent(now),
    message: () => 'Removed the spent time.',
    changes: () => ({ spend_time: { duration: 'reset' } }),
  },
};

/** Quick actions for time tracking. Source: reference work-tracking 2.6. */
@Injectable()
export class TimeQuickActions {
  constructor(
    actions: QuickActionsService,
    private readonly times: TimeTrackingService,
  ) {
    actions.declareSet({
      names: Object.keys(ACTIONS),
      supportsKind: ({ abilities }) => abilities.includes('time'),
      plan:
        ({ viewer }, commands) =>
        (tx, on) =>
          executeCommandsInSavepoints(tx, commands, (command) => this.executeTimeCommand(tx, viewer, on, command)),
    });
  }

  private async executeTimeCommand(
    tx: Tx,
    viewer: SignedInViewer,
    on: NoteableWithParent,
    { name, argument }: Command,
  ): Promise<ActionResult> {
    const action = ACTIONS[name]!;
    if (!planningPolicy.mayManage(viewer, on.parent)) throw new Forbidden();
    const { isChanged } = await this.times.changeInTransaction(tx, viewer, on, (now) => action.change(argument, now));
    if (!isChanged) throw new NotModified();
    return { said: action.message(argument), changes: action.changes(argument) };
  }
}

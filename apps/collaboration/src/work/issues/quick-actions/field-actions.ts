import type { SignedInViewer } from '@rookery/kernel';
import type { ActionResult } from '../../../talk/mentions/quick-actions/action-set';
import { parseArgument } from '../../../talk/mentions/quick-actions/arguments';
import type { LockedIssue, IssueUpdate, FieldPermissions } from '../issue-change';
import { issueKind } from '../issue.kind';
import { issuePolicy } from '../issue.policy';
import type { IssueProject } from '../issues.queries';
import { COMMON_ACTIONS, CONFIDENTIAL_ACTIONS } from './common-actions';
import type { CommonChanges } from './common-actions';
import { applyPeopleCommand } from './people-actions';
import type { UserLookup, PeopleMode } from './people-actions';

/** State while the commands of a text are applied to an issue one after the other. */
export interface FieldChanges extends LockedIssue {
  readonly viewer: SignedInViewer;
  readonly project: IssueProject;
  readonly permits: FieldPermissions;
  readonly people: UserLookup;
  /** The changes so far. */
  readonly update: { -readonly [K in keyof IssueUpdate]: IssueUpdate[K] };
}

/** Permission that a command needs: that of the route with the same change. */
type NeededAbility = 'edit' | 'state' | 'plan' | 'weigh';
interface FieldAction {
  readonly needs: NeededAbility;
  apply(changes: FieldChanges, argument: string): ActionResult;
}

const createActionSuccess = (said: string, changes: Readonly<Record<string, unknown>>): ActionResult => ({
  said,
  changes,
});
const createActionFailure = (why: string): ActionResult => ({ why });

/** Wraps a command that epics have too. */
const toIssueFieldAction = (
  needs: NeededAbility,
  act: (changes: CommonChanges, argument: string) => ActionResult,
): FieldAction => ({
  needs,
  apply: ({ issue, update }, argument) => act({ target: issue, word: issueKind.word, update }, argument),
});

const discussionLockAction = (isLocked: boolean, said: string, already: string): FieldAction => ({
  needs: 'plan',
  apply: ({ issue, update }) => {
    const current = update.discussionLocked === undefined ? issue.discussionLocked : update.discussionLocked;
    if ((current === true) === isLocked) return createActionFailure(already);
    update.discussionLocked = isLocked;
    return createActionSuccess(said, { discussion_locked: isLocked });
  },
});

/** Builds a command on assignees. */
const assigneeAction = (mode: PeopleMode, said: (names: string) => string): FieldAction => ({
  needs: 'plan',
  apply: ({ assigneeIds, people, update }, argument) => {
    const lists = { original: assigneeIds, current: update.assigneeIds ?? assigneeIds };
    const changed = applyPeopleCommand(mode, argument, lists, people);
    if (changed === null) return createActionFailure('it names nobody who could be meant');
    update.assigneeIds = changed.after;
    return createActionSuccess(said(changed.names), { assignee_ids: changed.after });
  },
});

/** Commands that change fields of an issue. Source: reference work-tracking 2.6, 9.1. */
export const FIELD_ACTIONS: Readonly<Record<string, FieldAction>> = {
  close: toIssueFieldAction('state', COMMON_ACTIONS.close),
  reopen: toIssueFieldAction('state', COMMON_ACTIONS.reopen),
  title: toIssueFieldAction('edit', COMMON_ACTIONS.title),
  assign: assigneeAction('add', (names) => `Assigned ${names}.`),
  unassign: assigneeAction('remove', (names) =>
    names === '' ? 'Removed all assignees.' : `Removed the assignees ${names}.`,
  ),
  reassign: assigneeAction('replace', (names) => `Changed the assignees to ${names}.`),
  due: {
    needs: 'plan',
    apply: ({ at, update }, argument) => {
      const day = parseArgument.day(argument, at);
      if (day === null) return createActionFailure('it names no day');
      update.dueOn = day;
      return createActionSuccess(`Set the due date to ${day}.`, { due_date: day });
    },
  },
  remove_due_date: {
    needs: 'plan',
    apply: ({ issue, update }) => {
      if ((update.dueOn === undefined ? issue.dueOn : update.dueOn) === null)
        return createActionFailure('there is none');
      update.dueOn = null;
      return createActionSuccess('Removed the due date.', { due_date: null });
    },
  },
  confidential: toIssueFieldAction('plan', CONFIDENTIAL_ACTIONS.confidential),
  make_confidential: toIssueFieldAction('plan', CONFIDENTIAL_ACTIONS.make_confidential),
  lock: discussionLockAction(true, 'Locked the discussion.', 'it is locked already'),
  unlock: discussionLockAction(false, 'Unlocked the discussion.', 'it is not locked'),
  weight: {
    needs: 'weigh',
    apply: ({ update }, argument) => {
      const weight = parseArgument.integer(argument);
      if (weight === null) return createActionFailure('a weight is a whole number from 0 on');
      update.weight = weight;
      return createActionSuccess(`Set the weight to ${weight}.`, { weight });
    },
  },
  clear_weight: {
    needs: 'plan',
    apply: ({ issue, update }) => {
      if ((update.weight === undefined ? issue.weight : update.weight) === null)
        return createActionFailure('there is none');
      update.weight = null;
      return createActionSuccess('Removed the weight.', { weight: null });
    },
  },
};

/** Applies one command to the changes so far. */
export function applyIssueFieldQuickAction(changes: FieldChanges, name: string, argument: string): ActionResult {
  const { needs, apply } = FIELD_ACTIONS[name]!;
  return isActionAllowed(changes, needs) ? apply(changes, argument) : createActionFailure('you are not allowed to');
}

function isActionAllowed(
  { viewer, project, permits, issue, assigneeIds }: FieldChanges,
  needs: NeededAbility,
): boolean {
  const subject = { authorId: issue.authorId, assigneeIds };
  if (needs === 'state') return issuePolicy.mayChangeState(viewer, project, subject);
  if (!issuePolicy.mayEdit(viewer, project, subject)) return false;
  return needs === 'edit' || (needs === 'plan' ? permits.plan : permits.weigh);
}

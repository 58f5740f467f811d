import type { ActionResult } from '../../../talk/mentions/quick-actions/action-set';
import { applyPeopleCommand } from '../../issues/quick-actions/people-actions';
import type { UserLookup, PeopleMode } from '../../issues/quick-actions/people-actions';
import { COMMON_ACTIONS } from '../../issues/quick-actions/common-actions';
import type { CommonChanges } from '../../issues/quick-actions/common-actions';
import { isDraftTitle, withoutDraftMark } from '../merge-request.entity';
import type { MergeRequest } from '../merge-request.entity';
import { mergeRequestKind } from '../merge-request.kind';
import type { MergeRequestUpdate } from '../merge-request-change';
import type { PreparedBranches } from '../versions/branches';

/** State while the commands of a text are applied to a merge request one after the other. */
export interface FieldChanges {
  readonly mergeRequest: MergeRequest;
  readonly assigneeIds: readonly number[];
  readonly reviewerIds: readonly number[];
  readonly people: UserLookup;
  /** Whether the caller may set people and lock the discussion. */
  readonly mayPlan: boolean;
  /** The branches after the commands; the reason if they cannot be used. */
  readonly branches: PreparedBranches | { readonly why: string } | null;
  /** The changes so far. */
  readonly update: { -readonly [K in keyof MergeRequestUpdate]: MergeRequestUpdate[K] };
}

interface FieldAction {
  /** `plan` for people and locks; `edit` for the others. */
  readonly needs: 'edit' | 'plan';
  apply(changes: FieldChanges, argument: string): ActionResult;
}

const createActionSuccess = (said: string, changes: Readonly<Record<string, unknown>>): ActionResult => ({
  said,
  changes,
});
const createActionFailure = (why: string): ActionResult => ({ why });

/** Wraps a command that issues have too. */
const toMergeRequestFieldAction = (act: (changes: CommonChanges, argument: string) => ActionResult): FieldAction => ({
  needs: 'edit',
  apply: ({ mergeRequest, update }, argument) => {
    if (mergeRequest.state === 'merged' && act !== COMMON_ACTIONS.title) return createActionFailure('it is merged');
    const target = {
      state: mergeRequest.state === 'opened' ? ('opened' as const) : ('closed' as const),
      confidential: false,
    };
    return act({ target, word: mergeRequestKind.word, update }, argument);
  },
});

const reopen: FieldAction = {
  needs: 'edit',
  apply: (changes, argument) => {
    const { branches } = changes;
    if (branches !== null && 'version' in branches && branches.version === null)
      return createActionFailure('its source or target branch does not exist');
    return toMergeRequestFieldAction(COMMON_ACTIONS.reopen).apply(changes, argument);
  },
};

const peopleAction = (
  list: 'assignee' | 'reviewer',
  mode: PeopleMode,
  said: (names: string) => string,
): FieldAction => ({
  needs: 'plan',
  apply: (changes, argument) => {
    const key = list === 'assignee' ? 'assigneeIds' : 'reviewerIds';
    const lists = { original: changes[key], current: changes.update[key] ?? changes[key] };
    const changed = applyPeopleCommand(mode, argument, lists, changes.people);
    if (changed === null) return createActionFailure('it names nobody who could be meant');
    changes.update[key] = changed.after;
    return createActionSuccess(said(changed.names), { [`${list}_ids`]: changed.after });
  },
});

/** Commands that add, remove and replace the people of a list. */
const peopleActions = (list: 'assignee' | 'reviewer') => {
  const added = (names: string): string =>
    list === 'assignee' ? `Assigned ${names}.` : `Requested a review from ${names}.`;
  const removed = (names: string): string =>
    names === '' ? `Removed all ${list}s.` : `Removed the ${list}s ${names}.`;
  return {
    add: peopleAction(list, 'add', added),
    remove: peopleAction(list, 'remove', removed),
    replace: peopleAction(list, 'replace', (names) => `Changed the ${list}s to ${names}.`),
  };
};
const assignees = peopleActions('assignee');
const reviewers = peopleActions('reviewer');

const discussionLockAction = (isLocked: boolean, said: string, already: string): FieldAction => ({
  needs: 'plan',
  apply: ({ mergeRequest, update }) => {
    const current = update.discussionLocked === undefined ? mergeRequest.discussionLocked : update.discussionLocked;
    if ((current === true) === isLocked) return createActionFailure(already);
    update.discussionLocked = isLocked;
    return createActionSuccess(said, { discussion_locked: isLocked });
  },
});

const draftAction = (isDraft: boolean): FieldAction => ({
  needs: 'edit',
  apply: ({ mergeRequest, update }) => {
    if (mergeRequest.state === 'merged') return createActionFailure('it is merged');
    const title = update.title ?? mergeRequest.title;
    if (isDraftTitle(title) === isDraft)
      return createActionFailure(isDraft ? 'it is a draft already' : 'it is ready already');
    const changed = isDraft ? `Draft: ${title}` : withoutDraftMark(title);
    if (changed.length > TITLE_LIMIT)
      return createActionFailure(`the title is too long (maximum is ${TITLE_LIMIT} characters)`);
    if (changed.trim() === '') return createActionFailure("the title can't be blank");
    update.title = changed;
    const word = isDraft ? 'draft' : 'ready';
    return createActionSuccess(`Marked this merge request as ${word}.`, { wip_event: word });
  },
});
const TITLE_LIMIT = 255;

const targetBranch: FieldAction = {
  needs: 'edit',
  apply: ({ mergeRequest, branches, update }) => {
    if (mergeRequest.state === 'merged') return createActionFailure('it is merged');
    if (branches === null) return createActionFailure('it was opened just now');
    if ('why' in branches) return createActionFailure(branches.why);
    if (branches.targetBranch === mergeRequest.targetBranch)
      return createActionFailure('it is the target branch already');
    update.targetBranch = branches.targetBranch;
    return createActionSuccess(`Set the target branch to ${branches.targetBranch}.`, {
      target_branch: branches.targetBranch,
    });
  },
};

/** Commands that change fields of a merge request. Source: reference work-tracking 2.6. */
export const FIELD_ACTIONS: Readonly<Record<string, FieldAction>> = {
  close: toMergeRequestFieldAction(COMMON_ACTIONS.close),
  reopen,
  title: toMergeRequestFieldAction(COMMON_ACTIONS.title),
  assign: assignees.add,
  unassign: assignees.remove,
  reassign: assignees.replace,
  assign_reviewer: reviewers.add,
  reviewer: reviewers.add,
  request_review: reviewers.add,
  unassign_reviewer: reviewers.remove,
  remove_reviewer: reviewers.remove,
  reassign_reviewer: reviewers.replace,
  lock: discussionLockAction(true, 'Locked the discussion.', 'it is locked already'),
  unlock: discussionLockAction(false, 'Unlocked the discussion.', 'it is not locked'),
  draft: draftAction(true),
  ready: draftAction(false),
  target_branch: targetBranch,
};

/** Commands whose arguments are users. */
export const NAMES_PEOPLE: readonly string[] = Object.keys(FIELD_ACTIONS).filter((name) =>
  [...Object.values(assignees), ...Object.values(reviewers)].includes(FIELD_ACTIONS[name]!),
);

/** Applies one command to the changes so far. The caller has checked that the viewer may edit the merge request. */
export function applyMergeRequestFieldQuickAction(changes: FieldChanges, name: string, argument: string): ActionResult {
  const { needs, apply } = FIELD_ACTIONS[name]!;
  return needs === 'plan' && !changes.mayPlan
    ? createActionFailure('you are not allowed to')
    : apply(changes, argument);
}

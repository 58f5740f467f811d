import type { DirectoryUserRow } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import type { Outcome } from '../../../talk/mentions/quick-actions/action-set';
import { argumentsOf } from '../../../talk/mentions/quick-actions/arguments';
import type { IssueNow, IssueWish, Permits } from '../issue-change';
import { issueKind } from '../issue.kind';
import { issuePolicy } from '../issue.policy';
import type { IssueProject } from '../issues.queries';
import { COMMON_ACTIONS, CONFIDENTIAL_ACTIONS } from './common-actions';
import type { CommonNow } from './common-actions';

/** People whom commands name, by their names in small letters. */
export interface PeopleMeant {
  readonly me: string;
  readonly users: ReadonlyMap<string, DirectoryUserRow>;
  /** Of whom the caller may know. */
  readonly known: ReadonlySet<number>;
  /** Who may be assigned. */
  readonly eligible: ReadonlySet<number>;
}

/** What the commands of one text make of an issue, one after the other. */
export interface Folding extends IssueNow {
  readonly viewer: SignedInViewer;
  readonly project: IssueProject;
  readonly permits: Permits;
  readonly people: PeopleMeant;
  /** What is wished for so far. */
  readonly wish: { -readonly [K in keyof IssueWish]: IssueWish[K] };
}

/** Whose right a command needs: that of the route that changes the same. */
type Need = 'edit' | 'state' | 'plan' | 'weigh';
interface FieldAction {
  readonly needs: Need;
  fold(now: Folding, argument: string): Outcome;
}

const done = (said: string, changes: Readonly<Record<string, unknown>>): Outcome => ({ said, changes });
const not = (why: string): Outcome => ({ why });

/** What other things know too. */
const common = (needs: Need, act: (now: CommonNow, argument: string) => Outcome): FieldAction => ({
  needs,
  fold: ({ issue, wish }, argument) => act({ thing: issue, word: issueKind.word, wish }, argument),
});

const lockAction = (isLocked: boolean, said: string, already: string): FieldAction => ({
  needs: 'plan',
  fold: ({ issue, wish }) => {
    const now = wish.discussionLocked === undefined ? issue.discussionLocked : wish.discussionLocked;
    if ((now === true) === isLocked) return not(already);
    wish.discussionLocked = isLocked;
    return done(said, { discussion_locked: isLocked });
  },
});

/** Shape: `make` answers whom the issue is assigned to, by who was and who is named; null when nobody was named. */
const assigneeAction = (
  make: (before: readonly number[], named: readonly DirectoryUserRow[], argument: string) => readonly number[] | null,
  said: (names: string) => string,
  isForNew: boolean,
): FieldAction => ({
  needs: 'plan',
  fold: ({ assigneeIds, people, wish }, argument) => {
    const named = argumentsOf
      .people(argument, people.me)
      .flatMap((name) => people.users.get(name.toLowerCase()) ?? [])
      .filter(({ id }) => (isForNew ? people.eligible.has(id) : people.known.has(id) || assigneeIds.includes(id)));
    const after = make(wish.assigneeIds ?? assigneeIds, named, argument);
    if (after === null) return not('it names nobody who could be meant');
    wish.assigneeIds = after;
    const names = named.map(({ username }) => `@${username}`).join(' ');
    return done(said(names), { assignee_ids: after });
  },
});

const idsOf = (users: readonly DirectoryUserRow[]): number[] => users.map(({ id }) => id);

/** Commands that change an issue itself. Source: reference work-tracking 2.6, 9.1. */
export const FIELD_ACTIONS: Readonly<Record<string, FieldAction>> = {
  close: common('state', COMMON_ACTIONS.close),
  reopen: common('state', COMMON_ACTIONS.reopen),
  title: common('edit', COMMON_ACTIONS.title),
  assign: assigneeAction(
    (before, named) => (named.length === 0 ? null : [...new Set([...before, ...idsOf(named)])]),
    (names) => `Assigned ${names}.`,
    true,
  ),
  unassign: assigneeAction(
    (before, named, argument) => {
      if (argument === '') return [];
      return named.length === 0 ? null : before.filter((id) => !idsOf(named).includes(id));
    },
    (names) => (names === '' ? 'Removed all assignees.' : `Removed the assignees ${names}.`),
    false,
  ),
  reassign: assigneeAction(
    (_, named) => (named.length === 0 ? null : idsOf(named)),
    (names) => `Changed the assignees to ${names}.`,
    true,
  ),
  due: {
    needs: 'plan',
    fold: ({ at, wish }, argument) => {
      const day = argumentsOf.day(argument, at);
      if (day === null) return not('it names no day');
      wish.dueOn = day;
      return done(`Set the due date to ${day}.`, { due_date: day });
    },
  },
  remove_due_date: {
    needs: 'plan',
    fold: ({ issue, wish }) => {
      if ((wish.dueOn === undefined ? issue.dueOn : wish.dueOn) === null) return not('there is none');
      wish.dueOn = null;
      return done('Removed the due date.', { due_date: null });
    },
  },
  confidential: common('plan', CONFIDENTIAL_ACTIONS.confidential),
  make_confidential: common('plan', CONFIDENTIAL_ACTIONS.make_confidential),
  lock: lockAction(true, 'Locked the discussion.', 'it is locked already'),
  unlock: lockAction(false, 'Unlocked the discussion.', 'it is not locked'),
  weight: {
    needs: 'weigh',
    fold: ({ wish }, argument) => {
      const weight = argumentsOf.whole(argument);
      if (weight === null) return not('a weight is a whole number from 0 on');
      wish.weight = weight;
      return done(`Set the weight to ${weight}.`, { weight });
    },
  },
  clear_weight: {
    needs: 'plan',
    fold: ({ issue, wish }) => {
      if ((wish.weight === undefined ? issue.weight : wish.weight) === null) return not('there is none');
      wish.weight = null;
      return done('Removed the weight.', { weight: null });
    },
  },
};

/** Carries one command on into the wish. */
export function folded(now: Folding, name: string, argument: string): Outcome {
  const { needs, fold } = FIELD_ACTIONS[name]!;
  return isAllowed(now, needs) ? fold(now, argument) : not('you are not allowed to');
}

function isAllowed({ viewer, project, permits, issue, assigneeIds }: Folding, needs: Need): boolean {
  const subject = { authorId: issue.authorId, assigneeIds };
  if (needs === 'state') return issuePolicy.mayChangeState(viewer, project, subject);
  if (!issuePolicy.mayEdit(viewer, project, subject)) return false;
  return needs === 'edit' || (needs === 'plan' ? permits.plan : permits.weigh);
}

import type { LabelWish } from '../../planning/labels/labelling/labelling';
import { systemNotes } from '../../talk/notes/system-notes';
import { issueKind } from './issue.kind';
import { taskCounts } from './issue.entity';
import type { Issue, IssueType } from './issue.entity';
import type { Serving } from './serving/epic-choice';
import { toggledTasks } from '../../talk/mentions/task-items';

/** What a caller wants changed. Shape: undefined leaves a field as it is. */
export interface IssueWish {
  readonly title?: string | undefined;
  readonly description?: string | null | undefined;
  readonly issueType?: IssueType | undefined;
  readonly stateEvent?: 'close' | 'reopen' | undefined;
  readonly assigneeIds?: readonly number[] | undefined;
  readonly labels?: LabelWish | undefined;
  /** Null takes it away. */
  readonly milestoneId?: number | null | undefined;
  readonly dueOn?: string | null | undefined;
  /** Null takes it away. */
  readonly weight?: number | null | undefined;
  readonly confidential?: boolean | undefined;
  readonly discussionLocked?: boolean | null | undefined;
  readonly updatedAt?: Date | undefined;
  readonly serving?: Serving | undefined;
}

/** An issue that is about to be changed, locked. */
export interface IssueNow {
  readonly issue: Issue;
  readonly assigneeIds: readonly number[];
  readonly at: Date;
}

/** A wish that looks at the issue; labels, milestone and epic are held before it is locked. */
export interface WishByIssue extends Pick<IssueWish, HeldBefore> {
  now(issue: IssueNow): Omit<IssueWish, HeldBefore>;
}
type HeldBefore = 'labels' | 'milestoneId' | 'serving';

/** What of a wish counts. A weight may be taken away whatever the plan. */
export interface Permits {
  readonly plan: boolean;
  readonly weigh: boolean;
  readonly backdate: boolean;
}

/** A wish without what the caller may not set: such fields are ignored, not refused. Source: reference work-tracking 9.1. */
export function permitted(wish: IssueWish, may: Permits): IssueWish {
  const { assigneeIds, labels, milestoneId, dueOn, weight, confidential, discussionLocked, updatedAt, ...open } = wish;
  return {
    ...open,
    ...(may.plan ? { assigneeIds, labels, milestoneId, dueOn, confidential, discussionLocked } : {}),
    ...(may.weigh || (may.plan && weight === null) ? { weight } : {}),
    ...(may.backdate ? { updatedAt } : {}),
  };
}

/** Does the wish ask for anything besides closing or opening again? */
export function wantsMoreThanState(wish: IssueWish): boolean {
  return Object.entries(wish).some(([name, value]) => name !== 'stateEvent' && value !== undefined);
}

/** What follows from a wish: the columns that change, and what the system says about it. */
export interface IssueChange {
  readonly columns: Partial<Issue>;
  readonly notes: readonly string[];
  readonly textChanged: boolean;
  readonly state: 'closed' | 'reopened' | null;
}

/** Compares a wish with the issue. Pure. Source: reference work-tracking 2.7. */
export function changeOf(
  issue: Issue,
  wish: IssueWish,
  o: { readonly actorId: number; readonly at: Date },
): IssueChange {
  const columns: Partial<Issue> = {};
  const notes: string[] = [];
  if (wish.title !== undefined && wish.title !== issue.title) {
    Object.assign(columns, { title: wish.title, titleEditedById: o.actorId });
    notes.push(systemNotes.title(issue.title, wish.title));
  }
  if (wish.description !== undefined && wish.description !== issue.description) {
    const edited = { description: wish.description, editedById: o.actorId };
    Object.assign(columns, edited, taskCounts(wish.description));
    notes.push(...descriptionNotes(issue.description, wish.description));
  }
  if (wish.issueType !== undefined && wish.issueType !== issue.issueType) columns.issueType = wish.issueType;
  if (wish.milestoneId !== undefined && wish.milestoneId !== issue.milestoneId) columns.milestoneId = wish.milestoneId;
  if (wish.weight !== undefined && wish.weight !== issue.weight) columns.weight = wish.weight;
  if (wish.dueOn !== undefined && wish.dueOn !== issue.dueOn) {
    columns.dueOn = wish.dueOn;
    notes.push(systemNotes.dueDate(wish.dueOn));
  }
  if (wish.confidential !== undefined && wish.confidential !== issue.confidential) {
    columns.confidential = wish.confidential;
    notes.push(systemNotes.confidential(wish.confidential, issueKind.word));
  }
  if (wish.discussionLocked !== undefined && wish.discussionLocked !== issue.discussionLocked) {
    columns.discussionLocked = wish.discussionLocked;
    const isLocked = wish.discussionLocked === true;
    if (isLocked !== (issue.discussionLocked === true)) notes.push(systemNotes.locked(isLocked, issueKind.word));
  }
  const textChanged = columns.title !== undefined || columns.description !== undefined;
  return { ...withState(issue, wish, columns, notes, o), textChanged };
}

function withState(
  issue: Issue,
  wish: IssueWish,
  columns: Partial<Issue>,
  notes: readonly string[],
  o: { readonly actorId: number; readonly at: Date },
): Omit<IssueChange, 'textChanged'> {
  if (wish.stateEvent === 'close' && issue.state === 'opened') {
    const closed = { state: 'closed', closedAt: o.at, closedById: o.actorId } as const;
    return { columns: { ...columns, ...closed }, notes: [...notes, systemNotes.closed], state: 'closed' };
  }
  if (wish.stateEvent === 'reopen' && issue.state === 'closed') {
    const opened = { state: 'opened', closedAt: null, closedById: null, duplicatedToId: null } as const;
    return { columns: { ...columns, ...opened }, notes: [...notes, systemNotes.reopened], state: 'reopened' };
  }
  return { columns, notes, state: null };
}

/** Ticking boxes is told as such, any other change as one. */
export function descriptionNotes(before: string | null, after: string | null): string[] {
  const toggled = toggledTasks(before, after);
  return toggled ? systemNotes.tasks(toggled) : [systemNotes.description];
}

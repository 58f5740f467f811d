import type { RequestedLabels } from '../../planning/labels/labelling/labelling';
import { systemNotes } from '../../talk/notes/system-notes';
import { issueKind } from './issue.kind';
import { countDescriptionTasks } from './issue.entity';
import type { Issue, IssueType } from './issue.entity';
import type { EpicAssignment } from './epic/epic-assignment';
import { toggledTasks } from '../../talk/mentions/task-items';

/** An update of an issue. Undefined fields keep their values. */
export interface IssueUpdate {
  readonly title?: string | undefined;
  readonly description?: string | null | undefined;
  readonly issueType?: IssueType | undefined;
  readonly stateEvent?: 'close' | 'reopen' | undefined;
  readonly assigneeIds?: readonly number[] | undefined;
  readonly labels?: RequestedLabels | undefined;
  /** Null removes it. */
  readonly milestoneId?: number | null | undefined;
  readonly dueOn?: string | null | undefined;
  /** Null removes it. */
  readonly weight?: number | null | undefined;
  readonly confidential?: boolean | undefined;
  readonly discussionLocked?: boolean | null | undefined;
  readonly updatedAt?: Date | undefined;
  readonly epicAssignment?: EpicAssignment | undefined;
}

/** An issue that is locked for a change. */
export interface LockedIssue {
  readonly issue: Issue;
  readonly assigneeIds: readonly number[];
  readonly at: Date;
}

/**
 * An update that depends on the locked issue. Labels, milestone and epic are known before, since they are locked before
 * the issue.
 */
export interface DeferredIssueUpdate extends Pick<IssueUpdate, FieldLockedBeforeIssue> {
  resolve(issue: LockedIssue): Omit<IssueUpdate, FieldLockedBeforeIssue>;
}
type FieldLockedBeforeIssue = 'labels' | 'milestoneId' | 'epicAssignment';

/** Permissions for fields of an issue. Removing a weight needs no paid plan. */
export interface FieldPermissions {
  readonly plan: boolean;
  readonly weigh: boolean;
  readonly backdate: boolean;
}

/**
 * Removes the fields that the caller may not set: they are ignored, not refused. Source: reference work-tracking 9.1.
 */
export function keepPermittedIssueChanges(update: IssueUpdate, may: FieldPermissions): IssueUpdate {
  const { assigneeIds, labels, milestoneId, dueOn, weight, confidential, discussionLocked, updatedAt, ...open } =
    update;
  return {
    ...open,
    ...(may.plan ? { assigneeIds, labels, milestoneId, dueOn, confidential, discussionLocked } : {}),
    ...(may.weigh || (may.plan && weight === null) ? { weight } : {}),
    ...(may.backdate ? { updatedAt } : {}),
  };
}

/** Checks whether an update changes any field except the state. */
export function changesMoreThanState(update: IssueUpdate): boolean {
  return Object.entries(update).some(([name, value]) => name !== 'stateEvent' && value !== undefined);
}

/** Result of an update: the columns that change and the system notes about them. */
export interface IssueChange {
  readonly columns: Partial<Issue>;
  readonly notes: readonly string[];
  readonly textChanged: boolean;
  readonly state: 'closed' | 'reopened' | null;
}

/** Compares an update with the issue. Pure. Source: reference work-tracking 2.7. */
export function computeIssueChange(
  issue: Issue,
  update: IssueUpdate,
  o: { readonly actorId: number; readonly at: Date },
): IssueChange {
  const columns: Partial<Issue> = {};
  const notes: string[] = [];
  if (update.title !== undefined && update.title !== issue.title) {
    Object.assign(columns, { title: update.title, titleEditedById: o.actorId });
    notes.push(systemNotes.title(issue.title, update.title));
  }
  if (update.description !== undefined && update.description !== issue.description) {
    const edited = { description: update.description, editedById: o.actorId };
    Object.assign(columns, edited, countDescriptionTasks(update.description));
    notes.push(...renderDescriptionChangeNotes(issue.description, update.description));
  }
  if (update.issueType !== undefined && update.issueType !== issue.issueType) columns.issueType = update.issueType;
  if (update.milestoneId !== undefined && update.milestoneId !== issue.milestoneId)
    columns.milestoneId = update.milestoneId;
  if (update.weight !== undefined && update.weight !== issue.weight) columns.weight = update.weight;
  if (update.dueOn !== undefined && update.dueOn !== issue.dueOn) {
    columns.dueOn = update.dueOn;
    notes.push(systemNotes.dueDate(update.dueOn));
  }
  if (update.confidential !== undefined && update.confidential !== issue.confidential) {
    columns.confidential = update.confidential;
    notes.push(systemNotes.confidential(update.confidential, issueKind.word));
  }
  if (update.discussionLocked !== undefined && update.discussionLocked !== issue.discussionLocked) {
    columns.discussionLocked = update.discussionLocked;
    const isLocked = update.discussionLocked === true;
    if (isLocked !== (issue.discussionLocked === true)) notes.push(systemNotes.locked(isLocked, issueKind.word));
  }
  const textChanged = columns.title !== undefined || columns.description !== undefined;
  return { ...applyStateEvent(issue, update, columns, notes, o), textChanged };
}

function applyStateEvent(
  issue: Issue,
  update: IssueUpdate,
  columns: Partial<Issue>,
  notes: readonly string[],
  o: { readonly actorId: number; readonly at: Date },
): Omit<IssueChange, 'textChanged'> {
  if (update.stateEvent === 'close' && issue.state === 'opened') {
    const closed = { state: 'closed', closedAt: o.at, closedById: o.actorId } as const;
    return { columns: { ...columns, ...closed }, notes: [...notes, systemNotes.closed], state: 'closed' };
  }
  if (update.stateEvent === 'reopen' && issue.state === 'closed') {
    const opened = { state: 'opened', closedAt: null, closedById: null, duplicatedToId: null } as const;
    return { columns: { ...columns, ...opened }, notes: [...notes, systemNotes.reopened], state: 'reopened' };
  }
  return { columns, notes, state: null };
}

/** Returns system notes for a new description: one per ticked box if only boxes changed, else one for the text. */
export function renderDescriptionChangeNotes(before: string | null, after: string | null): string[] {
  const toggled = toggledTasks(before, after);
  return toggled ? systemNotes.tasks(toggled) : [systemNotes.description];
}

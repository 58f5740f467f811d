import type { RequestedLabels } from '../../planning/labels/labelling/labelling';
import { systemNotes } from '../../talk/notes/system-notes';
import { countDescriptionTasks } from '../issues/issue.entity';
import { renderDescriptionChangeNotes } from '../issues/issue-change';
import { isDraftTitle, withoutDraftMark } from './merge-request.entity';
import type { MergeRequest } from './merge-request.entity';
import { mergeRequestKind } from './merge-request.kind';
import { assertPeopleWithinLimit } from './people/people-limit';
import type { MeasuredVersion } from './versions/measure-version';

/** An update of a merge request. Undefined fields keep their values. */
export interface MergeRequestUpdate {
  readonly title?: string | undefined;
  readonly description?: string | null | undefined;
  readonly targetBranch?: string | undefined;
  /** A merge has removed the previous target branch. */
  readonly isTargetRemoved?: boolean | undefined;
  readonly stateEvent?: 'close' | 'reopen' | undefined;
  readonly assigneeIds?: readonly number[] | undefined;
  readonly reviewerIds?: readonly number[] | undefined;
  readonly labels?: RequestedLabels | undefined;
  /** Null removes it. */
  readonly milestoneId?: number | null | undefined;
  readonly forceRemoveSourceBranch?: boolean | undefined;
  readonly squash?: boolean | undefined;
  readonly discussionLocked?: boolean | null | undefined;
  readonly mergeAfter?: Date | null | undefined;
  readonly allowCollaboration?: boolean | undefined;
}

/** Result of an update: the columns that change and the system notes about them. */
export interface MergeRequestChange {
  readonly columns: Partial<MergeRequest>;
  readonly notes: readonly string[];
  readonly textChanged: boolean;
  readonly state: 'closed' | 'reopened' | null;
}

/** Actor and time of a change, and the new version; null if the branches did not move. */
interface ChangeContext {
  readonly actorId: number;
  readonly at: Date;
  readonly version: MeasuredVersion | null;
  /** The source branch exists, so the merge request can be reopened. */
  readonly hasSource: boolean;
}

/**
 * Removes the fields that the caller may not set: they are ignored, not refused. Source: reference repositories 8.6.
 */
export function keepPermittedMergeRequestChanges(update: MergeRequestUpdate, mayPlan: boolean): MergeRequestUpdate {
  if (mayPlan) return update;
  const { assigneeIds: _, reviewerIds: __, labels: ___, milestoneId: ____, discussionLocked: _____, ...open } = update;
  return open;
}

/** Compares an update with the merge request. Pure. Errors: Invalid for too many people. Source: reference repositories 8.6. */
export function computeMergeRequestChange(
  mergeRequest: MergeRequest,
  update: MergeRequestUpdate,
  context: ChangeContext,
): MergeRequestChange {
  assertPeopleWithinLimit(update);
  const columns: Partial<MergeRequest> = changedColumnsWithoutNotes(mergeRequest, update, context);
  const notes: string[] = [];
  if (update.title !== undefined && update.title !== mergeRequest.title) {
    const draft = isDraftTitle(update.title);
    Object.assign(columns, { title: update.title, titleEditedById: context.actorId, draft });
    notes.push(...renderTitleNotes(mergeRequest.title, update.title));
  }
  if (update.description !== undefined && update.description !== mergeRequest.description) {
    const edited = { description: update.description, editedById: context.actorId };
    Object.assign(columns, edited, countDescriptionTasks(update.description));
    notes.push(...renderDescriptionChangeNotes(mergeRequest.description, update.description));
  }
  if (changesTargetBranch(mergeRequest, update)) {
    columns.targetBranch = update.targetBranch;
    const describe = update.isTargetRemoved ? systemNotes.targetBranchRemoved : systemNotes.targetBranch;
    notes.push(describe(mergeRequest.targetBranch, update.targetBranch));
  }
  const interruption = findAutoMergeInterruption(mergeRequest, update, context.version);
  if (interruption !== null) {
    columns.autoMergeUserId = null;
    notes.push(systemNotes.autoMergeAborted(interruption));
  }
  if (update.discussionLocked !== undefined && update.discussionLocked !== mergeRequest.discussionLocked) {
    columns.discussionLocked = update.discussionLocked;
    const isLocked = update.discussionLocked === true;
    if (isLocked !== (mergeRequest.discussionLocked === true))
      notes.push(systemNotes.locked(isLocked, mergeRequestKind.word));
  }
  const textChanged = columns.title !== undefined || columns.description !== undefined;
  const changed = applyStateEvent(mergeRequest, update, { columns, notes }, context);
  return { ...changed, columns: { ...changed.columns, ...versionColumns(context.version) }, textChanged };
}

/** Checks for a new target branch. The one of a merged request is history, and stays. */
function changesTargetBranch(
  { targetBranch, state }: MergeRequest,
  update: MergeRequestUpdate,
): update is MergeRequestUpdate & { readonly targetBranch: string } {
  return update.targetBranch !== undefined && update.targetBranch !== targetBranch && state !== 'merged';
}

/**
 * Returns why an update ends an automatic merge, or null. Its user agreed to these commits and this target. Closing ends it
 * for its own reason.
 */
function findAutoMergeInterruption(
  mergeRequest: MergeRequest,
  update: MergeRequestUpdate,
  version: MeasuredVersion | null,
): string | null {
  if (mergeRequest.autoMergeUserId === null || update.stateEvent === 'close') return null;
  if (changesTargetBranch(mergeRequest, update)) return 'target branch was changed';
  return version !== null && version.headSha !== mergeRequest.headSha ? 'source branch was updated' : null;
}

/**
 * Returns the columns to update for a new diff version. For null it returns no columns, so that all keep their values.
 */
export function versionColumns(version: MeasuredVersion | null): Partial<MergeRequest> {
  if (version === null) return {};
  const { headSha, baseSha, startSha, filesCount, commitsCount } = version;
  return { headSha, baseSha, startSha, filesCount, commitsCount, mergeStatus: 'unchecked' };
}

/** Columns whose change writes no note. */
function changedColumnsWithoutNotes(
  mergeRequest: MergeRequest,
  update: MergeRequestUpdate,
  { actorId }: ChangeContext,
): Partial<MergeRequest> {
  const { milestoneId, forceRemoveSourceBranch, squash, mergeAfter, allowCollaboration } = update;
  const collaborationGrantedById = allowCollaboration === true ? actorId : undefined;
  const wanted = { milestoneId, forceRemoveSourceBranch, squash, allowCollaboration, collaborationGrantedById };
  const changed = Object.entries(wanted).filter(
    ([name, value]) => value !== undefined && value !== mergeRequest[name as keyof typeof wanted],
  );
  const isLater = mergeAfter !== undefined && mergeAfter?.getTime() !== mergeRequest.mergeAfter?.getTime();
  return { ...(Object.fromEntries(changed) as Partial<MergeRequest>), ...(isLater ? { mergeAfter } : {}) };
}

/** Notes about a new title: one for the draft mark, one for the rest if that changed too. */
function renderTitleNotes(before: string, after: string): string[] {
  const isToggled = isDraftTitle(before) !== isDraftTitle(after);
  const marks = isToggled ? [systemNotes.draft(isDraftTitle(after))] : [];
  const isRestKept = isToggled && withoutDraftMark(before) === withoutDraftMark(after);
  return isRestKept ? marks : [...marks, systemNotes.title(before, after)];
}

function applyStateEvent(
  mergeRequest: MergeRequest,
  { stateEvent }: MergeRequestUpdate,
  { columns, notes }: { readonly columns: Partial<MergeRequest>; readonly notes: readonly string[] },
  { actorId, at, hasSource }: ChangeContext,
): Omit<MergeRequestChange, 'textChanged'> {
  if (stateEvent === 'close' && mergeRequest.state === 'opened') {
    const closed = { state: 'closed', closedAt: at, closedById: actorId, autoMergeUserId: null } as const;
    const aborted =
      mergeRequest.autoMergeUserId === null ? [] : [systemNotes.autoMergeAborted('merge request was closed')];
    return {
      columns: { ...columns, ...closed },
      notes: [...notes, ...aborted, systemNotes.closed],
      state: 'closed',
    };
  }
  if (stateEvent === 'reopen' && mergeRequest.state === 'closed' && hasSource) {
    const opened = { state: 'opened', closedAt: null, closedById: null } as const;
    const unchecked = { mergeStatus: 'unchecked', isConflicting: false } as const;
    return {
      columns: { ...columns, ...opened, ...unchecked },
      notes: [...notes, systemNotes.reopened],
      state: 'reopened',
    };
  }
  return { columns, notes, state: null };
}

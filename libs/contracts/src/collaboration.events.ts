import { defineEvent } from './event';
import type { DomainEvent, EventDefinition, DirectoryPosition } from './event';
import { bool, choice, instant, int, list, nullable, object, optional, text } from './schema';
import type { Schema } from './schema';

/** Noteable types by the words that parameters use. Source: reference work-tracking 2.2. */
export const NOTEABLE_TYPE_OF = {
  issue: 'Issue',
  merge_request: 'MergeRequest',
  snippet: 'Snippet',
  commit: 'Commit',
  epic: 'Epic',
} as const;
export type NoteableType = (typeof NOTEABLE_TYPE_OF)[keyof typeof NOTEABLE_TYPE_OF];
export const NOTEABLE_TYPES: readonly NoteableType[] = Object.values(NOTEABLE_TYPE_OF);

/**
 * Fields of every event on a noteable, whatever its kind; the envelope names the noteable. For noteables of groups
 * `project_id` is null and `group_id` is set.
 */
const noteable = {
  project_id: nullable(int),
  group_id: optional(int),
  author_id: int,
  confidential: bool,
  created_at: instant,
};
/** Steps of a noteable that change none of its own fields. Source: reference work-tracking 8.4. */
export const NOTEABLE_STEPS = ['pushed', 'ready', 'auto_merge_set', 'conflicting', 'threads_resolved'] as const;
export type NoteableStep = (typeof NOTEABLE_STEPS)[number];

const SHAPES = {
  created: {
    ...noteable,
    assignee_ids: list(int),
    reviewer_ids: optional(list(int)),
    label_ids: optional(list(int)),
  },
  updated: {
    ...noteable,
    text_changed: bool,
    mentioned_before: list(int),
    added_assignee_ids: list(int),
    removed_assignee_ids: list(int),
    added_reviewer_ids: optional(list(int)),
    removed_reviewer_ids: optional(list(int)),
    added_label_ids: optional(list(int)),
    removed_label_ids: optional(list(int)),
    milestone_id: optional(nullable(int)),
    changed_at: instant,
  },
  closed: { ...noteable, closed_at: instant, moved: optional(bool) },
  reopened: { ...noteable, reopened_at: instant },
  merged: { ...noteable, merged_at: instant, automatic: optional(bool) },
  approved: { ...noteable, approved_at: instant },
  unapproved: { ...noteable, unapproved_at: instant },
  moved: { ...noteable, became_id: int, is_clone: bool, moved_at: instant },
  progressed: {
    ...noteable,
    step: choice(...NOTEABLE_STEPS),
    user_ids: optional(list(int)),
    commit_count: optional(int),
    progressed_at: instant,
  },
} as const;
const GONE = { project_id: nullable(int), group_id: optional(int) } as const;
type NoteableEventShapes = typeof SHAPES;
type NoteableEventVerb = keyof NoteableEventShapes;
type ObjectSchemaOf<F> = { readonly kind: 'object'; readonly fields: F };

/** An event on a noteable of any kind, as handlers that serve all kinds receive it. */
export type NoteableEvent<V extends NoteableEventVerb> = EventDefinition<ObjectSchemaOf<NoteableEventShapes[V]>>;
export type NoteableDeleted = EventDefinition<ObjectSchemaOf<typeof GONE>>;

/** A deleted noteable. Only kinds that are opened and closed have `state`. */
export interface DeletedNoteable {
  readonly id: number;
  readonly iid: number | null;
  /** Null for noteables of groups, which have `group_id`. */
  readonly project_id: number | null;
  readonly group_id?: number;
  readonly state?: string;
}

/** Facts of a noteable that its events repeat. */
export interface NoteableFacts {
  readonly id: number;
  readonly iid: number;
  readonly project_id: number;
  readonly author_id: number;
  readonly created_at: Date;
}

/** A step of a noteable. Notifies only the users in `userIds`, or all participants if it is absent. */
export interface NoteableProgress {
  readonly step: NoteableStep;
  readonly actorId: number;
  readonly seen?: DirectoryPosition | undefined;
  readonly at: Date;
  readonly userIds?: readonly number[];
  /** Commits that a push brought. */
  readonly commitCount?: number;
}

/**
 * The events of one kind. A kind that is never closed omits `closed` and `reopened`. A kind that announces only its
 * deletion has `deleted` alone. A kind that is removed only with its project has no events.
 */
export interface NoteableEvents {
  readonly created?: NoteableEvent<'created'>;
  readonly updated?: NoteableEvent<'updated'>;
  readonly closed?: NoteableEvent<'closed'>;
  readonly reopened?: NoteableEvent<'reopened'>;
  readonly merged?: NoteableEvent<'merged'>;
  readonly approved?: NoteableEvent<'approved'>;
  readonly unapproved?: NoteableEvent<'unapproved'>;
  readonly moved?: NoteableEvent<'moved'>;
  readonly progressed?: NoteableEvent<'progressed'>;
  readonly deleted?: NoteableDeleted;
  deletedOf?(gone: DeletedNoteable, actorId: number | null, seen?: DirectoryPosition): DomainEvent;
  progressedOf?(facts: NoteableFacts, progress: NoteableProgress): DomainEvent;
}

/**
 * Declares the events of one noteable kind. All kinds share one form, so that one handler serves them all. Payloads
 * begin with `<noun>_id` and `<noun>_iid`. `a` is the noun with its article.
 */
export function defineNoteableEvents<const N extends string, I extends Schema>(
  noun: N,
  { a, iid, states }: { readonly a: string; readonly iid: I; readonly states: readonly string[] },
) {
  type Ids = { readonly [K in `${N}_id`]: typeof int } & { readonly [K in `${N}_iid`]: I };
  const ids = { [`${noun}_id`]: int, [`${noun}_iid`]: iid } as Ids;
  const A = `${a[0]!.toUpperCase()}${a.slice(1)}`;
  const closedA = a.replace(/^an? /, 'A closed ');
  const deleted = defineEvent(
    `collaboration.${noun}.deleted.v1`,
    `${A} was deleted; references to it must be removed. \`state\` is its last state.`,
    object({ ...ids, ...GONE, state: optional(choice(...states)) }),
  );
  return {
    created: defineEvent(`collaboration.${noun}.created.v1`, `${A} was opened.`, object({ ...ids, ...SHAPES.created })),
    updated: defineEvent(
      `collaboration.${noun}.updated.v1`,
      `Fields of ${a} changed. \`text_changed\` asks consumers to look for users newly mentioned in title or description; \`mentioned_before\` are the users who were mentioned already. \`milestone_id\` is there if the milestone changed, null if it was removed.`,
      object({ ...ids, ...SHAPES.updated }),
    ),
    closed: defineEvent(
      `collaboration.${noun}.closed.v1`,
      `${A} was closed; \`moved\` when it was closed because it moved to another project.`,
      object({ ...ids, ...SHAPES.closed }),
    ),
    reopened: defineEvent(
      `collaboration.${noun}.reopened.v1`,
      `${closedA} was opened again.`,
      object({ ...ids, ...SHAPES.reopened }),
    ),
    deleted,
    deletedOf(
      { id, iid: number, ...rest }: DeletedNoteable,
      actorId: number | null,
      seen?: DirectoryPosition,
    ): DomainEvent {
      const data = { [`${noun}_id`]: id, [`${noun}_iid`]: number, ...rest };
      return { definition: deleted, aggregateId: id, actorId, seen, data };
    },
  };
}

export const issueMoved = defineEvent(
  'collaboration.issue.moved.v1',
  'An issue was moved or cloned to another project, where it is `became_id`; after a clone the original stays open.',
  object({ issue_id: int, issue_iid: int, ...SHAPES.moved }),
);
export const issueEvents = {
  ...defineNoteableEvents('issue', { a: 'an issue', iid: int, states: ['opened', 'closed'] }),
  moved: issueMoved,
};
export const {
  created: issueCreated,
  updated: issueUpdated,
  closed: issueClosed,
  reopened: issueReopened,
  deleted: issueDeleted,
} = issueEvents;

export const snippetDeleted = defineEvent(
  'collaboration.snippet.deleted.v1',
  'A snippet of a project was deleted; references to it must be removed. Personal snippets have no such event.',
  object({ snippet_id: int, snippet_iid: nullable(int), ...GONE }),
);
/** Snippets announce only their deletion; other events about a snippet are events of its notes. */
export const snippetEvents = {
  deleted: snippetDeleted,
  deletedOf({ id, project_id }, actorId, seen) {
    const data = { snippet_id: id, snippet_iid: null, project_id };
    return { definition: snippetDeleted, aggregateId: id, actorId, seen, data };
  },
} satisfies NoteableEvents;
export const epicEvents = defineNoteableEvents('epic', { a: 'an epic', iid: int, states: ['opened', 'closed'] });
export const {
  created: epicCreated,
  updated: epicUpdated,
  closed: epicClosed,
  reopened: epicReopened,
  deleted: epicDeleted,
} = epicEvents;

export const mergeRequestMerged = defineEvent(
  'collaboration.merge_request.merged.v1',
  'A merge request was merged, by the API or by a push of its commits to the target branch; `automatic` if its automatic merge did it.',
  object({ merge_request_id: int, merge_request_iid: int, ...SHAPES.merged }),
);
export const mergeRequestApproved = defineEvent(
  'collaboration.merge_request.approved.v1',
  'A user approved a merge request.',
  object({ merge_request_id: int, merge_request_iid: int, ...SHAPES.approved }),
);
export const mergeRequestUnapproved = defineEvent(
  'collaboration.merge_request.unapproved.v1',
  'A user withdrew the approval of a merge request. Approvals that a push or a bot resets are not announced.',
  object({ merge_request_id: int, merge_request_iid: int, ...SHAPES.unapproved }),
);
export const mergeRequestApprovalRequested = defineEvent(
  'collaboration.merge_request.approval_requested.v1',
  'Users became approvers of a merge request: rules for its approval name them from now on.',
  object({
    merge_request_id: int,
    merge_request_iid: int,
    ...noteable,
    approver_ids: list(int),
    requested_at: instant,
  }),
);
export const mergeRequestProgressed = defineEvent(
  'collaboration.merge_request.progressed.v1',
  'A merge request took a step that changes none of its fields: `pushed` (new commits of its source branch), `ready` (no draft any more), `auto_merge_set`, `conflicting` (conflicts were found) or `threads_resolved` (all of them). Only `user_ids` are notified, or without them all participants.',
  object({ merge_request_id: int, merge_request_iid: int, ...SHAPES.progressed }),
);
export const mergeRequestEvents = {
  ...defineNoteableEvents('merge_request', {
    a: 'a merge request',
    iid: int,
    states: ['opened', 'closed', 'merged', 'locked'],
  }),
  merged: mergeRequestMerged,
  approved: mergeRequestApproved,
  unapproved: mergeRequestUnapproved,
  progressed: mergeRequestProgressed,
  progressedOf({ id, iid, created_at: createdAt, ...facts }: NoteableFacts, progress: NoteableProgress): DomainEvent {
    const { step, actorId, seen, at, userIds, commitCount } = progress;
    return mergeRequestProgressed.of({
      ...{ aggregateId: id, actorId, ...(seen && { seen }) },
      data: {
        ...{ merge_request_id: id, merge_request_iid: iid, ...facts, confidential: false },
        ...{ created_at: createdAt.toISOString(), step, progressed_at: at.toISOString() },
        ...(userIds && { user_ids: [...userIds] }),
        ...(commitCount === undefined ? {} : { commit_count: commitCount }),
      },
    });
  },
};
export const {
  created: mergeRequestCreated,
  updated: mergeRequestUpdated,
  closed: mergeRequestClosed,
  reopened: mergeRequestReopened,
  deleted: mergeRequestDeleted,
} = mergeRequestEvents;

const note = {
  note_id: int,
  noteable_type: choice(...NOTEABLE_TYPES),
  noteable_id: nullable(int),
  noteable_iid: nullable(int),
  project_id: nullable(int),
  group_id: nullable(int),
  author_id: int,
  internal: bool,
};

export const noteCreated = defineEvent(
  'collaboration.note.created.v1',
  'A user wrote a note. System notes are not announced. `thread_id` is set for an answer in a thread: the first note of that thread.',
  object({ ...note, thread_id: optional(int), created_at: instant }),
);

export const noteUpdated = defineEvent(
  'collaboration.note.updated.v1',
  'The text of a note changed; `mentioned_before` are the users who were mentioned already.',
  object({ ...note, mentioned_before: list(int), changed_at: instant }),
);

export const noteDeleted = defineEvent(
  'collaboration.note.deleted.v1',
  'A note was deleted; to-dos and feed entries that refer to it must be removed.',
  object(note),
);

export const textWritten = defineEvent(
  'collaboration.text.written.v1',
  'A text that may contain references was written or changed: a note, or (without `note_id`) title and description. Internal notes and copied texts are not announced.',
  object({
    noteable_type: choice(...NOTEABLE_TYPES),
    noteable_id: int,
    note_id: nullable(int),
    author_id: int,
    written_at: instant,
  }),
);

export const awardEmojiCreated = defineEvent(
  'collaboration.award_emoji.created.v1',
  'A user awarded an emoji to a noteable or to a note on it.',
  object({
    award_emoji_id: int,
    noteable_type: choice(...NOTEABLE_TYPES),
    noteable_id: int,
    note_id: nullable(int),
    project_id: nullable(int),
    group_id: nullable(int),
    author_id: int,
    created_at: instant,
  }),
);

const milestone = { milestone_id: int, milestone_iid: int, project_id: nullable(int), group_id: nullable(int) };

export const milestoneCreated = defineEvent(
  'collaboration.milestone.created.v1',
  'A milestone was added to a project or group.',
  object({ ...milestone, created_at: instant }),
);

export const milestoneStateChanged = defineEvent(
  'collaboration.milestone.state_changed.v1',
  'A milestone was closed or opened again.',
  object({ ...milestone, state: choice('active', 'closed'), changed_at: instant }),
);

export const milestoneDeleted = defineEvent(
  'collaboration.milestone.deleted.v1',
  'A milestone was deleted by a user. Milestones of deleted projects and groups are not announced.',
  object(milestone),
);

export const milestoneMerged = defineEvent(
  'collaboration.milestone.merged.v1',
  'A promotion merged a milestone into the milestone of a group that has the same title. `target_id` is the one that remains.',
  object({ ...milestone, target_id: int }),
);

export const releaseCreated = defineEvent(
  'collaboration.release.created.v1',
  'A release of a project was created. Releases of imports are not announced.',
  object({ release_id: int, project_id: int, author_id: int, created_at: instant }),
);

export const collaborationStorageMeasured = defineEvent(
  'collaboration.project_storage.measured.v1',
  'The size of a project was measured: bytes, and commits of the default branch. Whole values; the newest measurement counts.',
  object({
    project_id: int,
    repository_size: int,
    wiki_size: int,
    lfs_objects_size: int,
    snippets_size: int,
    uploads_size: int,
    commit_count: int,
    measured_at: instant,
  }),
);

export const projectIssuesCounted = defineEvent(
  'collaboration.project_issues.counted.v1',
  'The number of open issues of a project, and how many of these are visible to every user who sees its issues. Whole values; the newest count counts.',
  object({ project_id: int, open_issues_count: int, open_public_issues_count: int, counted_at: instant }),
);

export const pushCompleted = defineEvent(
  'collaboration.push.completed.v1',
  'Refs of a repository moved. `default_branch` is the branch of `HEAD` after the push, null while the repository has none. `default_branch_changed` is true if the push made it the default branch in place of one that does not exist. The refs themselves are rows of the service.',
  object({
    push_id: int,
    project_id: int,
    user_id: nullable(int),
    default_branch: nullable(text),
    default_branch_changed: bool,
    pushed_at: instant,
  }),
);

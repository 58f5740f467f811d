import { defineEvent } from './event';
import { bool, choice, instant, int, list, nullable, object, optional } from './schema';

const issue = {
  issue_id: int,
  issue_iid: int,
  project_id: int,
  author_id: int,
  confidential: bool,
  created_at: instant,
};

export const issueCreated = defineEvent(
  'collaboration.issue.created.v1',
  'An issue was opened.',
  object({ ...issue, assignee_ids: list(int) }),
);

export const issueUpdated = defineEvent(
  'collaboration.issue.updated.v1',
  'Fields of an issue changed. `text_changed` asks consumers to look for people newly mentioned in title or description; `mentioned_before` are those who were named already.',
  object({
    ...issue,
    text_changed: bool,
    mentioned_before: list(int),
    added_assignee_ids: list(int),
    removed_assignee_ids: list(int),
    changed_at: instant,
  }),
);

export const issueClosed = defineEvent(
  'collaboration.issue.closed.v1',
  'An issue was closed.',
  object({ ...issue, closed_at: instant }),
);

export const issueReopened = defineEvent(
  'collaboration.issue.reopened.v1',
  'A closed issue was opened again.',
  object({ ...issue, reopened_at: instant }),
);

export const issueDeleted = defineEvent(
  'collaboration.issue.deleted.v1',
  'An issue was deleted; what pointed at it must go. `state` is the one it had.',
  object({ issue_id: int, issue_iid: int, project_id: int, state: optional(choice('opened', 'closed')) }),
);

/** Kinds of things that can be talked about. Source: reference work-tracking 2.2. */
export const NOTEABLE_TYPES = ['Issue', 'MergeRequest', 'Snippet', 'Commit', 'Epic'] as const;
export type NoteableType = (typeof NOTEABLE_TYPES)[number];

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
  'Somebody wrote a note. System notes are not announced.',
  object({ ...note, created_at: instant }),
);

export const noteUpdated = defineEvent(
  'collaboration.note.updated.v1',
  'The text of a note changed; `mentioned_before` are the people who were named already.',
  object({ ...note, mentioned_before: list(int), changed_at: instant }),
);

export const noteDeleted = defineEvent(
  'collaboration.note.deleted.v1',
  'A note was deleted; to-dos and feed entries that point at it must go.',
  object(note),
);

export const collaborationStorageMeasured = defineEvent(
  'collaboration.project_storage.measured.v1',
  'What a project holds was measured: bytes, and commits of the default branch. Whole values; the newest measurement counts.',
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

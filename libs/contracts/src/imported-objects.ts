import { bool, choice, instant, int, list, nullable, object, optional, text } from './schema';
import type { Infer } from './schema';

/**
 * Objects that an import brings into a project, by kind, in the order of the stages. Each value describes one object as
 * it is sent.
 */
export const IMPORTED_OBJECTS = {
  /** `color` has the form `#rrggbb`. */
  label: object({ name: text, color: text, description: nullable(text) }),
  /** `due_on` has the form `YYYY-MM-DD`. */
  milestone: object({
    number: int,
    title: text,
    description: nullable(text),
    state: choice('active', 'closed'),
    due_on: nullable(text),
    created_at: instant,
    updated_at: instant,
  }),
  /** A release of a tag that was pushed. `id` is the upstream id. */
  release: object({
    id: int,
    tag: text,
    name: nullable(text),
    description: nullable(text),
    author_id: int,
    created_at: instant,
    released_at: instant,
  }),
  /** An issue refers to labels by their names and to the milestone by its upstream number. */
  issue: object({
    number: int,
    author_id: int,
    title: text,
    description: nullable(text),
    state: choice('opened', 'closed'),
    is_locked: bool,
    created_at: instant,
    updated_at: instant,
    closed_at: nullable(instant),
    assignee_ids: list(int),
    labels: list(text),
    milestone: nullable(int),
  }),
  /**
   * A merge request whose head was pushed as `refs/imports/<number>`. It refers to labels by their names and to the
   * milestone by its upstream number. The host compares the commits `head_sha` and `base_sha`. `is_foreign` is true if
   * the source branch is in another repository.
   */
  merge_request: object({
    number: int,
    author_id: int,
    title: text,
    description: nullable(text),
    state: choice('opened', 'closed', 'merged'),
    is_locked: bool,
    source_branch: text,
    target_branch: text,
    is_foreign: bool,
    source_owner: text,
    head_sha: text,
    base_sha: text,
    merge_commit_sha: nullable(text),
    merged_by_id: nullable(int),
    created_at: instant,
    updated_at: instant,
    closed_at: nullable(instant),
    merged_at: nullable(instant),
    assignee_ids: list(int),
    reviewer_ids: list(int),
    labels: list(text),
    milestone: nullable(int),
  }),
  /** A review of a merge request, in the order of their times. */
  review: object({
    id: int,
    merge_request: int,
    author_id: int,
    state: choice('approved', 'changes_requested', 'commented', 'dismissed'),
    body: nullable(text),
    created_at: instant,
  }),
  /**
   * A comment on a line of a merge request, or on a file if `line` is null. Lines are counted in the commit
   * `commit_id`, on the old or the new side. `start_line` begins a range that ends at `line`. `reply_to` is the
   * upstream id of the first comment of the thread.
   */
  diff_note: object({
    id: int,
    merge_request: int,
    author_id: int,
    body: text,
    path: text,
    side: choice('old', 'new'),
    line: nullable(int),
    start_line: nullable(int),
    commit_id: text,
    reply_to: nullable(int),
    created_at: instant,
    updated_at: instant,
  }),
  /**
   * A change of an issue or a merge request. `id` is the upstream id; one of `issue` and `merge_request` is an upstream
   * number, the other one null. `name` is the label, the title of the milestone, the new title, the username, or a
   * reference such as `#5` and `!5` to the object that mentions this one; `before` is the former title.
   */
  issue_event: object({
    id: int,
    issue: nullable(int),
    merge_request: nullable(int),
    author_id: int,
    change: choice(
      'closed',
      'reopened',
      'merged',
      'label_added',
      'label_removed',
      'milestone_added',
      'milestone_removed',
      'renamed',
      'assigned',
      'unassigned',
      'review_requested',
      'review_request_removed',
      'mentioned',
    ),
    name: nullable(text),
    before: nullable(text),
    created_at: instant,
  }),
  /**
   * A comment on an issue or a merge request. `id` is the upstream id; one of `issue` and `merge_request` is an
   * upstream number, the other one null.
   */
  note: object({
    id: int,
    issue: nullable(int),
    merge_request: optional(nullable(int)),
    author_id: int,
    body: text,
    created_at: instant,
    updated_at: instant,
  }),
  protected_branch: object({ name: text, allows_force_push: bool, needs_merge_request: bool }),
} as const;

export type ImportedKind = keyof typeof IMPORTED_OBJECTS;
export const IMPORTED_KINDS = Object.keys(IMPORTED_OBJECTS) as ImportedKind[];
export type ImportedObject<K extends ImportedKind> = Infer<(typeof IMPORTED_OBJECTS)[K]>;

/**
 * Maximum numbers of objects in one request. It is lower for merge requests and comments on lines, which need slow
 * comparisons by git.
 */
const MAX_IMPORTED_OBJECTS = 100;
const MAX_MEASURED_OBJECTS = 10;
const MEASURED: ReadonlySet<ImportedKind> = new Set(['merge_request', 'diff_note']);

/** Returns the largest number of objects of a kind in one request. */
export function maxObjectsPerRequest(kind: ImportedKind): number {
  return MEASURED.has(kind) ? MAX_MEASURED_OBJECTS : MAX_IMPORTED_OBJECTS;
}
export const MAX_IMPORTED_PEOPLE = 500;

/**
 * POST importObjects, answered by collaboration: writes objects of one kind in one transaction. Objects that the project
 * has from the same upstream object already stay as they are.
 */
export interface ImportObjectsRequest<K extends ImportedKind = ImportedKind> {
  readonly project_id: number;
  readonly import_type: string;
  readonly kind: K;
  readonly objects: readonly ImportedObject<K>[];
}

/** An object that was not written. `index` is its place in the request. */
export interface UnimportedObject {
  readonly index: number;
  readonly message: string;
}

export interface ImportObjectsAnswer {
  readonly failed: readonly UnimportedObject[];
}

/** An author upstream. `id` is the upstream id, or null for a deleted user. */
export interface UpstreamPerson {
  readonly id: number | null;
  readonly username: string;
}

/** POST importPeople, answered by identity: the accounts that own the objects of upstream users. */
export interface ImportPeopleRequest {
  readonly import_key: string;
  /** Host of the upstream service. */
  readonly host: string;
  readonly people: readonly UpstreamPerson[];
}

/** The account that owns the objects of an upstream user. */
export interface ImportedOwner {
  readonly user_id: number;
  /** Whether it owns the objects of several people, so that texts must name their authors. */
  readonly is_shared: boolean;
}

/** `owners` has one owner for each person, in the same order. It is null if the import is unknown. */
export interface ImportPeopleAnswer {
  readonly owners: readonly ImportedOwner[] | null;
}

/**
 * Whether a text of a JSON value contains the character NUL, which PostgreSQL cannot store. The six characters of its
 * escape sequence in a text are none.
 */
export function hasNulCharacter(value: object): boolean {
  return /(?<!\\)(?:\\\\)*\\u0000/.test(JSON.stringify(value));
}

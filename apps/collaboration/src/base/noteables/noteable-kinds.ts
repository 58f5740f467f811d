import { EventFamily } from '@rookery/contracts';
import type { NoteableDeleted, NoteableEvent, NoteableEvents, NoteableType } from '@rookery/contracts';
import type { AttachedTable } from '@rookery/persistence';
import { groupAccessRowSql, projectAccessRowSql, readsCodeSql } from './access-sql';
import type { PersonSql } from './access-sql';
import type { JsonShape } from './json.shape';
import { webPathSql } from './references.shape';
import type { ReferenceFormat } from './references.shape';

/** SQL expressions that a visibility rule is built from: parameters such as `$3`, or columns of a longer list. */
export interface ReaderSql {
  /** User id, null for an anonymous caller. */
  readonly viewer: string;
  readonly isMember: string;
  readonly readsConfidential: string;
}

/** SQL expressions and settings that the JSON of a noteable needs in addition to its row and its reader. */
export interface NoteableJsonSql {
  readonly externalUrl: string;
  /** Full path of its project, a text expression. */
  readonly fullPath: string;
  /** Ids of its project's ancestor groups, a bigint[] expression: labels and milestones of other groups are not shown. */
  readonly above: string;
  /** Whether internal notes count for the reader. */
  readonly readsInternal: string;
  /** Whether labels are objects instead of names. */
  readonly withLabelDetails?: boolean;
  /** Its project's path relative to the requested project or group, a text expression; absent if it is the requested one. */
  readonly seenAs?: string;
}
/** `viewer` is an SQL expression for the user id, which may be null. */
export type NoteableDetailSql = NoteableJsonSql & { readonly viewer: string };
/** Adds the person: rows that a noteable refers to, such as an issue's epic, are shown only if this person may see them. */
export interface PersonalJsonSql extends NoteableJsonSql {
  readonly person: PersonSql;
}
export type PersonalDetailSql = PersonalJsonSql & { readonly viewer: string };

/** Parts of a project that can be disabled or limited to members. */
export type ProjectFeature = 'issues' | 'merge_requests' | 'snippets';
/** The feature that a kind depends on: a part of its project, its code, or a part of its group's plan. */
export type Feature = ProjectFeature | 'code' | 'epics';

/** Operations that a kind supports in addition to plain notes. Source: reference work-tracking 2.1. */
export type Ability =
  | 'internal-notes'
  | 'threads'
  | 'diff-threads'
  | 'suggestions'
  | 'awards'
  | 'time'
  | 'todos'
  | 'marking'
  | 'subscriptions'
  | 'labels'
  | 'milestones';

/** SQL for the assignees or the reviewers of a kind. */
export interface AssigneesOfKind {
  /** Subquery for the people of one noteable, with the column `user_id`. `id` is an SQL expression. */
  ofSql(id: string): string;
  /** Subquery for the open noteables of a user. It has the column `project_id`, and one row per noteable. */
  openSql(user: string): string;
}

/**
 * Declaration of a noteable kind, made in the wing of the kind and collected by the service's module. Notes, to-dos,
 * feeds, e-mails and removal handle every kind by its declaration.
 * The table has the columns id, project_id (group_id for noteables of groups), author_id (null for a commit whose
 * author has no account), title, description, discussion_locked, created_at, updated_at, public_notes_count,
 * internal_notes_count and system_notes_count. It has the column iid if `shownId` is `iid`. Some abilities require
 * further columns: `awards` requires upvotes_count and downvotes_count, `milestones` requires milestone_id, and `time`
 * requires time_estimate and total_time_spent.
 * Source: reference work-tracking 2.1, 2.4.
 */
export interface NoteableKind extends ReferenceFormat {
  readonly type: NoteableType;
  /** Noun in the names of events, e-mails and their threads: `issue`, `merge_request`. */
  readonly noun: string;
  /** Noun in sentences: `issue`, `merge request`. */
  readonly word: string;
  /** Name in error answers: "404 Issue Not Found". Undefined means "404 Not found". */
  readonly resource: string | undefined;
  readonly table: string;
  /**
   * First words of the statements with which other wings write the table, such as `update issues i set` and
   * `delete from issues i`. Other wings count notes, and remove noteables with their project or author. Declaring the
   * words here keeps the table's owner visible.
   */
  readonly writes: { readonly update: string; readonly remove: string };
  readonly parent: 'project' | 'group';
  readonly feature: Feature;
  /** A boolean column, or null if noteables of the kind are never confidential. */
  readonly confidentialColumn: string | null;
  /** Text column, or null if noteables of the kind are never closed. */
  readonly stateColumn: string | null;
  /** Date column; absent for kinds without e-mails on the day before they are due. */
  readonly dueColumn?: string;
  /**
   * Whether the table has the columns `title_edited_by_id` and `edited_by_id` (of the description). False for kinds
   * whose texts never mention users.
   */
  readonly hasEditorColumns: boolean;
  readonly abilities: readonly Ability[];
  /** Whether an update of a note may send only the deprecated `confidential`, which has no effect. */
  readonly allowsConfidentialOnlyNoteUpdate?: true;
  readonly events: NoteableEvents;
  /** Boolean SQL: may the reader see the row `i`? */
  visibleSql(reader: ReaderSql): string;
  readonly assignees: AssigneesOfKind | null;
  /** Users who are asked to review; absent for kinds without reviews. */
  readonly reviewers?: AssigneesOfKind;
  /** JSON of a noteable in lists, over the row `i`. */
  readonly listed: JsonShape<PersonalJsonSql>;
  /** SQL expression over `i` for the size of its texts in `listed`; never null. Units: bytes. */
  readonly listedBytes: string;
  /** JSON of a noteable on its own route. */
  readonly detailed: JsonShape<PersonalDetailSql>;
  /** Removal rules of the kind's tables, including `table`, for when a parent or user is removed. */
  readonly attached: readonly AttachedTable<NoteableKinds>[];
}

/** Event families that every noteable kind publishes. */
export const noteables = {
  created: new EventFamily<NoteableEvent<'created'>>('noteables created'),
  updated: new EventFamily<NoteableEvent<'updated'>>('noteables updated'),
  closed: new EventFamily<NoteableEvent<'closed'>>('noteables closed'),
  reopened: new EventFamily<NoteableEvent<'reopened'>>('noteables reopened'),
  merged: new EventFamily<NoteableEvent<'merged'>>('noteables merged'),
  approved: new EventFamily<NoteableEvent<'approved'>>('noteables approved'),
  unapproved: new EventFamily<NoteableEvent<'unapproved'>>('noteables unapproved'),
  moved: new EventFamily<NoteableEvent<'moved'>>('noteables moved'),
  progressed: new EventFamily<NoteableEvent<'progressed'>>('noteables progressed'),
  deleted: new EventFamily<NoteableDeleted>('noteables deleted'),
};

/** The noteable kinds of this service, collected by its module. */
export class NoteableKinds {
  constructor(readonly all: readonly NoteableKind[]) {
    if (new Set(all.map((kind) => kind.type)).size < all.length) throw new Error('two noteable kinds have one type');
  }

  /** Kinds that belong to projects; feeds and counts of projects cover these only. */
  get ofProjects(): readonly NoteableKind[] {
    return this.all.filter((kind) => kind.parent === 'project');
  }

  get ofGroups(): readonly NoteableKind[] {
    return this.all.filter((kind) => kind.parent === 'group');
  }

  withAbility(ability: Ability): readonly NoteableKind[] {
    return this.all.filter((kind) => kind.abilities.includes(ability));
  }

  /** Returns the kind of a noteable type. Returns undefined for an undeclared type. */
  kindOfType(type: string): NoteableKind | undefined {
    return this.all.find((kind) => kind.type === type);
  }

  /** The kind of a batch of events; all events of a batch are of one kind. Errors: a plain Error if it is not declared. */
  ofEvents(events: readonly { readonly aggregateType: string }[]): NoteableKind {
    const kind = this.all.find(({ noun }) => noun === events[0]?.aggregateType);
    if (!kind) throw new Error(`no noteable kind has the noun ${String(events[0]?.aggregateType)}`);
    return kind;
  }
}

/** The column that holds the parent of the row `i`. */
export function parentIdColumnSql({ parent }: Pick<NoteableKind, 'parent'>): string {
  return parent === 'project' ? 'i.project_id' : 'i.group_id';
}

/** The project of the row `i`, null for noteables of groups. */
export function projectIdSql({ parent }: Pick<NoteableKind, 'parent'>): string {
  return parent === 'project' ? 'i.project_id' : 'null::bigint';
}

/** The group of the row `i`, null for noteables of projects. */
export function groupIdSql({ parent }: Pick<NoteableKind, 'parent'>): string {
  return parent === 'group' ? 'i.group_id' : 'null::bigint';
}

/** Text expression over the row `i` for the web path of a noteable below the base URL: `groups/group/-/epics/7`. */
export function noteablePagePathSql(
  kind: Pick<NoteableKind, 'parent' | keyof ReferenceFormat>,
  fullPath: string,
): string {
  const path = webPathSql(kind, fullPath);
  return kind.parent === 'group' ? `'groups/' || ${path}` : path;
}

/** Lateral subquery for a person's access to the parent of the row `i`: `projectAccessRowSql` or `groupAccessRowSql`. */
export function parentAccessSql(kind: Pick<NoteableKind, 'parent'>, person: PersonSql): string {
  return kind.parent === 'project'
    ? projectAccessRowSql('i.project_id', person)
    : groupAccessRowSql('i.group_id', person);
}

/** Caches one value, usually a statement, for each kind; it is made on first use. */
export function cachePerNoteableKind<T, K extends object = NoteableKind>(make: (kind: K) => T): (kind: K) => T {
  const made = new Map<K, T>();
  return (kind) => {
    if (!made.has(kind)) made.set(kind, make(kind));
    return made.get(kind)!;
  };
}

/** Groups rows by their kind; rows of undeclared kinds are left out. */
export function groupedByKind<R>(
  kinds: NoteableKinds,
  rows: readonly R[],
  typeOf: (row: R) => string,
): ReadonlyMap<NoteableKind, readonly R[]> {
  const groups = new Map<NoteableKind, R[]>();
  for (const row of rows) {
    const kind = kinds.kindOfType(typeOf(row));
    if (kind) groups.set(kind, [...(groups.get(kind) ?? []), row]);
  }
  return groups;
}

/**
 * Lateral FROM item with the noteable that `type` and `id` identify, whatever its kind; no row if it does not exist.
 * `columns` returns a select list over the alias `i` of the kind's table, with the same columns for each kind. With one
 * kind, the planner turns it into a plain join; each further kind costs one index lookup.
 */
export function noteableOfAnyKindSql<K extends { readonly type: string; readonly table: string }>(
  kinds: readonly K[],
  on: { readonly type: string; readonly id: string },
  columns: (kind: K) => string,
): string {
  const parts = kinds.map(
    (kind) => `select ${columns(kind)} from ${kind.table} i where i.id = ${on.id} and ${on.type} = '${kind.type}'`,
  );
  return `(${parts.join(' union all ')})`;
}

/** The parts of a kind that decide who reads its rows. */
export type ReadableKind = Pick<NoteableKind, 'parent' | 'feature' | 'visibleSql'>;

/** Boolean SQL: does a person see the row `i`? `access` is the alias of an `parentAccessSql` subquery. */
export function canReadNoteableRowSql(kind: ReadableKind, access: string, viewer: string): string {
  const readsFeature = canReadKindFeatureSql(kind, access, parentIdColumnSql(kind));
  return `${readsFeature} and ${kind.visibleSql(toReaderSql(access, viewer))}`;
}

/**
 * Boolean SQL: does the access show the feature of a kind? `parent` is an SQL expression for the id of the project or
 * group.
 */
function canReadKindFeatureSql({ feature }: Pick<NoteableKind, 'feature'>, access: string, parent: string): string {
  return feature === 'code' ? readsCodeSql(parent, access) : `${access}.reads_${feature}`;
}

/** Boolean SQL: does a person see the noteable that `type` and `id` identify? False for deleted noteables. */
export function canReadNoteableByIdSql(
  kinds: readonly NoteableKind[],
  on: { readonly type: string; readonly id: string },
  person: PersonSql,
): string {
  const cases = kinds.map(
    (kind) => `when '${kind.type}' then exists (select 1 from ${kind.table} i
      cross join lateral ${parentAccessSql(kind, person)} seen_there
      where i.id = ${on.id} and ${canReadNoteableRowSql(kind, 'seen_there', person.user)})`,
  );
  return cases.length === 0 ? 'false' : `case ${on.type} ${cases.join(' ')} else false end`;
}

/** Boolean SQL: does the access show every noteable of these kinds, with every note? */
export function canReadAllNoteablesSql(kinds: readonly NoteableKind[], access: string): string {
  const features = [
    ...new Set(kinds.map((kind) => canReadKindFeatureSql(kind, access, `${access}.${kind.parent}_id`))),
  ];
  return `${features.join(' and ')} and ${access}.reads_internal`;
}

/**
 * Sources of a noteable's JSON, from a row that also has the columns of `parentAccessSql`. `row` is the alias of that row.
 */
export function createNoteableJsonSql(row: string, externalUrl: string, person: PersonSql): PersonalJsonSql {
  return {
    externalUrl,
    person,
    fullPath: `${row}.full_path`,
    above: `${row}.traversal_ids`,
    readsInternal: `${row}.reads_internal`,
  };
}

/** Reader for `visibleSql`, from a row of `parentAccessSql`. `access` is the alias of that row. */
export function toReaderSql(access: string, viewer: string): ReaderSql {
  return { viewer, isMember: `${access}.is_member`, readsConfidential: `${access}.reads_confidential` };
}

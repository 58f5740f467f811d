import { EventFamily } from '@rookery/contracts';
import type { NoteableDeleted, NoteableEvent, NoteableEvents, NoteableType } from '@rookery/contracts';
import type { Attachment } from '@rookery/persistence';
import { groupAccessSql, projectAccessSql } from './access-sql';
import type { PersonSql } from './access-sql';
import type { JsonShape } from './json.shape';
import { webPathSql } from './references.shape';
import type { ShownAs } from './references.shape';

/** SQL expressions that a visibility rule is built from: parameters such as `$3`, or columns of a longer list. */
export interface ReaderSql {
  /** User id, null for an anonymous caller. */
  readonly viewer: string;
  readonly isMember: string;
  readonly readsConfidential: string;
}

/** SQL expressions that the JSON of a noteable is built from, besides its row and who reads it. */
export interface PlacedSql {
  readonly externalUrl: string;
  /** Full path of its project, a text expression. */
  readonly fullPath: string;
  /** Ids of the groups above its project, a bigint[] expression: labels and milestones of others are not shown. */
  readonly above: string;
  /** Whether internal notes count for the reader. */
  readonly readsInternal: string;
  /** Labels as objects instead of names. */
  readonly withLabelDetails?: boolean;
  /** Its project as seen from where it is asked for, a text expression; nothing there itself. */
  readonly seenAs?: string;
}
/** Shape: `viewer` is the user id, may be null. */
export type PlacedDetailSql = PlacedSql & { readonly viewer: string };
/** Of what a thing names elsewhere, such as the epic that an issue serves, is shown what the person may know of. */
export interface ShownSql extends PlacedSql {
  readonly person: PersonSql;
}
export type DetailSql = ShownSql & { readonly viewer: string };

/** Parts of a project that may be switched off or shown to members only. */
export type ProjectFeature = 'issues' | 'merge_requests' | 'snippets';
/** What a kind is switched off with: a part of its project, or what the plan of its group has. */
export type Feature = ProjectFeature | 'epics';

/**
 * What may be done with things of a kind besides talking about them. Source: reference work-tracking 2.1.
 */
export type Ability =
  | 'internal-notes'
  | 'threads'
  | 'awards'
  | 'time'
  | 'todos'
  | 'subscriptions'
  | 'labels'
  | 'milestones';

/** Who works on things of a kind. */
export interface AssigneesOfKind {
  /** The people of one thing. Shape: a subquery of one column, `user_id`; `id` is an SQL expression. */
  ofSql(id: string): string;
  /** What waits for a person. Shape: a subquery of one column, `project_id`, a row for each open thing. */
  openSql(user: string): string;
}

/**
 * Things that can be talked about: one declaration a kind, made in the wing of its noun and brought together by the
 * service's module. All that is told of notes, to-dos, feeds, e-mails and removal goes by it.
 * Shape: the table has the columns id, project_id (group_id for things of groups), author_id, title, description,
 * discussion_locked, created_at, updated_at, public_notes_count, internal_notes_count and system_notes_count, iid where
 * `shownId` says so, with awards upvotes_count and downvotes_count, with milestones milestone_id, and
 * with time time_estimate and total_time_spent.
 * Source: reference work-tracking 2.1, 2.4.
 */
export interface NoteableKind extends ShownAs {
  readonly type: NoteableType;
  /** In names of events, of e-mails and of their threads: `issue`, `merge_request`. */
  readonly noun: string;
  /** In sentences: `issue`, `merge request`. */
  readonly word: string;
  /** As a refusal names it: "404 Issue Not Found". */
  readonly resource: string;
  readonly table: string;
  /**
   * How writes begin that others make in its name, so that its table is written by its own wing only: counters of notes,
   * and what goes with its project or its author. Shape: `update issues i set`, `delete from issues i`.
   */
  readonly writes: { readonly update: string; readonly remove: string };
  readonly parent: 'project' | 'group';
  readonly feature: Feature;
  /** A boolean column, or null when nothing of the kind is confidential. */
  readonly confidentialColumn: string | null;
  /** Text column, or null when nothing of the kind is ever closed. */
  readonly stateColumn: string | null;
  /** Whether it has columns `title_edited_by_id` and `edited_by_id` (of the description); false where texts of it name nobody. */
  readonly tellsEditors: boolean;
  readonly abilities: readonly Ability[];
  /** A change of a note may send nothing but the deprecated `confidential`, which changes nothing. */
  readonly takesNoteFlagAlone?: true;
  readonly events: NoteableEvents;
  /** Boolean SQL: may the reader know of the row `i`? */
  visibleSql(reader: ReaderSql): string;
  readonly assignees: AssigneesOfKind | null;
  /** A thing as lists show it, over the row `i`. */
  readonly listed: JsonShape<ShownSql>;
  /** How many bytes its texts hold there: an expression over `i`, never null. */
  readonly listedBytes: string;
  /** A thing as its own route shows it. */
  readonly detailed: JsonShape<DetailSql>;
  /** What happens to the kind's own tables when a parent or user is removed. Shape: `table` itself is one of them. */
  readonly attached: readonly Attachment<NoteableKinds>[];
}

/** What is told of things of every kind. */
export const noteables = {
  created: new EventFamily<NoteableEvent<'created'>>('noteables created'),
  updated: new EventFamily<NoteableEvent<'updated'>>('noteables updated'),
  closed: new EventFamily<NoteableEvent<'closed'>>('noteables closed'),
  reopened: new EventFamily<NoteableEvent<'reopened'>>('noteables reopened'),
  moved: new EventFamily<NoteableEvent<'moved'>>('noteables moved'),
  deleted: new EventFamily<NoteableDeleted>('noteables deleted'),
};

/** The kinds of this service, as its module brings them together. */
export class NoteableKinds {
  constructor(readonly all: readonly NoteableKind[]) {
    if (new Set(all.map((kind) => kind.type)).size < all.length) throw new Error('two noteable kinds have one type');
  }

  /** Things of projects: those that feeds and counts of projects tell of. */
  get ofProjects(): readonly NoteableKind[] {
    return this.all.filter((kind) => kind.parent === 'project');
  }

  get ofGroups(): readonly NoteableKind[] {
    return this.all.filter((kind) => kind.parent === 'group');
  }

  able(ability: Ability): readonly NoteableKind[] {
    return this.all.filter((kind) => kind.abilities.includes(ability));
  }

  /** Shape: undefined for a type that nobody declares here. */
  of(type: string): NoteableKind | undefined {
    return this.all.find((kind) => kind.type === type);
  }

  /** The kind that a batch of one event is about. Errors: a plain Error when nobody declares it. */
  ofEvents(events: readonly { readonly aggregateType: string }[]): NoteableKind {
    const kind = this.all.find(({ noun }) => noun === events[0]?.aggregateType);
    if (!kind) throw new Error(`no noteable kind is told of as ${String(events[0]?.aggregateType)}`);
    return kind;
  }
}

/** The column that holds the parent of the row `i`. */
export function parentSql({ parent }: Pick<NoteableKind, 'parent'>): string {
  return parent === 'project' ? 'i.project_id' : 'i.group_id';
}

/** The project of the row `i`, null for things of groups. */
export function projectIdSql({ parent }: Pick<NoteableKind, 'parent'>): string {
  return parent === 'project' ? 'i.project_id' : 'null::bigint';
}

/** The group of the row `i`, null for things of projects. */
export function groupIdSql({ parent }: Pick<NoteableKind, 'parent'>): string {
  return parent === 'group' ? 'i.group_id' : 'null::bigint';
}

/** The path of a thing's page below the base address: `groups/group/-/epics/7`. Shape: a text expression over the row `i`. */
export function pagePathSql(kind: Pick<NoteableKind, 'parent' | keyof ShownAs>, fullPath: string): string {
  const path = webPathSql(kind, fullPath);
  return kind.parent === 'group' ? `'groups/' || ${path}` : path;
}

/** The access of a person to the parent of the row `i`: a lateral subquery, as `projectAccessSql` and `groupAccessSql`. */
export function accessSql(kind: Pick<NoteableKind, 'parent'>, person: PersonSql): string {
  return kind.parent === 'project' ? projectAccessSql('i.project_id', person) : groupAccessSql('i.group_id', person);
}

/** One thing for each kind, a statement as a rule, made when it is first asked for. */
export function perKind<T, K extends object = NoteableKind>(make: (kind: K) => T): (kind: K) => T {
  const made = new Map<K, T>();
  return (kind) => {
    if (!made.has(kind)) made.set(kind, make(kind));
    return made.get(kind)!;
  };
}

/** Rows by the kind that each names; those of undeclared kinds are left out. */
export function groupedByKind<R>(
  kinds: NoteableKinds,
  rows: readonly R[],
  typeOf: (row: R) => string,
): ReadonlyMap<NoteableKind, readonly R[]> {
  const groups = new Map<NoteableKind, R[]>();
  for (const row of rows) {
    const kind = kinds.of(typeOf(row));
    if (kind) groups.set(kind, [...(groups.get(kind) ?? []), row]);
  }
  return groups;
}

/**
 * A lateral FROM item: the thing that `type` and `id` name, whatever its kind, with the same columns; no row when there
 * is none. Shape: `columns` writes a select list over the alias `i` of the kind's table. With one kind it is pulled up
 * into the join that it stands for; each further kind is one more look into an index.
 */
export function subjectSql(
  kinds: readonly NoteableKind[],
  on: { readonly type: string; readonly id: string },
  columns: (kind: NoteableKind) => string,
): string {
  const parts = kinds.map(
    (kind) => `select ${columns(kind)} from ${kind.table} i where i.id = ${on.id} and ${on.type} = '${kind.type}'`,
  );
  return `(${parts.join(' union all ')})`;
}

/** Boolean SQL: does a person see the row `i`, by their access to its parent? Shape: `access` as `accessSql`. */
export function readableSql(kind: NoteableKind, access: string, viewer: string): string {
  return `${access}.reads_${kind.feature} and ${kind.visibleSql(readerOfAccess(access, viewer))}`;
}

/** Boolean SQL: does a person see the thing that `type` and `id` name, wherever it is? False of what is gone. */
export function seesSql(
  kinds: readonly NoteableKind[],
  on: { readonly type: string; readonly id: string },
  person: PersonSql,
): string {
  const cases = kinds.map(
    (kind) => `when '${kind.type}' then exists (select 1 from ${kind.table} i
      cross join lateral ${accessSql(kind, person)} seen_there
      where i.id = ${on.id} and ${readableSql(kind, 'seen_there', person.user)})`,
  );
  return cases.length === 0 ? 'false' : `case ${on.type} ${cases.join(' ')} else false end`;
}

/** Boolean SQL: does the access show all there is of these kinds and every note on it? */
export function readsAllSql(kinds: readonly NoteableKind[], access: string): string {
  const features = [...new Set(kinds.map((kind) => `${access}.reads_${kind.feature}`))];
  return `${features.join(' and ')} and ${access}.reads_internal`;
}

/** What a thing is shown with, over a row that holds it beside the columns of `accessSql`. Shape: `row` is its alias. */
export function shownSql(row: string, externalUrl: string, person: PersonSql): ShownSql {
  return {
    externalUrl,
    person,
    fullPath: `${row}.full_path`,
    above: `${row}.traversal_ids`,
    readsInternal: `${row}.reads_internal`,
  };
}

/** The reader of a kind's visibility, over a row of `projectAccessSql`. Shape: `access` is its alias. */
export function readerOfAccess(access: string, viewer: string): ReaderSql {
  return { viewer, isMember: `${access}.is_member`, readsConfidential: `${access}.reads_confidential` };
}

import { choice, int, nullable, object, text } from '@rookery/api-v4';
import { NOTEABLE_TYPES } from '@rookery/contracts';
import type { NoteableType } from '@rookery/contracts';
import { json, beginJsonShape, jsonTextsSql } from '../../base/noteables/json.shape';
import type { JsonShape } from '../../base/noteables/json.shape';
import { canReadNoteableByIdSql } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { noteAuthorShape, personShape } from '../../base/noteables/person.shape';
import { commandChanges } from './command-changes.presenter';
import { POSITION_TYPES } from './positions/note-position.entity';
import { suggestionShape } from './positions/suggestion.shape';

/** SQL expressions for a note's JSON, in addition to its row `n` and its author `a`. */
export interface NoteSql {
  readonly externalUrl: string;
  readonly viewer: string;
  readonly isAdmin: string;
  /** Type of the noteable: an expression, or a fixed type. */
  readonly noteableType: string | { readonly is: NoteableType };
  /** Id of the noteable that the API shows. */
  readonly noteableId: string;
  readonly noteableIid: string;
  /** Boolean: can the note be resolved? */
  readonly resolvable: string;
  /** Threads may have positions in a diff. */
  readonly hasDiffThreads?: boolean;
  /** Boolean: may the reader see the noteable that the note refers to? */
  readonly seesReferenced: string;
  /** Boolean: may the reader see the code of the project of the note, and thus its commits? */
  readonly readsCode: string;
}

/** Id of the noteable of note `n` in the API. Commits have none, because their sha identifies them. */
export function noteableIdSql({ shownId }: Pick<NoteableKind, 'shownId'>): string {
  return shownId === 'sha' ? 'null::bigint' : 'n.noteable_id';
}

/** Like `noteableIdSql`, for rows of several kinds. `type` is an SQL expression for the kind of the row. */
export function noteableIdOfAnyKindSql(kinds: readonly NoteableKind[], type: string): string {
  const without = kinds.filter(({ shownId }) => shownId === 'sha').map((kind) => `'${kind.type}'`);
  return without.length === 0
    ? 'n.noteable_id'
    : `case when ${type} not in (${without.join(', ')}) then n.noteable_id end`;
}

/** Boolean SQL: true for notes in threads if the kind has threads. Only diff threads have system notes. */
export function isResolvableNoteSql({ abilities }: Pick<NoteableKind, 'abilities'>): string {
  if (!abilities.includes('threads')) return 'false';
  return abilities.includes('diff-threads') ? '(n.thread_id is not null and not n.system)' : 'n.thread_id is not null';
}

/** Like `isResolvableNoteSql`, for rows of several kinds. `type` is an SQL expression for the kind of the row. */
export function isResolvableNoteOfAnyKindSql(kinds: readonly NoteableKind[], type: string): string {
  const able = kinds.filter((kind) => kind.abilities.includes('threads')).map((kind) => `'${kind.type}'`);
  return able.length === 0 ? 'false' : `(n.thread_id is not null and ${type} in (${able.join(', ')}))`;
}

/**
 * Text of a note. The reference in a system note is replaced if the reader may not see its target: a noteable, or a commit
 * of the same project, which only the text names. Source: reference work-tracking 2.7.
 */
function noteBodySql({ seesReferenced, readsCode }: Pick<NoteSql, 'seesReferenced' | 'readsCode'>): string {
  const isOfCommit = `n.system and n.body ~ '^(?:mentioned in|closed via) commit [0-9a-f]+$'`;
  return `case when (n.referenced_id is null or ${seesReferenced}) and (not (${isOfCommit}) or ${readsCode}) then n.body
    else regexp_replace(n.body, '${REFERENCE}', '${HIDDEN_REFERENCE}') end`;
}
/** Pattern of the reference in a system note: the last word, or the word before one of these endings. */
const REFERENCE = '\\S+(?= as (?:child epic|parent epic|a duplicate of this issue)$)|\\S+$';
/** Text in place of a reference whose target the reader may not see. */
export const HIDDEN_REFERENCE = 'something that you may not see';

/**
 * Boolean SQL: may the reader see the target of note `n`, in any project? `viewer` and `isAdmin` are SQL expressions.
 */
export function canReadReferencedNoteableSql(
  kinds: readonly NoteableKind[],
  { viewer, isAdmin }: Pick<NoteSql, 'viewer' | 'isAdmin'>,
): string {
  const isExternal = `(select coalesce(bool_or(e.external), true) from directory_users e where e.id = ${viewer})`;
  return canReadNoteableByIdSql(
    kinds,
    { type: 'n.referenced_type', id: 'n.referenced_id' },
    { user: viewer, isAdmin, isExternal },
  );
}

/** Boolean SQL: is the note `n` in a diff thread? */
export const IS_DIFF_NOTE = 'exists (select 1 from note_positions p where p.thread_id = n.thread_id)';

function noteTypeSql({ hasDiffThreads }: NoteSql): string {
  const type = hasDiffThreads
    ? `case when ${IS_DIFF_NOTE} then 'DiffNote' else 'DiscussionNote' end`
    : `'DiscussionNote'`;
  return `case when n.thread_id is not null then ${type} end`;
}

const unresolvable = beginJsonShape<NoteSql>('Note').fields({
  id: [json.int, () => 'n.id'],
  type: [json.choiceOrNull('DiscussionNote', 'DiffNote'), noteTypeSql],
  body: [json.text, noteBodySql],
  attachment: [json.constant(nullable(text)), () => null],
  author: [json.objectWhen(noteAuthorShape), (sql) => ({ of: { ...sql, user: 'a' }, when: 'a.id is not null' })],
  created_at: [json.instant, () => 'n.created_at'],
  updated_at: [json.instant, () => 'n.updated_at'],
  system: [json.bool, () => 'n.system'],
  noteable_id: [json.intOrNull, (sql) => sql.noteableId],
  noteable_type: [json.choice(...NOTEABLE_TYPES), (sql) => sql.noteableType],
  project_id: [json.intOrNull, () => 'n.project_id'],
  noteable_iid: [json.intOrNull, (sql) => sql.noteableIid],
  resolvable: [json.bool, (sql) => sql.resolvable],
  confidential: [json.bool, () => 'n.internal'],
  internal: [json.bool, () => 'n.internal'],
  imported: [json.bool, () => `n.imported_from <> 'none'`],
  imported_from: [json.token, () => 'n.imported_from'],
  // Filled only in the response to a new note with quick actions (reference work-tracking 2.6).
  commands_changes: [json.constant(commandChanges), () => ({})],
});

/**
 * A note as the API shows it. The SQL uses the aliases `n` (notes) and `a` (the author in directory_users, may be
 * missing).
 * Source: requirements 1 §2 Note; reference work-tracking 2.2.
 */
const noteShape = unresolvable.extend<NoteSql>('Note').fields(
  {
    resolved: [json.bool, () => 'n.resolved_at is not null'],
    resolved_by: [
      json.found(personShape),
      ({ externalUrl }) => ({
        of: { user: 'r', externalUrl },
        from: 'from directory_users r where r.id = n.resolved_by_id',
      }),
    ],
    resolved_at: [json.instantOrNull, () => 'n.resolved_at'],
  },
  (sql) => sql.resolvable,
);

const line = nullable(int);
const rangeEnd = object({ line_code: nullable(text), type: nullable(text), old_line: line, new_line: line });
/** Place in a diff. Source: reference repositories 8.11. */
const position = object(
  {
    base_sha: text,
    start_sha: text,
    head_sha: text,
    old_path: nullable(text),
    new_path: nullable(text),
    position_type: choice(...POSITION_TYPES),
  },
  {
    old_line: line,
    new_line: line,
    line_range: nullable(object({ start: rangeEnd, end: rangeEnd })),
    width: line,
    height: line,
    x: line,
    y: line,
  },
);
const OF_POSITION = 'from note_positions p where p.thread_id = n.thread_id';

const positionField = [json.written(position), (): string => `(select p.shown::text ${OF_POSITION})`] as const;
const commitIdField = [json.tokenOrNull, (): string => `(select p.commit_id ${OF_POSITION})`] as const;
const suggestionsField = [
  json.list(suggestionShape),
  (sql: NoteSql) => {
    const from = `from suggestions s join note_positions p on p.thread_id = n.thread_id where s.note_id = n.id`;
    return jsonTextsSql(suggestionShape, { of: sql, from }, 's.relative_order, s.id');
  },
] as const;

const SUGGESTION_BYTES = `coalesce((select sum(octet_length(s.from_content) + octet_length(s.to_content))
      from suggestions s where s.note_id = n.id), 0)`;

/** SQL for the bytes of the texts of the note `n` and of its suggestions, for the size limit of pages. */
export function noteBytesSql({ abilities }: Pick<NoteableKind, 'abilities'>): string {
  return abilities.includes('suggestions') ? `octet_length(n.body) + ${SUGGESTION_BYTES}` : 'octet_length(n.body)';
}

/** A note of a kind with diff threads. The SQL uses the aliases of `noteShape`. Source: reference work-tracking 2.2. */
const placedNoteShape = noteShape.extend<NoteSql>('PlacedNote').fields({ position: positionField }, () => IS_DIFF_NOTE);

/** JSON of a note with suggestions. The SQL uses the aliases of `noteShape`. Source: reference work-tracking 2.2. */
const diffNoteShape = noteShape
  .extend<NoteSql>('DiffNote')
  .fields({ commit_id: commitIdField, position: positionField, suggestions: suggestionsField }, () => IS_DIFF_NOTE);

/** SQL expressions for the notes of several kinds. Both fields are boolean expressions over the kind of the row. */
export interface AnyNoteSql extends NoteSql {
  readonly canHavePosition: string;
  readonly canHaveSuggestions: string;
}

/** A note of any kind, with the fields of its kind. The SQL uses the aliases of `noteShape`. */
export const anyNoteShape = noteShape
  .extend<AnyNoteSql>('AnyNote')
  .fields({ position: positionField }, ({ canHavePosition }) => `${canHavePosition} and ${IS_DIFF_NOTE}`)
  .extend<AnyNoteSql>('AnyNote')
  .fields(
    { commit_id: commitIdField, suggestions: suggestionsField },
    ({ canHaveSuggestions }) => `${canHaveSuggestions} and ${IS_DIFF_NOTE}`,
  );

/** Shape of the notes of a kind. */
export function noteShapeOf({ abilities }: Pick<NoteableKind, 'abilities'>): JsonShape<NoteSql> {
  if (abilities.includes('suggestions')) return diffNoteShape;
  return abilities.includes('diff-threads') ? placedNoteShape : noteShape;
}

import { nullable, text } from '@rookery/api-v4';
import { NOTEABLE_TYPES } from '@rookery/contracts';
import type { NoteableType } from '@rookery/contracts';
import { json, jsonShape } from '../../base/noteables/json.shape';
import { seesSql } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { noteAuthorShape, personShape } from '../../base/noteables/person.shape';
import { commandChanges } from './command-changes.presenter';

/** SQL expressions that a note's JSON is built from besides its row `n` and its author `a`. */
export interface NoteSql {
  readonly externalUrl: string;
  readonly viewer: string;
  readonly isAdmin: string;
  /** What it stands on: an expression, or the one kind that it always is. */
  readonly noteableType: string | { readonly is: NoteableType };
  readonly noteableIid: string;
  /** Boolean: can the note be resolved? */
  readonly resolvable: string;
  /** Boolean: does the reader see what the note refers to? */
  readonly seesReferenced: string;
}

/** Boolean SQL: notes in threads, where the kind takes them; system notes never stand in one. */
export function resolvableSql({ abilities }: Pick<NoteableKind, 'abilities'>): string {
  return abilities.includes('threads') ? 'n.thread_id is not null' : 'false';
}

/** The same where the kind is that of the row. Shape: `type` is an expression. */
export function resolvableAmongSql(kinds: readonly NoteableKind[], type: string): string {
  const able = kinds.filter((kind) => kind.abilities.includes('threads')).map((kind) => `'${kind.type}'`);
  return able.length === 0 ? 'false' : `(n.thread_id is not null and ${type} in (${able.join(', ')}))`;
}

/** Hides the reference in a system note from readers who may not see its target. Source: reference work-tracking 2.7. */
function bodySql({ seesReferenced }: Pick<NoteSql, 'seesReferenced'>): string {
  return `case when n.referenced_id is null or ${seesReferenced} then n.body
    else regexp_replace(n.body, '${REFERRING}', '${UNSEEN}') end`;
}
/** The reference in the text of a system note: the last word, but for those that say what it is now. */
const REFERRING = '\\S+(?= as (?:child epic|parent epic|a duplicate of this issue)$)|\\S+$';
/** In the place of what a note refers to. */
export const UNSEEN = 'something that you may not see';

/** As notes ask it of a reader of the whole instance. Shape: expressions of the reader. */
export function seesReferencedSql(
  kinds: readonly NoteableKind[],
  { viewer, isAdmin }: Pick<NoteSql, 'viewer' | 'isAdmin'>,
): string {
  const isExternal = `(select coalesce(bool_or(e.external), true) from directory_users e where e.id = ${viewer})`;
  return seesSql(kinds, { type: 'n.referenced_type', id: 'n.referenced_id' }, { user: viewer, isAdmin, isExternal });
}

const always = jsonShape<NoteSql>('Note').fields({
  id: [json.int, () => 'n.id'],
  type: [json.choiceOrNull('DiscussionNote'), () => `case when n.thread_id is not null then 'DiscussionNote' end`],
  body: [json.text, bodySql],
  attachment: [json.constant(nullable(text)), () => null],
  author: [json.objectWhen(noteAuthorShape), (sql) => ({ of: { ...sql, user: 'a' }, when: 'a.id is not null' })],
  created_at: [json.instant, () => 'n.created_at'],
  updated_at: [json.instant, () => 'n.updated_at'],
  system: [json.bool, () => 'n.system'],
  noteable_id: [json.intOrNull, () => 'n.noteable_id'],
  noteable_type: [json.choice(...NOTEABLE_TYPES), (sql) => sql.noteableType],
  project_id: [json.intOrNull, () => 'n.project_id'],
  noteable_iid: [json.intOrNull, (sql) => sql.noteableIid],
  resolvable: [json.bool, (sql) => sql.resolvable],
  confidential: [json.bool, () => 'n.internal'],
  internal: [json.bool, () => 'n.internal'],
  imported: [json.bool, () => `n.imported_from <> 'none'`],
  imported_from: [json.token, () => 'n.imported_from'],
  // Only the answer to a new note tells of its commands (reference work-tracking 2.6).
  commands_changes: [json.constant(commandChanges), () => ({})],
});

/**
 * A note as the API shows it. Shape: aliases `n` (notes), `a` (its author in directory_users, may be missing).
 * Source: requirements 1 §2 Note; reference work-tracking 2.2.
 */
export const noteShape = always.extend<NoteSql>('Note').fields(
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

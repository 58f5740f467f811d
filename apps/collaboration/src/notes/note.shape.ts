import { any, bool, choice, nullable, text } from '@rookery/api-v4';
import { NOTEABLE_TYPES } from '@rookery/contracts';
import { json, jsonShape } from '../json-rows/json-shape';
import type { JsonShape } from '../json-rows/json-shape';
import { noteAuthorShape } from '../json-rows/user-shapes';

/**
 * A note as the API shows it. Shape: aliases `n` (notes), `a` (its author in directory_users, may be missing);
 * the other expressions are given. Source: requirements 1 §2 Note; reference work-tracking 2.2.
 */
export function noteShape(o: {
  readonly externalUrl: string;
  readonly viewer: string;
  readonly isAdmin: string;
  readonly noteableType: (typeof NOTEABLE_TYPES)[number];
  readonly noteableIid: string;
}): JsonShape {
  const author = noteAuthorShape('a', o.externalUrl, o);
  return jsonShape('Note', {
    id: json.int('n.id'),
    // Threads come with discussions; until then every note stands alone.
    type: json.constant(nullable(text), null),
    body: json.text('n.body'),
    attachment: json.constant(nullable(text), null),
    author: json.object(author, 'a.id is not null'),
    created_at: json.instant('n.created_at'),
    updated_at: json.instant('n.updated_at'),
    system: json.bool('n.system'),
    noteable_id: json.intOrNull('n.noteable_id'),
    noteable_type: json.constant(choice(...NOTEABLE_TYPES), o.noteableType),
    project_id: json.intOrNull('n.project_id'),
    noteable_iid: json.intOrNull(o.noteableIid),
    resolvable: json.constant(bool, false),
    confidential: json.bool('n.internal'),
    internal: json.bool('n.internal'),
    imported: json.bool(`n.imported_from <> 'none'`),
    imported_from: json.token('n.imported_from'),
    // Quick actions are text as yet (ADR 0076).
    commands_changes: json.constant(any, {}),
  });
}

import { NOTEABLE_TYPES } from '@rookery/contracts';
import type { NoteableType } from '@rookery/contracts';
import { json, jsonShape } from './json.shape';
import type { JsonShape } from './json.shape';
import { personShape } from './person.shape';

/** What the JSON of a change is built from besides its row `e` and the person `u`, who may be gone. */
export interface ResourceEventSql {
  readonly externalUrl: string;
  readonly type: NoteableType;
}

/**
 * Changes of one sort that things went through, kept as rows of their own: labels, milestones. A wing declares its sort;
 * routes, lists and refusals follow for things of every kind.
 * Shape: the table has the columns id, noteable_type, noteable_id, user_id and created_at.
 * Source: reference work-tracking 2.8.
 */
export interface ResourceEvents {
  /** In paths and sentences: `label`. */
  readonly noun: string;
  readonly table: string;
  /** Joined to the rows `e` of a page. */
  readonly joins: string;
  readonly shape: JsonShape<ResourceEventSql>;
}

/**
 * Does a change `e` still show what it was about? Rows of groups that are above the project no more are not told: who
 * reads the project may know nothing of that group. Shape: boolean SQL; `thing` is the alias of a row of a project or group.
 * Source: reference work-tracking 2.8.
 */
export function stillReachedSql(thing: string): string {
  return `(${thing}.project_id = e.project_id or ${thing}.group_id = any((
    select home.traversal_ids from directory_projects p join directory_namespaces home on home.id = p.namespace_id
    where p.id = e.project_id)::bigint[]))`;
}

/** What all sorts show; each goes on from it. */
export const resourceEventShape = jsonShape<ResourceEventSql>('ResourceEvent').fields({
  id: [json.int, () => 'e.id'],
  user: [
    json.objectWhen(personShape),
    ({ externalUrl }) => ({ of: { user: 'u', externalUrl }, when: 'u.id is not null' }),
  ],
  created_at: [json.instant, () => 'e.created_at'],
  resource_type: [json.choice(...NOTEABLE_TYPES), ({ type }) => ({ is: type })],
  resource_id: [json.int, () => 'e.noteable_id'],
});

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
  /**
   * Joined to the rows `e` of a page. What no more reaches the project is not told. Shape: `above` is an expression, the
   * ids of the groups above the project.
   */
  joins(above: string): string;
  /** Of the texts of what it was about: an expression over `e`, never null. */
  readonly bytes: string;
  readonly shape: JsonShape<ResourceEventSql>;
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

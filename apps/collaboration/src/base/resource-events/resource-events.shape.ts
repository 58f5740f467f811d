import { NOTEABLE_TYPES } from '@rookery/contracts';
import type { NoteableType } from '@rookery/contracts';
import { json, jsonShape } from '../noteables/json.shape';
import type { JsonShape } from '../noteables/json.shape';
import { personShape } from '../noteables/person.shape';

/** What the JSON of a change is built from besides its row `e` and the person `u`, who may be gone. */
export interface ResourceEventSql {
  readonly externalUrl: string;
  readonly type: NoteableType;
}

/**
 * Changes of one sort that things went through, kept as rows of their own: labels, milestones, states. A wing declares its sort;
 * routes, lists and refusals follow for things of every kind.
 * Shape: the table has the columns id, noteable_type, noteable_id, user_id and created_at.
 * Source: reference work-tracking 2.8.
 */
export interface ResourceEvents {
  /** In paths: `label`. */
  readonly noun: string;
  /** What its two routes do. Shape: `a` as the routes of the thing have it: `an issue`. */
  about(a: string): { readonly list: string; readonly one: string };
  readonly table: string;
  /** Its rows, where there is no such table. */
  readonly rows?: string;
  /**
   * Joined to the rows `e` of a page. What no more reaches the project is not told. Shape: `above` is an expression, the
   * ids of the groups above the project.
   */
  joins(above: string): string;
  /** Of the texts of what it was about: an expression over `e`, never null. */
  readonly bytes: string;
  readonly shape: JsonShape<ResourceEventSql>;
}

/** What is said of the routes of what things get and lose again. */
export function gotAndLost(noun: string): ResourceEvents['about'] {
  return (a) => ({
    list: `Lists the ${noun}s that ${a} got and lost, oldest first.`,
    one: `Shows one of the ${noun}s that ${a} got or lost.`,
  });
}

/** Who did it, and when. */
export const changeShape = jsonShape<ResourceEventSql>('Change').fields({
  id: [json.int, () => 'e.id'],
  user: [
    json.objectWhen(personShape),
    ({ externalUrl }) => ({ of: { user: 'u', externalUrl }, when: 'u.id is not null' }),
  ],
  created_at: [json.instant, () => 'e.created_at'],
});

/** What nearly all sorts show; each goes on from it. */
export const resourceEventShape = changeShape.extend<ResourceEventSql>('ResourceEvent').fields({
  resource_type: [json.choice(...NOTEABLE_TYPES), ({ type }) => ({ is: type })],
  resource_id: [json.int, () => 'e.noteable_id'],
});

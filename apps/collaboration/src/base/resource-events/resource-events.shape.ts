import { NOTEABLE_TYPES } from '@rookery/contracts';
import type { NoteableType } from '@rookery/contracts';
import { json, beginJsonShape } from '../noteables/json.shape';
import type { JsonShape } from '../noteables/json.shape';
import { personShape } from '../noteables/person.shape';

/** Sources of an event's JSON in addition to its row `e` and the user `u`, who may be removed. */
export interface ResourceEventSql {
  readonly externalUrl: string;
  readonly type: NoteableType;
}

/**
 * One type of changes of noteables that have rows of their own: labels, milestones, states. A wing declares its type.
 * This wing builds the routes, lists and error answers for noteables of every kind.
 * The table has the columns id, noteable_type, noteable_id, user_id and created_at.
 * Source: reference work-tracking 2.8.
 */
export interface ResourceEvents {
  /** Noun in paths: `label`. */
  readonly noun: string;
  /**
   * Summaries of its two routes, for the OpenAPI document. `a` is the noun of the noteable with its article: `an
   * issue`.
   */
  about(a: string): { readonly list: string; readonly one: string };
  readonly table: string;
  /** A FROM item that yields its rows; `table` by default. */
  readonly rows?: string;
  /**
   * Joins to the rows `e` of a page. Must hide labels and milestones that no longer apply to the project. `above` is an
   * SQL expression for the ids of the project's ancestor groups.
   */
  joins(above: string): string;
  /** SQL expression over `e` for the size of the texts in the event's JSON; never null. Units: bytes. */
  readonly bytes: string;
  readonly shape: JsonShape<ResourceEventSql>;
}

/** Route summaries for events that add or remove something, such as a label. */
export function createAddRemoveEventSummaries(noun: string): ResourceEvents['about'] {
  return (a) => ({
    list: `Lists when ${noun}s were added to and removed from ${a}, oldest first.`,
    one: `Shows when one ${noun} was added to or removed from ${a}.`,
  });
}

/** Fields of every change: id, user and time. */
export const changeShape = beginJsonShape<ResourceEventSql>('Change').fields({
  id: [json.int, () => 'e.id'],
  user: [
    json.objectWhen(personShape),
    ({ externalUrl }) => ({ of: { user: 'u', externalUrl }, when: 'u.id is not null' }),
  ],
  created_at: [json.instant, () => 'e.created_at'],
});

/** Fields that nearly every type shows; the types extend it. */
export const resourceEventShape = changeShape.extend<ResourceEventSql>('ResourceEvent').fields({
  resource_type: [json.choice(...NOTEABLE_TYPES), ({ type }) => ({ is: type })],
  resource_id: [json.int, () => 'e.noteable_id'],
});

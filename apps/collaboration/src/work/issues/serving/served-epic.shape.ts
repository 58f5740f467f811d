import { groupAccessSql } from '../../../base/noteables/access-sql';
import type { PersonSql } from '../../../base/noteables/access-sql';
import { json, jsonShape } from '../../../base/noteables/json.shape';
import type { ReaderSql } from '../../../base/noteables/noteable-kinds';
import { webPathSql } from '../../../base/noteables/references.shape';
import type { ShownAs } from '../../../base/noteables/references.shape';

/** How epics are named, which stand above issues: by their number in the group. */
export const EPIC_SHOWN_AS: ShownAs = { shownId: 'iid', webPath: '/-/epics/', sigil: '&' };

/**
 * Confidential epics are known to those who read them by role, and to nobody else. Shape: `row` is the alias of an epic.
 * Source: reference work-tracking 5.1.
 */
export function visibleEpicSql({ readsConfidential }: Pick<ReaderSql, 'readsConfidential'>, row = 'i'): string {
  return `(not ${row}.confidential or ${readsConfidential})`;
}

/** Epics `goal` that a person knows of, with their access `its` to the group of each: joins and their condition. */
export function knownEpicsSql(person: PersonSql): { readonly joins: string; readonly where: string } {
  return {
    joins: `cross join lateral ${groupAccessSql('goal.group_id', person)} its`,
    where: `its.reads_epics and ${visibleEpicSql({ readsConfidential: 'its.reads_confidential' }, 'goal')}`,
  };
}

/**
 * The epic that the issue `i` serves, as far as the reader knows of it: a lateral FROM item of one row or none. Who reads
 * it is judged for issues that serve one only; for all others it is one look into an index.
 */
export function servedSql(person: PersonSql): string {
  const { joins, where } = knownEpicsSql(person);
  return `(select goal.id, goal.iid, goal.title, goal.group_id, its.full_path
    from epic_issues serves join epics goal on goal.id = serves.epic_id ${joins} where serves.issue_id = i.id and ${where})`;
}

/** An epic as the JSON of its issues names it: the row `served`. Source: reference work-tracking 9.1. */
export const servedEpicShape = jsonShape<unknown>('ServedEpic').fields({
  id: [json.int, () => 'served.id'],
  iid: [json.int, () => 'served.iid'],
  title: [json.text, () => 'served.title'],
  url: [json.prefixed, () => ({ prefix: '/groups/', sql: webPathSql(EPIC_SHOWN_AS, 'served.full_path', 'served') })],
  group_id: [json.int, () => 'served.group_id'],
});

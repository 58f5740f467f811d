import { groupAccessRowSql } from '../../../base/noteables/access-sql';
import type { PersonSql } from '../../../base/noteables/access-sql';
import { json, beginJsonShape } from '../../../base/noteables/json.shape';
import type { ReaderSql } from '../../../base/noteables/noteable-kinds';
import { webPathSql } from '../../../base/noteables/references.shape';
import type { ReferenceFormat } from '../../../base/noteables/references.shape';

/** References to epics use the number in the group. Defined here because the epics wing imports this one. */
export const EPIC_SHOWN_AS: ReferenceFormat = { shownId: 'iid', webPath: '/-/epics/', sigil: '&' };

/**
 * Boolean SQL: may the reader see the epic? Only readers by role see a confidential one. `row` is the alias of an epic.
 * Source: reference work-tracking 5.1.
 */
export function isEpicVisibleSql({ readsConfidential }: Pick<ReaderSql, 'readsConfidential'>, row = 'i'): string {
  return `(not ${row}.confidential or ${readsConfidential})`;
}

/** Joins and condition for epics `goal` that a user sees, with the user's access `its` to the group of each. */
export function visibleEpicsJoinSql(person: PersonSql): { readonly joins: string; readonly where: string } {
  return {
    joins: `cross join lateral ${groupAccessRowSql('goal.group_id', person)} its`,
    where: `its.reads_epics and ${isEpicVisibleSql({ readsConfidential: 'its.reads_confidential' }, 'goal')}`,
  };
}

/**
 * Lateral FROM item of one row or none: the epic of the issue `i`, if the reader may see it. Access is checked only for
 * issues that have an epic; any other issue costs one index lookup.
 */
export function issueEpicLateralSql(person: PersonSql): string {
  const { joins, where } = visibleEpicsJoinSql(person);
  return `(select goal.id, goal.iid, goal.title, goal.group_id, its.full_path
    from epic_issues serves join epics goal on goal.id = serves.epic_id ${joins} where serves.issue_id = i.id and ${where})`;
}

/** JSON of an epic inside its issues: the row `served`. Source: reference work-tracking 9.1. */
export const issueEpicShape = beginJsonShape<unknown>('ServedEpic').fields({
  id: [json.int, () => 'served.id'],
  iid: [json.int, () => 'served.iid'],
  title: [json.text, () => 'served.title'],
  url: [json.prefixed, () => ({ prefix: '/groups/', sql: webPathSql(EPIC_SHOWN_AS, 'served.full_path', 'served') })],
  group_id: [json.int, () => 'served.group_id'],
});

import type { Bind } from '@rookery/persistence';
import type { PersonSql } from '../../../base/noteables/access-sql';
import { visibleEpicsJoinSql } from './issue-epic.shape';

/** Filter by epic: its id, none, or any. */
export type EpicFilter = number | 'None' | 'Any';

/**
 * Condition on issues `i` by their epic. An epic that the reader may not see matches no issue, and its issues count as
 * having none, as in their JSON. Source: reference work-tracking 9.1.
 */
export function issueInEpicSql(epic: EpicFilter, person: PersonSql, bind: Bind): string {
  const { joins, where } = visibleEpicsJoinSql(person);
  if (typeof epic === 'number') {
    const id = `${bind(epic)}::bigint`;
    return `(i.id in (select serves.issue_id from epic_issues serves where serves.epic_id = ${id})
      and exists (select 1 from epics goal ${joins} where goal.id = ${id} and ${where}))`;
  }
  // `offset 0` keeps this a lookup per issue: as a join it would check access to all epics.
  const serves = `exists (select 1 from epic_issues serves join epics goal on goal.id = serves.epic_id ${joins}
    where serves.issue_id = i.id and ${where} offset 0)`;
  return epic === 'Any' ? serves : `not ${serves}`;
}

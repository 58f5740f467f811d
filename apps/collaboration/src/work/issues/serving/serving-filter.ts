import type { Bind } from '@rookery/persistence';
import type { PersonSql } from '../../../base/noteables/access-sql';
import { knownEpicsSql } from './served-epic.shape';

/** The epic that issues serve: this one, none, or any. */
export type EpicFilter = number | 'None' | 'Any';

/**
 * A condition on issues `i`. By an epic that the reader does not know no issue is found, and one that serves such an epic
 * has none for them, as its JSON says. Source: reference work-tracking 9.1.
 */
export function servingSql(epic: EpicFilter, person: PersonSql, bind: Bind): string {
  const { joins, where } = knownEpicsSql(person);
  if (typeof epic === 'number') {
    const id = `${bind(epic)}::bigint`;
    return `(i.id in (select serves.issue_id from epic_issues serves where serves.epic_id = ${id})
      and exists (select 1 from epics goal ${joins} where goal.id = ${id} and ${where}))`;
  }
  // The fence keeps it a look at each issue: joined, it would judge all epics that there are.
  const serves = `exists (select 1 from epic_issues serves join epics goal on goal.id = serves.epic_id ${joins}
    where serves.issue_id = i.id and ${where} offset 0)`;
  return epic === 'Any' ? serves : `not ${serves}`;
}

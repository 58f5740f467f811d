import { Invalid } from '@rookery/kernel';
import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';

/** What is said of an issue that everybody may see, in an epic that few may. Source: reference work-tracking 5.5. */
export const CONFIDENTIAL_ISSUES_ONLY = 'A confidential epic takes confidential issues only';

/** $1 issue. The epic stays as it is until the transaction ends. */
const serving = prepared(
  'issues_serving_confidential_epic',
  `select 1 from epic_issues l join epics e on e.id = l.epic_id
   where l.issue_id = $1::bigint and e.confidential for share of e`,
);

/** For an issue that is held and is to be seen by everybody. Errors: Invalid while it serves a confidential epic. */
export async function refuseInConfidentialEpic(tx: Tx, issueId: number): Promise<void> {
  if ((await tx.prepared(serving, [issueId])).length === 0) return;
  throw new Invalid({ confidential: [CONFIDENTIAL_ISSUES_ONLY] });
}

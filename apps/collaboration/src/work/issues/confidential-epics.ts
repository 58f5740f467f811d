import { Invalid } from '@rookery/kernel';
import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';

/** What is said of an issue that everybody may see, in an epic that few may. Source: reference work-tracking 5.5. */
export const CONFIDENTIAL_ISSUES_ONLY = 'A confidential epic takes confidential issues only';

/** $1 issue. The epic stays as it is until the transaction ends, also one that is not confidential yet. */
const served = prepared(
  'issues_hold_served_epic',
  `select e.confidential from epic_issues l join epics e on e.id = l.epic_id
   where l.issue_id = $1::bigint for share of e`,
);

/** For an issue that is held and is to be seen by everybody. Errors: Invalid while it serves a confidential epic. */
export async function refuseInConfidentialEpic(tx: Tx, issueId: number): Promise<void> {
  const [epic] = await tx.prepared<{ confidential: boolean }>(served, [issueId]);
  if (!epic?.confidential) return;
  throw new Invalid({ confidential: [CONFIDENTIAL_ISSUES_ONLY] });
}

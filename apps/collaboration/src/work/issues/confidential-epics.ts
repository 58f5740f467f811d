import { Invalid } from '@rookery/kernel';
import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';

/** Refusal for an issue that is not confidential in a confidential epic. Source: reference work-tracking 5.5. */
export const CONFIDENTIAL_ISSUES_ONLY = 'A confidential epic takes confidential issues only';

/** $1 issue. Locks the epic until the transaction ends, so that it cannot become confidential meanwhile. */
const epicOfIssue = prepareStatement(
  'issues_hold_served_epic',
  `select e.confidential from epic_issues l join epics e on e.id = l.epic_id
   where l.issue_id = $1::bigint for share of e`,
);

/** Checks a locked issue that is to lose its confidentiality. Errors: Invalid while its epic is confidential. */
export async function assertEpicNotConfidential(tx: Tx, issueId: number): Promise<void> {
  const [epic] = await tx.prepared<{ confidential: boolean }>(epicOfIssue, [issueId]);
  if (!epic?.confidential) return;
  throw new Invalid({ confidential: [CONFIDENTIAL_ISSUES_ONLY] });
}

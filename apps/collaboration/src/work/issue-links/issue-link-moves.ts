import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';

/** $1 issue, $2 its new issue, which has no links yet. */
const moveLinkEnds = ['source', 'target'].map((end) =>
  prepareStatement(
    `issue_links_move_${end}`,
    `update issue_links set ${end}_id = $2::bigint where ${end}_id = $1::bigint`,
  ),
);

/** Moves the links of an issue to its new issue. Source: reference work-tracking 9.1. */
export async function moveIssueLinks(tx: Tx, from: number, to: number): Promise<void> {
  for (const statement of moveLinkEnds) await tx.prepared(statement, [from, to]);
}

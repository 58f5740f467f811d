import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { systemNotes } from '../../../talk/notes/system-notes';
import { closeIssues } from '../../issues/closing/close-issues';
import { mergeRequestKind } from '../merge-request.kind';

const closedIssues = statement<{ id: number }, { readonly issue_id: number }>(
  'merge_request_issues_closed',
  `select distinct r.issue_id from merge_request_issues r where r.merge_request_id = :id::bigint and r.closes
   order by r.issue_id`,
);

/**
 * Closes the issues of a request that was merged into the default branch, with the rights of the user who merged it.
 * Source: reference repositories 8.17.
 */
export async function closeIssuesOfMergedRequest(
  tx: Tx,
  { id, iid, projectId }: { readonly id: number; readonly iid: number; readonly projectId: number },
  actorId: number,
): Promise<void> {
  const rows = await tx.run(closedIssues, { id });
  await closeIssues(
    tx,
    rows.map((row) => row.issue_id),
    {
      actorId,
      projectId,
      referenced: { type: mergeRequestKind.type, id },
      describe: (place) =>
        systemNotes.closedVia('merge request', `${place?.path ?? ''}${mergeRequestKind.sigil}${iid}`),
    },
  );
}

import type { SignedInViewer } from '@rookery/kernel';
import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { readerOf, reads } from '../../base/noteables/reader';
import type { ParentFacts } from '../../base/noteables/reader';
import { issueKind } from './issue.kind';

/** $1 project, $2-$4 who reads, $5 number. */
export const VISIBLE_ISSUE = `select i.id, now() as at from issues i where i.project_id = $1::bigint and i.iid = $5::bigint
  and ${issueKind.visibleSql({ viewer: '$2::bigint', isMember: '$3::boolean', readsConfidential: '$4::boolean' })}`;
const visible = prepared('issues_visible', VISIBLE_ISSUE);

/** An issue that is named by where it is and its number there. */
export interface PlacedIssue {
  readonly project: ParentFacts;
  readonly iid: number;
}

/** Ids of issues before they are held together; those that the viewer may not know of are left out. */
export async function seenIssues(
  tx: Tx,
  viewer: SignedInViewer,
  named: readonly PlacedIssue[],
): Promise<readonly number[]> {
  const ids: number[] = [];
  for (const { project, iid } of named) {
    const reader = readerOf(viewer, project);
    if (!reads(issueKind.feature, project, reader)) continue;
    const values = [project.id, reader.viewerId, reader.isMember, reader.readsConfidential, iid];
    ids.push(...(await tx.prepared<{ id: number }>(visible, values)).map(({ id }) => id));
  }
  return ids;
}

import type { SignedInViewer } from '@rookery/kernel';
import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { createNoteableReader, canReadFeature } from '../../base/noteables/reader';
import type { ParentFacts } from '../../base/noteables/reader';
import { issueKind } from './issue.kind';

/** $1 project, $2-$4 the viewer, $5 number. */
export const VISIBLE_ISSUE = `select i.id, now() as at from issues i where i.project_id = $1::bigint and i.iid = $5::bigint
  and ${issueKind.visibleSql({ viewer: '$2::bigint', isMember: '$3::boolean', readsConfidential: '$4::boolean' })}`;
const visible = prepareStatement('issues_visible', VISIBLE_ISSUE);

/** An issue named by its project and its number there. */
export interface IssueKey {
  readonly project: ParentFacts;
  readonly iid: number;
}

/** Returns the ids of the named issues that the viewer sees, so that the caller can lock them all at once. */
export async function findVisibleIssueIds(
  tx: Tx,
  viewer: SignedInViewer,
  named: readonly IssueKey[],
): Promise<readonly number[]> {
  const ids: number[] = [];
  for (const { project, iid } of named) {
    const reader = createNoteableReader(viewer, project);
    if (!canReadFeature(issueKind.feature, project, reader)) continue;
    const values = [project.id, reader.viewerId, reader.isMember, reader.readsConfidential, iid];
    ids.push(...(await tx.prepared<{ id: number }>(visible, values)).map(({ id }) => id));
  }
  return ids;
}

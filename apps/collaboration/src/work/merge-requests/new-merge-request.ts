import { nextInternalId, statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { RequestedLabels } from '../../planning/labels/labelling/labelling';
import { countDescriptionTasks } from '../issues/issue.entity';
import { isDraftTitle } from './merge-request.entity';
import type { MergeRequestFacts } from './merge-request-events';
import { assertPeopleWithinLimit } from './people/people-limit';
import type { MeasuredVersion } from './versions/measure-version';

/** Fields of a merge request to create. */
export interface NewMergeRequest {
  readonly title: string;
  readonly description: string | null;
  /** The project itself, or another one of its fork network. */
  readonly sourceProjectId: number;
  readonly sourceBranch: string;
  readonly targetBranch: string;
  readonly assigneeIds: readonly number[];
  readonly reviewerIds: readonly number[];
  readonly labels: RequestedLabels | undefined;
  /** Null for none. */
  readonly milestoneId: number | null;
  readonly forceRemoveSourceBranch: boolean | null;
  readonly squash: boolean;
  readonly mergeAfter: Date | null;
  /** Developers of the target may push to the source branch. */
  readonly allowCollaboration: boolean;
}

interface NewMergeRequestRow {
  readonly project: number;
  readonly iid: number;
  readonly source_project: number;
  readonly author: number;
  readonly title: string;
  readonly description: string | null;
  readonly draft: boolean;
  readonly source_branch: string;
  readonly target_branch: string;
  readonly milestone: number | null;
  readonly force_remove: boolean | null;
  readonly squash: boolean;
  readonly merge_after: Date | null;
  readonly allow_collaboration: boolean;
  readonly tasks: number;
  readonly completed_tasks: number;
  readonly head: string;
  readonly base: string | null;
  readonly start: string;
  readonly files: number;
  readonly commits: number;
}

const insertMergeRequestRow = statement<NewMergeRequestRow, { readonly id: number; readonly created_at: Date }>(
  'merge_requests_insert',
  `insert into merge_requests (project_id, iid, source_project_id, author_id, title, description, draft, source_branch,
     target_branch, milestone_id, force_remove_source_branch, squash, merge_after, allow_collaboration, task_count,
     completed_task_count, head_sha, base_sha, start_sha, files_count, commits_count)
   values (:project::bigint, :iid::bigint, :source_project::bigint, :author::bigint, :title, :description, :draft::boolean,
     :source_branch, :target_branch, :milestone::bigint, :force_remove::boolean, :squash::boolean,
     :merge_after::timestamptz, :allow_collaboration::boolean, :tasks::integer, :completed_tasks::integer, :head, :base, :start, :files::integer,
     :commits::integer)
   returning id, created_at`,
);

/** Inserts a new merge request. The number is taken last, so that the row of the counter is locked only briefly. */
export async function insertMergeRequest(
  tx: Tx,
  place: { readonly projectId: number; readonly authorId: number; readonly milestoneId: number | null },
  input: NewMergeRequest,
  version: MeasuredVersion,
): Promise<MergeRequestFacts> {
  const { projectId, authorId, milestoneId } = place;
  const { taskCount, completedTaskCount } = countDescriptionTasks(input.description);
  const iid = await nextInternalId(tx, 'merge_requests', projectId);
  const [row] = await tx.run(insertMergeRequestRow, {
    project: projectId,
    iid,
    source_project: input.sourceProjectId,
    author: authorId,
    title: input.title,
    description: input.description,
    draft: isDraftTitle(input.title),
    source_branch: input.sourceBranch,
    target_branch: input.targetBranch,
    milestone: milestoneId,
    force_remove: input.forceRemoveSourceBranch,
    squash: input.squash,
    merge_after: input.mergeAfter,
    allow_collaboration: input.allowCollaboration,
    tasks: taskCount,
    completed_tasks: completedTaskCount,
    head: version.headSha,
    base: version.baseSha,
    start: version.startSha,
    files: version.filesCount,
    commits: version.commitsCount,
  });
  return { id: row!.id, iid, projectId, authorId, createdAt: row!.created_at };
}

/**
 * Removes the fields that a caller who may not plan cannot set: they are ignored. Errors: Invalid for too many people.
 * Source: reference repositories 8.4, 8.18.
 */
export function keepPermittedMergeRequestFields(input: NewMergeRequest, mayPlan: boolean): NewMergeRequest {
  if (!mayPlan) return { ...input, assigneeIds: [], reviewerIds: [], labels: undefined, milestoneId: null };
  assertPeopleWithinLimit(input);
  return input;
}

import { AtLeastOneOf, Flag, Instant, Int, ListOf, OneOf, Text } from '@rookery/api-v4';
import { assertAllUsed } from '@rookery/kernel';
import { requestedLabels } from '../../planning/labels/labelling/requested-labels';
import { toRequestedPersonIds } from '../../planning/people/people-filter';
import type { MergeRequestUpdate } from './merge-request-change';
import { squashesByDefault } from './merging/merge-rules';
import type { MergeRules } from './merging/merge-rules';
import type { NewMergeRequest } from './new-merge-request';

export class IdentifyMergeRequest {
  @Int() merge_request_iid: number;
}

export class ShowMergeRequest extends IdentifyMergeRequest {
  @Flag({ default: false, about: 'Adds the number of commits of the target that the source lacks.' })
  include_diverged_commits_count: boolean;
  @Flag({ default: false, about: 'Adds whether a rebase is in progress.' }) include_rebase_in_progress: boolean;
  @Flag({ default: false, about: 'Adds the title and the description as HTML.' }) render_html: boolean;
}

/**
 * Fields that creating and updating a merge request share. `assignee_ids` with 0 or empty, and `assignee_id` 0 or empty,
 * mean no assignee.
 */
class MergeRequestWriteFields {
  @Text({ optional: true, nullable: true, about: 'At most 1,048,576 characters of Markdown.' })
  description?: string | null;
  @ListOf('int', { optional: true, nullable: true }) assignee_ids?: readonly number[] | null;
  @Int({ optional: true, nullable: true }) assignee_id?: number | null;
  @ListOf('int', { optional: true, nullable: true }) reviewer_ids?: readonly number[] | null;
  @Int({
    optional: true,
    nullable: true,
    min: 0,
    about: 'A milestone of the project or an ancestor group; 0 removes it.',
  })
  milestone_id?: number | null;
  @ListOf('text', { optional: true, splitItems: true, about: 'Names; an empty list removes all labels.' })
  labels?: readonly string[];
  @Flag({ optional: true, about: 'Whether the source branch is removed after the merge.' })
  remove_source_branch?: boolean;
  @Flag({ optional: true, about: 'Whether the commits become one when they are merged.' }) squash?: boolean;
  @Flag({
    optional: true,
    about: 'Whether developers of the target may push to the source branch. Only for merge requests from forks.',
  })
  allow_collaboration?: boolean;
  @Flag({ optional: true, deprecated: 'allow_collaboration' }) allow_maintainer_to_push?: boolean;
  @Instant({ optional: true, nullable: true, about: 'The merge request cannot be merged before.' })
  merge_after?: Date | null;
}

/** Parameters for creating a merge request. */
export class CreateMergeRequest extends MergeRequestWriteFields {
  @Text({ about: 'At most 255 characters.' }) title: string;
  @Text() source_branch: string;
  @Text() target_branch: string;
  @Int({
    optional: true,
    about: 'Project of the target branch, in the same fork network. Default: the project itself.',
  })
  target_project_id?: number;
  @Int({ optional: true, hasNoEffect: true, about: 'Approval rules take its place.' }) approvals_before_merge?: number;
}

@AtLeastOneOf(
  'assignee_id',
  'assignee_ids',
  'reviewer_ids',
  'description',
  'labels',
  'add_labels',
  'remove_labels',
  'milestone_id',
  'remove_source_branch',
  'allow_collaboration',
  'allow_maintainer_to_push',
  'squash',
  'target_branch',
  'title',
  'state_event',
  'discussion_locked',
  'merge_after',
)
export class UpdateMergeRequest extends MergeRequestWriteFields {
  @Int() merge_request_iid: number;
  @Text({ optional: true, blank: 'refused', about: 'At most 255 characters.' }) title?: string;
  @Text({ optional: true, blank: 'refused' }) target_branch?: string;
  @OneOf(['close', 'reopen'], { optional: true }) state_event?: 'close' | 'reopen';
  @Flag({ optional: true, nullable: true }) discussion_locked?: boolean | null;
  @ListOf('text', { optional: true, splitItems: true }) add_labels?: readonly string[];
  @ListOf('text', { optional: true, splitItems: true }) remove_labels?: readonly string[];
}

/** Parameters of an update that have no effect for callers below the role of a reporter. */
export const PLANNED_PARAMS = [
  'assignee_id',
  'assignee_ids',
  'reviewer_ids',
  'labels',
  'add_labels',
  'remove_labels',
  'milestone_id',
  'discussion_locked',
] as const satisfies readonly (keyof UpdateMergeRequest)[];

/** Maps the parameters to a new merge request. Settings of the project take the place of wishes that are not given. */
export function toNewMergeRequest(
  params: CreateMergeRequest,
  sourceProjectId: number,
  rules: MergeRules,
): NewMergeRequest {
  const { title, description, source_branch, target_branch, assignee_ids, assignee_id, reviewer_ids, ...others } =
    params;
  const { milestone_id, labels, remove_source_branch, squash, merge_after, target_project_id: _, ...ignored } = others;
  const { allow_collaboration, allow_maintainer_to_push, approvals_before_merge: __, ...rest } = ignored;
  assertAllUsed(rest);
  return {
    title,
    description: description ?? null,
    sourceProjectId,
    sourceBranch: source_branch,
    targetBranch: target_branch,
    assigneeIds: toRequestedPersonIds(assignee_ids, assignee_id) ?? [],
    reviewerIds: toRequestedPersonIds(reviewer_ids) ?? [],
    labels: requestedLabels(labels, undefined, undefined),
    milestoneId: milestone_id || null,
    forceRemoveSourceBranch: remove_source_branch ?? rules.removesSource,
    squash: squash ?? squashesByDefault(rules),
    mergeAfter: merge_after ?? null,
    allowCollaboration: allow_collaboration ?? allow_maintainer_to_push ?? false,
  };
}

/** Maps the parameters to an update of the merge request that the path names. */
export function toMergeRequestUpdate({ merge_request_iid: _, ...params }: UpdateMergeRequest): MergeRequestUpdate {
  const { title, description, target_branch, state_event, assignee_ids, assignee_id, reviewer_ids, ...others } = params;
  const { labels, add_labels, remove_labels, milestone_id, remove_source_branch, squash, ...more } = others;
  const { discussion_locked, merge_after, allow_collaboration, allow_maintainer_to_push, ...rest } = more;
  assertAllUsed(rest);
  return {
    title,
    description,
    targetBranch: target_branch,
    stateEvent: state_event,
    assigneeIds: toRequestedPersonIds(assignee_ids, assignee_id),
    reviewerIds: toRequestedPersonIds(reviewer_ids),
    labels: requestedLabels(labels, add_labels, remove_labels),
    milestoneId: milestone_id === 0 ? null : milestone_id,
    forceRemoveSourceBranch: remove_source_branch,
    squash,
    discussionLocked: discussion_locked,
    mergeAfter: merge_after,
    allowCollaboration: allow_collaboration ?? allow_maintainer_to_push,
  };
}

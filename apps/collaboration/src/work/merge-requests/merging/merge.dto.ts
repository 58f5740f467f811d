import { Flag, Text } from '@rookery/api-v4';
import { IdentifyMergeRequest } from '../merge-requests.dto';
import type { MergeWishes } from './merge-wishes';

/** Parameters of a merge. */
export class MergeMergeRequest extends IdentifyMergeRequest {
  @Text({ optional: true, nullable: true, about: 'Default: names of the branches, title and reference.' })
  merge_commit_message?: string | null;
  @Text({ optional: true, nullable: true, about: 'Default: the title.' }) squash_commit_message?: string | null;
  @Flag({ optional: true, nullable: true, about: 'Overrides `remove_source_branch` of the merge request.' })
  should_remove_source_branch?: boolean | null;
  @Flag({ optional: true, nullable: true, deprecated: 'auto_merge' }) merge_when_pipeline_succeeds?: boolean | null;
  @Flag({ optional: true, nullable: true, about: 'Merges as soon as all checks pass.' }) auto_merge?: boolean | null;
  @Text({ optional: true, nullable: true, about: 'Head of the source branch that the caller knows.' })
  sha?: string | null;
  @Flag({ optional: true, nullable: true }) squash?: boolean | null;
}

export class RebaseMergeRequest extends IdentifyMergeRequest {
  @Flag({ default: false, about: 'Starts no pipeline for the rebased commits, like the push option `ci.skip`.' })
  skip_ci: boolean;
}

/** Maps the parameters. Blank messages count as not given. */
export function toMergeWishes(params: MergeMergeRequest): MergeWishes {
  const { merge_commit_message: merge, squash_commit_message: squash, auto_merge, sha } = params;
  const given = (text: string | null | undefined): string | null => (text && text.trim() !== '' ? text : null);
  return {
    mergeMessage: given(merge),
    squashMessage: given(squash),
    removesSource: params.should_remove_source_branch ?? null,
    isAutomatic: (auto_merge ?? params.merge_when_pipeline_succeeds) === true,
    sha: given(sha),
    squash: params.squash === true,
  };
}

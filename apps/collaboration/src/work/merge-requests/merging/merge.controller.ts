import { Controller } from '@nestjs/common';
import { ability, Endpoint, json, JsonText, one, project, signedIn } from '@rookery/api-v4';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { MergeRequestAnswers } from '../merge-request-answers';
import { mergeRequestDetailShape } from '../merge-request.shape';
import { IdentifyMergeRequest } from '../merge-requests.dto';
import { AutoMerge } from './auto-merge';
import { MergeMergeRequest, RebaseMergeRequest, toMergeWishes } from './merge.dto';
import { MergeService } from './merge.service';
import { RebaseService } from './rebase.service';

const SOURCE = 'reference repositories 8.9';

type WriteCall<P> = Call<P, ProjectScope, SignedInViewer>;
const objectSchemaWithOneProperty = (name: string, type: string, description: string) => ({
  type: 'object',
  properties: { [name]: { type, description } },
  required: [name],
});
/** Options of both endpoints that cancel an automatic merge. */
const CANCEL = {
  source: SOURCE,
  within: project('id', 'copy'),
  may: signedIn(),
  params: IdentifyMergeRequest,
  answers: json<{ status: string }>(objectSchemaWithOneProperty('status', 'string', 'Always `success`.'), {
    status: 201,
  }),
} as const;

@Controller('projects/:id/merge_requests/:merge_request_iid')
export class MergeController {
  constructor(
    private readonly merges: MergeService,
    private readonly rebases: RebaseService,
    private readonly autoMerge: AutoMerge,
    private readonly answers: MergeRequestAnswers,
  ) {}

  @Endpoint('PUT', 'merge', {
    about: 'Merges a merge request.',
    source: SOURCE,
    within: project('id', 'copy'),
    may: signedIn(),
    takesNoKey: true,
    params: MergeMergeRequest,
    answers: one(mergeRequestDetailShape.presenter),
    fails: [405, 409, 422, 429],
  })
  async merge({ params, viewer, within }: WriteCall<MergeMergeRequest>): Promise<JsonText> {
    await this.merges.merge(viewer, within, params.merge_request_iid, toMergeWishes(params));
    return new JsonText(await this.answers.showWritten(viewer, within, params.merge_request_iid));
  }

  @Endpoint('POST', 'cancel_merge_when_pipeline_succeeds', {
    ...CANCEL,
    about: 'Cancels the request to merge as soon as all checks pass.',
  })
  async cancel({ params, viewer, within }: WriteCall<IdentifyMergeRequest>): Promise<{ status: string }> {
    await this.autoMerge.cancel(viewer, within, params.merge_request_iid);
    return { status: 'success' };
  }

  @Endpoint('PUT', 'cancel_merge_when_pipeline_succeeds', {
    ...CANCEL,
    about: 'Cancels the request to merge as soon as all checks pass, for clients that send PUT.',
  })
  cancelByPut(call: WriteCall<IdentifyMergeRequest>): Promise<{ status: string }> {
    return this.cancel(call);
  }

  @Endpoint('PUT', 'rebase', {
    about: 'Rebases the source branch onto the target. The rebase has ended when the answer is sent.',
    source: SOURCE,
    within: project('id', 'copy'),
    may: signedIn(),
    takesNoKey: true,
    params: RebaseMergeRequest,
    answers: json<{ rebase_in_progress: boolean }>(
      objectSchemaWithOneProperty('rebase_in_progress', 'boolean', 'Always true.'),
      {
        status: 202,
      },
    ),
    fails: [409],
  })
  async rebase({ params, viewer, within }: WriteCall<RebaseMergeRequest>): Promise<{ rebase_in_progress: boolean }> {
    const { merge_request_iid: iid, skip_ci: skipsPipelines } = params;
    await this.rebases.rebase(viewer, within, iid, { skipsPipelines });
    return { rebase_in_progress: true };
  }

  @Endpoint('GET', 'merge_ref', {
    about: 'Writes the result of a merge to `refs/merge-requests/<iid>/merge`, and shows its commit.',
    source: SOURCE,
    within: project('id', 'copy'),
    may: ability(
      'merge_request.trial',
      ({ viewer, within }: WriteCall<IdentifyMergeRequest>) =>
        viewer.isAdmin || within.level >= ACCESS_LEVELS.developer,
      { signedIn: true },
    ),
    params: IdentifyMergeRequest,
    answers: json<{ commit_id: string }>(objectSchemaWithOneProperty('commit_id', 'string', 'Id of the trial merge.')),
    fails: [400],
  })
  async trial({ params, viewer, within }: WriteCall<IdentifyMergeRequest>): Promise<{ commit_id: string }> {
    return { commit_id: await this.rebases.writeTrialMerge(viewer, within, params.merge_request_iid) };
  }
}

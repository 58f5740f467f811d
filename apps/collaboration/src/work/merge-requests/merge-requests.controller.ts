import { Controller, Inject } from '@nestjs/common';
import {
  ability,
  anyone,
  checkUnmodifiedSince,
  created,
  Endpoint,
  JsonText,
  noContent,
  one,
  page,
  project,
  SCOPE_RESOLVER,
  signedIn,
} from '@rookery/api-v4';
import type { Call, JsonPage, ProjectScope, ScopeResolver } from '@rookery/api-v4';
import { Forbidden, Unprocessable } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { areInOneNetwork } from '../../code/repositories/forks/fork-network';
import { toMergeRequestFilter, ListMergeRequests, toMergeRequestOrder } from './listing/merge-request-list.dto';
import { MergeRequestAnswers } from './merge-request-answers';
import { mergeRequestPolicy } from './merge-request.policy';
import { listedMergeRequest, mergeRequestDetailShape, shownMergeRequestPresenter } from './merge-request.shape';
import { MergeRequestWrites } from './merge-request-writes';
import { mergeRulesOf } from './merging/merge-rules';
import {
  CreateMergeRequest,
  toMergeRequestUpdate,
  toNewMergeRequest,
  IdentifyMergeRequest,
  PLANNED_PARAMS,
  ShowMergeRequest,
  UpdateMergeRequest,
} from './merge-requests.dto';
import { MergeRequestsQueries } from './merge-requests.queries';

/**
 * Limit of a request body: a description of a million characters, escaped. Units: bytes. Source: reference reliability
 * 6.3.
 */
const BODY_LIMIT = 8 * 1024 * 1024;

type ReadCall<P> = Call<P, ProjectScope>;
type WriteCall<P> = Call<P, ProjectScope, SignedInViewer>;

@Controller('projects/:id/merge_requests')
export class MergeRequestsController {
  constructor(
    private readonly queries: MergeRequestsQueries,
    private readonly answers: MergeRequestAnswers,
    private readonly writes: MergeRequestWrites,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
  ) {}

  @Endpoint('GET', '', {
    about: 'Lists the merge requests of a project.',
    source: 'reference repositories 8.7',
    within: project('id', 'copy'),
    may: anyone(),
    params: ListMergeRequests,
    answers: page(listedMergeRequest),
    fails: [403],
  })
  list({ params, viewer, within, page }: ReadCall<ListMergeRequests>): Promise<JsonPage> {
    return this.queries.list(viewer, within, toMergeRequestFilter(params), toMergeRequestOrder(params), page);
  }

  @Endpoint('GET', ':merge_request_iid', {
    about: 'Shows one merge request.',
    source: 'reference repositories 8.2',
    within: project('id', 'copy'),
    may: anyone(),
    params: ShowMergeRequest,
    answers: one(shownMergeRequestPresenter),
    fails: [403],
  })
  async show({ params, viewer, within }: ReadCall<ShowMergeRequest>): Promise<JsonText> {
    const { merge_request_iid: iid, include_diverged_commits_count: diverged } = params;
    const wanted = { diverged, rebasing: params.include_rebase_in_progress, html: params.render_html };
    return new JsonText(await this.answers.show(viewer, within, iid, wanted));
  }

  @Endpoint('POST', '', {
    about: 'Opens a merge request and runs the quick actions in its description. The project is that of the source.',
    source: 'reference repositories 8.4; reference repositories 8.18; reference work-tracking 2.6',
    within: project('id', 'copy'),
    may: ability(
      'merge_request.create',
      ({ viewer, within }: WriteCall<CreateMergeRequest>) => mergeRequestPolicy.mayCreate(viewer, within),
      { signedIn: true },
    ),
    params: CreateMergeRequest,
    answers: created(mergeRequestDetailShape.presenter),
    fails: [409, 422, 429],
    bodyLimit: BODY_LIMIT,
  })
  async create({ params, viewer, within }: WriteCall<CreateMergeRequest>): Promise<JsonText> {
    const target = await this.findTargetProject(viewer, within, params.target_project_id);
    const iid = await this.writes.create(viewer, target, toNewMergeRequest(params, within.id, mergeRulesOf(target)));
    return new JsonText(await this.answers.showWritten(viewer, target, iid));
  }

  @Endpoint('PUT', ':merge_request_iid', {
    about: 'Updates, closes or reopens a merge request.',
    source: 'reference repositories 8.6',
    within: project('id', 'copy'),
    may: signedIn(),
    params: UpdateMergeRequest,
    withoutEffect: ({ viewer, within }) => (mergeRequestPolicy.mayPlan(viewer, within) ? [] : PLANNED_PARAMS),
    answers: one(mergeRequestDetailShape.presenter),
    fails: [409, 422, 429],
    bodyLimit: BODY_LIMIT,
  })
  async update({ params, viewer, within }: WriteCall<UpdateMergeRequest>): Promise<JsonText> {
    const { merge_request_iid: iid } = params;
    await this.writes.update(viewer, within, iid, toMergeRequestUpdate(params));
    return new JsonText(await this.answers.showWritten(viewer, within, iid));
  }

  @Endpoint('DELETE', ':merge_request_iid', {
    about: 'Deletes a merge request with its notes.',
    source: 'reference repositories 8.6',
    within: project('id', 'copy'),
    may: signedIn(),
    params: IdentifyMergeRequest,
    answers: noContent(),
    fails: [412],
  })
  remove(call: WriteCall<IdentifyMergeRequest>): Promise<void> {
    const { params, viewer, within } = call;
    const check = (updatedAt: Date): void => checkUnmodifiedSince(call, updatedAt);
    return this.writes.remove(viewer, within, params.merge_request_iid, check);
  }

  /** Finds the project of the target branch. Errors: Unprocessable outside of the fork network, Forbidden. */
  private async findTargetProject(
    viewer: SignedInViewer,
    source: ProjectScope,
    id: number | undefined,
  ): Promise<ProjectScope> {
    if (id === undefined || id === source.id) return source;
    const target = await this.scopes.findProject(id, viewer);
    if (!target || !areInOneNetwork(source, target))
      throw new Unprocessable(['Source project is not a fork of the target project']);
    if (!mergeRequestPolicy.mayTarget(viewer, target)) throw new Forbidden();
    return target;
  }
}

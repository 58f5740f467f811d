import { Controller } from '@nestjs/common';
import { ability, Endpoint, page, project } from '@rookery/api-v4';
import type { Call, JsonPage, Permission, ProjectScope } from '@rookery/api-v4';
import type { Viewer } from '@rookery/kernel';
import { createNoteableReader, canReadFeature } from '../../../base/noteables/reader';
import { IdentifyCommit } from '../../../code/commits/commits.dto';
import { readsHistoryOf } from '../../../code/repositories/code.permission';
import { listedMergeRequest } from '../merge-request.shape';
import { MergeRequestsQueries } from '../merge-requests.queries';
import { CommitMergeRequestsQueries } from './commit-merge-requests.queries';

const NEWEST = { orderBy: 'created_at', sort: 'desc' } as const;
/** Needs the right to read merge requests and the right to read history. */
const readsMergeRequestsAndHistory: Permission<unknown, ProjectScope, Viewer> = ability(
  'may read merge requests of commits',
  async (call, services) =>
    (await readsHistoryOf.may.rule!(call, services)) &&
    canReadFeature('merge_requests', call.within, createNoteableReader(call.viewer, call.within)),
);

/** Merge requests of a commit. Source: reference repositories 4.2. */
@Controller('projects/:id/repository/commits')
export class CommitMergeRequestsController {
  constructor(
    private readonly queries: MergeRequestsQueries,
    private readonly found: CommitMergeRequestsQueries,
  ) {}

  @Endpoint('GET', ':sha/merge_requests', {
    ...readsHistoryOf,
    within: project('id', 'copy'),
    may: readsMergeRequestsAndHistory,
    about: 'Lists the merge requests that contain a commit, the newest first.',
    source: 'reference repositories 4.2',
    params: IdentifyCommit,
    answers: page(listedMergeRequest),
    fails: [404],
  })
  async list({ params, viewer, within, page: asked }: Call<IdentifyCommit, ProjectScope>): Promise<JsonPage> {
    const iids = await this.found.findMergeRequestIds(within, params.sha);
    return this.queries.list(viewer, within, { iids }, NEWEST, asked);
  }
}

import { Controller } from '@nestjs/common';
import { anyone, Endpoint, Flag, Int, JsonText, one, page, project, signedIn, streamedFile } from '@rookery/api-v4';
import type { Call, FileAnswer, ProjectScope } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { commitPresenter } from '../../../code/commits/commit.presenter';
import type { CommitRow } from '../../../code/commits/commit.presenter';
import { diffPresenter } from '../../../code/commits/diffs/diff.presenter';
import type { FileDiff } from '../../../code/commits/diffs/read-diffs';
import { MergeRequestAnswers } from '../merge-request-answers';
import { IdentifyMergeRequest } from '../merge-requests.dto';
import { MergeRequestVersionContentsQueries } from './version-contents';
import type { VersionContents } from './version-contents';
import { changesPresenter, versionContentsPresenter, versionPresenter } from './version.presenter';

class ListDiffs extends IdentifyMergeRequest {
  @Flag({ default: false, about: 'Patches begin with the names of the file.' }) unidiff: boolean;
}
class ShowChanges extends ListDiffs {
  @Flag({ default: false, about: 'Shows all patches, up to 50 MiB.' }) access_raw_diffs: boolean;
}
class IdentifyVersion extends IdentifyMergeRequest {
  @Int() version_id: number;
}

type ReadCall<P> = Call<P, ProjectScope>;
const SOURCE = 'reference repositories 8.8';
const reads = { within: project('id', 'copy'), may: anyone(), fails: [403] } as const;
const readsSignedIn = { within: project('id', 'copy'), may: signedIn() } as const;

/** Commits, diffs and versions of merge requests. */
@Controller('projects/:id/merge_requests/:merge_request_iid')
export class MergeRequestVersionsController {
  constructor(
    private readonly contents: MergeRequestVersionContentsQueries,
    private readonly answers: MergeRequestAnswers,
  ) {}

  @Endpoint('GET', 'commits', {
    ...reads,
    about: 'Lists the commits of a merge request, the newest first.',
    source: SOURCE,
    params: IdentifyMergeRequest,
    answers: page(commitPresenter),
  })
  commits({ params, viewer, within, page: asked }: ReadCall<IdentifyMergeRequest>): Promise<Page<CommitRow>> {
    return this.contents.listCommits(viewer, within, params.merge_request_iid, asked);
  }

  @Endpoint('GET', 'diffs', {
    ...reads,
    about: 'Lists the changed files of a merge request.',
    source: SOURCE,
    params: ListDiffs,
    answers: page(diffPresenter),
  })
  diffs({ params, viewer, within, page: asked }: ReadCall<ListDiffs>): Promise<Page<FileDiff>> {
    const form = { page: asked, isUnified: params.unidiff };
    return this.contents.listDiffs(viewer, within, params.merge_request_iid, form);
  }

  @Endpoint('GET', 'changes', {
    ...reads,
    about: 'Shows a merge request with its changed files.',
    source: SOURCE,
    params: ShowChanges,
    answers: one(changesPresenter),
    fails: [403, 413],
    deprecated: 'The list of diffs has pages.',
  })
  async changes({ params, viewer, within }: ReadCall<ShowChanges>): Promise<JsonText> {
    const { merge_request_iid: iid, access_raw_diffs: isRaw, unidiff: isUnified } = params;
    const shown = await this.answers.showWritten(viewer, within, iid);
    const { files, isCut } = await this.contents.readChanges(viewer, within, iid, { isRaw, isUnified });
    // The presenter of diffs reads nothing of its context.
    const changes = await diffPresenter.renderList(files, {} as never);
    return new JsonText(`${shown.slice(0, -1)},"changes":${changes},"overflow":${isCut}}`);
  }

  @Endpoint('GET', 'raw_diffs', {
    ...reads,
    about: 'Downloads the diff of a merge request as text, up to 50 MiB.',
    source: SOURCE,
    params: IdentifyMergeRequest,
    answers: streamedFile('text/plain'),
  })
  async rawDiffs({ params, viewer, within }: ReadCall<IdentifyMergeRequest>): Promise<FileAnswer> {
    const stream = await this.contents.rawDiff(viewer, within, params.merge_request_iid);
    return { mediaType: 'text/plain', stream, isNeverStored: true };
  }

  @Endpoint('GET', 'versions', {
    ...readsSignedIn,
    about: 'Lists the versions of a merge request, the newest first.',
    source: 'reference repositories 8.5',
    params: IdentifyMergeRequest,
    answers: page(versionPresenter),
  })
  async versions(
    call: Call<IdentifyMergeRequest, ProjectScope, SignedInViewer>,
  ): Promise<Page<Pick<VersionContents, 'version'>>> {
    const { params, viewer, within } = call;
    const { rows, ...rest } = await this.contents.listVersions(viewer, within, params.merge_request_iid, call.page);
    return { ...rest, rows: rows.map((version) => ({ version })) };
  }

  @Endpoint('GET', 'versions/:version_id', {
    ...readsSignedIn,
    about: 'Shows a version of a merge request with its commits and changed files.',
    source: 'reference repositories 8.5',
    params: IdentifyVersion,
    answers: one(versionContentsPresenter),
    fails: [404, 413],
  })
  version({ params, viewer, within }: Call<IdentifyVersion, ProjectScope, SignedInViewer>): Promise<VersionContents> {
    return this.contents.findVersion(viewer, within, params.merge_request_iid, params.version_id);
  }
}

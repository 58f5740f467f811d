import { Controller } from '@nestjs/common';
import { created, Endpoint, one, page } from '@rookery/api-v4';
import type { Call, ProjectScope } from '@rookery/api-v4';
import type { Page, SignedInViewer, Viewer } from '@rookery/kernel';
import { managesCodeOf, readsFilesOf, writesCodeOf } from '../../code/repositories/code.permission';
import { ReleaseAnswers } from './release-answers';
import type { Release } from './release.entity';
import { readsReleasesOf } from './release.permission';
import { releasePresenter } from './release.presenter';
import type { ReleaseRow } from './release-row';
import { CreateRelease, ListReleases, IdentifyRelease, ShowRelease, UpdateRelease } from './releases.dto';
import { ReleasesQueries } from './releases.queries';
import { ReleasesService } from './releases.service';

const ALL = '/projects/:id/releases';
const ONE = `${ALL}/:tag_name`;
const SOURCE = 'reference repositories 7.1';
const WRITES = 'reference repositories 7.3';
const DESCRIPTION_BODY_LIMIT = 8 * 1024 * 1024;
const manages = { ...managesCodeOf, source: WRITES, answers: one(releasePresenter) } as const;

type ReadCall<P> = Call<P, ProjectScope>;
type WriteCall<P> = Call<P, ProjectScope, SignedInViewer>;

/** Releases of projects. Source: reference repositories 7. */
@Controller()
export class ReleasesController {
  constructor(
    private readonly queries: ReleasesQueries,
    private readonly releases: ReleasesService,
    private readonly answers: ReleaseAnswers,
  ) {}

  @Endpoint('GET', ALL, {
    ...readsReleasesOf,
    source: SOURCE,
    about: 'Releases of a project, the latest first.',
    params: ListReleases,
    answers: page(releasePresenter),
  })
  async list({ params, viewer, within, page: request }: ReadCall<ListReleases>): Promise<Page<ReleaseRow>> {
    const { include_html_description: hasHtml, ...query } = params;
    const found = await this.queries.list(within, query, request);
    return { ...found, rows: await this.answers.loadRows({ project: within, viewer, hasHtml }, found.rows) };
  }

  @Endpoint('GET', ONE, {
    ...readsFilesOf,
    source: SOURCE,
    about: 'One release.',
    params: ShowRelease,
    answers: one(releasePresenter),
    fails: [404],
  })
  async show(call: ReadCall<ShowRelease>): Promise<ReleaseRow> {
    const release = await this.queries.findRelease(call.within, call.params.tag_name);
    return this.loadReleaseRow(call, release, call.params.include_html_description);
  }

  @Endpoint('POST', ALL, {
    ...writesCodeOf,
    source: WRITES,
    about: 'Creates a release, and its tag if that does not exist.',
    params: CreateRelease,
    answers: created(releasePresenter),
    bodyLimit: DESCRIPTION_BODY_LIMIT,
    fails: [404, 409, 422],
  })
  async create(call: WriteCall<CreateRelease>): Promise<ReleaseRow> {
    const { viewer, within, params } = call;
    return this.loadReleaseRow(call, await this.releases.create({ project: within, viewer }, params));
  }

  @Endpoint('PUT', ONE, {
    ...manages,
    about: 'Changes a release.',
    params: UpdateRelease,
    bodyLimit: DESCRIPTION_BODY_LIMIT,
    fails: [404],
  })
  async update(call: WriteCall<UpdateRelease>): Promise<ReleaseRow> {
    const { tag_name: tag, ...change } = call.params;
    return this.loadReleaseRow(
      call,
      await this.releases.update({ project: call.within, viewer: call.viewer }, tag, change),
    );
  }

  @Endpoint('DELETE', ONE, {
    ...manages,
    about: 'Removes a release. The tag remains.',
    params: IdentifyRelease,
    fails: [404],
  })
  async remove(call: WriteCall<IdentifyRelease>): Promise<ReleaseRow> {
    const release = await this.queries.findRelease(call.within, call.params.tag_name);
    const row = await this.loadReleaseRow(call, release);
    await this.releases.remove({ project: call.within, viewer: call.viewer }, release);
    return row;
  }

  private loadReleaseRow(
    { within, viewer }: { readonly within: ProjectScope; readonly viewer: Viewer },
    release: Release,
    hasHtml = false,
  ): Promise<ReleaseRow> {
    return this.answers.loadRow({ project: within, viewer, hasHtml }, release);
  }
}

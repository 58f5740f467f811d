import { Controller, Inject } from '@nestjs/common';
import { created, Endpoint, one, page } from '@rookery/api-v4';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { mayReadCode } from '@rookery/directory';
import { CLOCK, Forbidden } from '@rookery/kernel';
import type { Clock, Page, SignedInViewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import type { Collection } from '@rookery/persistence';
import { managesCodeOf } from '../../../code/repositories/code.permission';
import type { Release } from '../release.entity';
import { readsReleasesOf } from '../release.permission';
import { ReleaseTags } from '../release-tags';
import { ReleasesQueries } from '../releases.queries';
import { ReleaseLink } from './release-link.entity';
import { releaseLinkPresenter } from './release-link.presenter';
import type { ReleaseLinkRow } from './release-link-row';
import { CreateReleaseLink, ListReleaseLinks, IdentifyReleaseLink, UpdateReleaseLink } from './release-links.dto';
import { releaseLinks } from './release-links.queries';

const ALL = '/projects/:id/releases/:tag_name/assets/links';
const ONE = `${ALL}/:link_id`;
const SOURCE = 'reference repositories 7.4';
const reads = { ...readsReleasesOf, source: SOURCE, fails: [404] } as const;
const manages = { ...managesCodeOf, source: SOURCE, fails: [404] } as const;

type ReadCall<P> = Call<P, ProjectScope>;
type WriteCall<P> = Call<P, ProjectScope, SignedInViewer>;

/** Links of releases. Source: reference repositories 7.4. */
@Controller()
export class ReleaseLinksController {
  private readonly links: Collection<ReleaseLink>;

  constructor(
    work: Work,
    private readonly releases: ReleasesQueries,
    private readonly tags: ReleaseTags,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.links = releaseLinks.on(work);
  }

  @Endpoint('GET', ALL, {
    ...reads,
    about: 'Links of a release, the newest first.',
    params: ListReleaseLinks,
    answers: page(releaseLinkPresenter),
  })
  async list(call: ReadCall<ListReleaseLinks>): Promise<Page<ReleaseLinkRow>> {
    const { id } = await this.releases.findRelease(call.within, call.params.tag_name);
    const found = await this.links.list({ page: call.page, within: id });
    return { ...found, rows: found.rows.map((link) => toLinkRow(call, link)) };
  }

  @Endpoint('GET', ONE, {
    ...reads,
    about: 'One link of a release.',
    params: IdentifyReleaseLink,
    answers: one(releaseLinkPresenter),
  })
  async show(call: ReadCall<IdentifyReleaseLink>): Promise<ReleaseLinkRow> {
    const { id } = await this.releases.findRelease(call.within, call.params.tag_name);
    return toLinkRow(call, await this.links.find(call.params.link_id, id));
  }

  @Endpoint('POST', ALL, {
    ...manages,
    about: 'Adds a link to a release.',
    params: CreateReleaseLink,
    answers: created(releaseLinkPresenter),
  })
  async create(call: WriteCall<CreateReleaseLink>): Promise<ReleaseLinkRow> {
    const { tag_name: _tag, ...input } = call.params;
    const { id } = await this.findChangeableRelease(call);
    const link = ReleaseLink.create(input, this.clock.now());
    return toLinkRow(call, await this.links.create(link, { actorId: call.viewer.userId, within: id }));
  }

  @Endpoint('PUT', ONE, {
    ...manages,
    about: 'Changes a link of a release.',
    params: UpdateReleaseLink,
    answers: one(releaseLinkPresenter),
  })
  async update(call: WriteCall<UpdateReleaseLink>): Promise<ReleaseLinkRow> {
    const { tag_name: _tag, link_id: linkId, ...input } = call.params;
    const { id } = await this.findChangeableRelease(call);
    const change = (link: ReleaseLink): void => link.change(input, this.clock.now());
    return toLinkRow(call, await this.links.change(linkId, change, { actorId: call.viewer.userId, within: id }));
  }

  @Endpoint('DELETE', ONE, {
    ...manages,
    about: 'Removes a link of a release.',
    params: IdentifyReleaseLink,
    answers: one(releaseLinkPresenter),
  })
  async remove(call: WriteCall<IdentifyReleaseLink>): Promise<ReleaseLinkRow> {
    const { id } = await this.findChangeableRelease(call);
    return toLinkRow(call, await this.links.remove(call.params.link_id, { actorId: call.viewer.userId, within: id }));
  }

  /** Errors: NotFound; Forbidden if the caller may not create the tag. */
  private async findChangeableRelease({
    within,
    viewer,
    params,
  }: WriteCall<{ readonly tag_name: string }>): Promise<Release> {
    const release = await this.releases.findRelease(within, params.tag_name);
    if (!(await this.tags.mayCreate({ project: within, viewer }, release.tag))) throw new Forbidden();
    return release;
  }
}

function toLinkRow(
  { within, viewer, params }: ReadCall<{ readonly tag_name: string }>,
  link: ReleaseLink,
): ReleaseLinkRow {
  return { link, project: within, tag: params.tag_name, readsCode: mayReadCode(viewer, within) };
}

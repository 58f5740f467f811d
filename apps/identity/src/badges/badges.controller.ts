import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { anyone, atLeast, checkUnmodifiedSince, created, Endpoint, none, one, page, source } from '@rookery/api-v4';
import type { Page, SignedInViewer, Viewer } from '@rookery/kernel';
import { BadgeRendering } from './badge-rendering';
import type { BadgeRow, BadgeSource, Rendered } from './badge-row';
import { badge, badgePreview } from './badge.presenter';
import { BadgeParams, CreateBadgeParams, ListBadgesParams, PreviewBadgeParams, UpdateBadgeParams } from './badges.dto';
import { BadgesQueries } from './badges.queries';
import { BadgesService } from './badges.service';

const SOURCE = 'requirements 2 §4 Badges';
const REST = 'reference identity-and-import 8';
type BadgeCall<P, V extends Viewer = SignedInViewer> = Call<P, BadgeSource, V>;

/** The same routes below projects and below groups. */
function badgesBelow(kind: 'project' | 'group') {
  const base = `/${kind}s/:id/badges`;
  const documented = kind === 'project' ? SOURCE : REST;
  const reads = { within: source(kind), may: anyone() } as const;
  const manages = { within: source(kind), may: atLeast(kind === 'project' ? 'maintainer' : 'owner') } as const;

  @Controller()
  class BadgesController {
    constructor(
      readonly badges: BadgesService,
      readonly queries: BadgesQueries,
      readonly rendering: BadgeRendering,
    ) {}

    @Endpoint('GET', base, {
      ...reads,
      about: kind === 'project' ? 'Badges of a project and of the groups above it.' : 'Badges of a group.',
      source: documented,
      params: ListBadgesParams,
      answers: page(badge),
    })
    async list(call: BadgeCall<ListBadgesParams, Viewer>): Promise<Page<Rendered<BadgeRow>>> {
      const found = await this.queries.page(call.within, call.params.name, call.page);
      return { ...found, rows: await this.rendering.of(call.within, call.viewer, found.rows) };
    }

    @Endpoint('GET', `${base}/render`, {
      ...manages,
      about: 'How a badge would look; nothing is stored.',
      source: REST,
      params: PreviewBadgeParams,
      answers: one(badgePreview),
    })
    async preview(call: BadgeCall<PreviewBadgeParams>) {
      this.badges.check(call.params);
      const { link_url, image_url } = call.params;
      const [rendered] = await this.rendering.of(call.within, call.viewer, [{ name: null, link_url, image_url }]);
      return rendered!;
    }

    @Endpoint('GET', `${base}/:badge_id`, {
      ...reads,
      about: `One badge of a ${kind}.`,
      source: documented,
      params: BadgeParams,
      fails: [404],
      answers: one(badge),
    })
    async show(call: BadgeCall<BadgeParams, Viewer>): Promise<Rendered<BadgeRow>> {
      return this.shown(call, await this.queries.one(call.within, call.params.badge_id));
    }

    @Endpoint('POST', base, {
      ...manages,
      about: `Adds a badge to a ${kind}.`,
      source: documented,
      params: CreateBadgeParams,
      answers: created(badge),
    })
    async create(call: BadgeCall<CreateBadgeParams>): Promise<Rendered<BadgeRow>> {
      return this.shown(call, await this.badges.create(call.within, call.params));
    }

    @Endpoint('PUT', `${base}/:badge_id`, {
      ...manages,
      about: `Changes a badge of a ${kind}.`,
      source: documented,
      params: UpdateBadgeParams,
      fails: [404],
      answers: one(badge),
    })
    async update(call: BadgeCall<UpdateBadgeParams>): Promise<Rendered<BadgeRow>> {
      const { badge_id: id, ...change } = call.params;
      return this.shown(call, await this.badges.change(call.within, id, change));
    }

    @Endpoint('DELETE', `${base}/:badge_id`, {
      ...manages,
      about: `Removes a badge of a ${kind}.`,
      source: REST,
      params: BadgeParams,
      fails: [404, 412],
      answers: none(),
    })
    async remove(call: BadgeCall<BadgeParams>): Promise<void> {
      await this.badges.remove(call.within, call.params.badge_id, (at) => checkUnmodifiedSince(call, at));
    }

    async shown(call: BadgeCall<object, Viewer>, row: BadgeRow): Promise<Rendered<BadgeRow>> {
      return (await this.rendering.of(call.within, call.viewer, [row]))[0]!;
    }
  }
  return BadgesController;
}

export const ProjectBadgesController = badgesBelow('project');
export const GroupBadgesController = badgesBelow('group');

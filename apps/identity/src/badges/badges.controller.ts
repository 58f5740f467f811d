import { Controller, Inject } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import {
  anyone,
  atLeast,
  actorAndParent,
  created,
  Endpoint,
  actorParentAndPrecondition,
  noContent,
  one,
  page,
  projectOrGroup,
} from '@rookery/api-v4';
import { CLOCK, Forbidden, NotFound } from '@rookery/kernel';
import type { Clock, Page, SignedInViewer, Viewer } from '@rookery/kernel';
import type { AllFilters, Collection } from '@rookery/persistence';
import { defineCollection, filter, Work } from '@rookery/persistence';
import { BadgeRendering } from './badge-rendering';
import type { BadgeSource, RenderedBadge } from './badge-rendering';
import { Badge } from './badge.entity';
import { badge, badgePreview } from './badge.presenter';
import { IdentifyBadge, CreateBadge, ListBadges, PreviewBadge, UpdateBadge } from './badges.dto';

const SOURCE = 'requirements 2 §4 Badges';
const REST = 'reference identity-and-import 8';
type BadgeCall<P, V extends Viewer = SignedInViewer> = Call<P, BadgeSource, V>;

const FILTERS: AllFilters<ListBadges> = { name: filter.equals('row.name') };

/**
 * Badges. A project also lists the badges of its groups, which can only be changed in the groups. Source: reference
 * identity-and-import 8.
 */
export const badges = defineCollection(Badge, {
  within: {
    project: 'projectId',
    group: 'namespaceId',
    inherit: ['project'],
    refuse: (verb) => new Forbidden(`To ${verb} a Group badge please use the Group endpoint`, { inError: true }),
  },
  order: { createdAt: 'ASC' },
  filters: FILTERS,
  taken: { fk_badges_project_id: () => new NotFound('Project'), fk_badges_namespace_id: () => new NotFound('Group') },
});

/** Creates the controller with the badge routes of projects or of groups. */
function createBadgesController(kind: 'project' | 'group') {
  const base = `/${kind}s/:id/badges`;
  const documented = kind === 'project' ? SOURCE : REST;
  const reads = { within: projectOrGroup(kind), may: anyone() } as const;
  const manages = { within: projectOrGroup(kind), may: atLeast(kind === 'project' ? 'maintainer' : 'owner') } as const;

  @Controller()
  class BadgesController {
    readonly badges: Collection<Badge, ListBadges>;

    constructor(
      work: Work,
      readonly rendering: BadgeRendering,
      @Inject(CLOCK) readonly clock: Clock,
    ) {
      this.badges = badges.on(work);
    }

    @Endpoint('GET', base, {
      ...reads,
      about: kind === 'project' ? 'Lists badges of a project and of the groups above it.' : 'Lists badges of a group.',
      source: documented,
      params: ListBadges,
      answers: page(badge),
    })
    async list(call: BadgeCall<ListBadges, Viewer>): Promise<Page<RenderedBadge>> {
      const found = await this.badges.list({ page: call.page, within: call.within, filters: call.params });
      return { ...found, rows: await this.rendering.renderBadges(call.within, call.viewer, found.rows) };
    }

    @Endpoint('GET', `${base}/render`, {
      ...manages,
      about: 'Renders a badge without storing it.',
      source: REST,
      params: PreviewBadge,
      answers: one(badgePreview),
    })
    async preview(call: BadgeCall<PreviewBadge>): Promise<RenderedBadge> {
      return this.shown(call, Badge.create(call.params, this.clock.now()));
    }

    @Endpoint('GET', `${base}/:badge_id`, {
      ...reads,
      about: `Returns a badge of a ${kind}.`,
      source: documented,
      params: IdentifyBadge,
      fails: [404],
      answers: one(badge),
    })
    async show(call: BadgeCall<IdentifyBadge, Viewer>): Promise<RenderedBadge> {
      return this.shown(call, await this.badges.find(call.params.badge_id, call.within));
    }

    @Endpoint('POST', base, {
      ...manages,
      about: `Adds a badge to a ${kind}.`,
      source: documented,
      params: CreateBadge,
      answers: created(badge),
    })
    async create(call: BadgeCall<CreateBadge>): Promise<RenderedBadge> {
      return this.shown(
        call,
        await this.badges.create(Badge.create(call.params, this.clock.now()), actorAndParent(call)),
      );
    }

    @Endpoint('PUT', `${base}/:badge_id`, {
      ...manages,
      about: `Changes a badge of a ${kind}.`,
      source: documented,
      params: UpdateBadge,
      fails: [404],
      answers: one(badge),
    })
    async update(call: BadgeCall<UpdateBadge>): Promise<RenderedBadge> {
      const change = (one: Badge): void => one.change(call.params, this.clock.now());
      return this.shown(call, await this.badges.change(call.params.badge_id, change, actorAndParent(call)));
    }

    @Endpoint('DELETE', `${base}/:badge_id`, {
      ...manages,
      about: `Deletes a badge of a ${kind}.`,
      source: REST,
      params: IdentifyBadge,
      fails: [404, 412],
      answers: noContent(),
    })
    async remove(call: BadgeCall<IdentifyBadge>): Promise<void> {
      await this.badges.remove(call.params.badge_id, actorParentAndPrecondition(call));
    }

    async shown(call: BadgeCall<object, Viewer>, row: Badge): Promise<RenderedBadge> {
      return (await this.rendering.renderBadges(call.within, call.viewer, [row]))[0]!;
    }
  }
  return BadgesController;
}

export const ProjectBadgesController = createBadgesController('project');
export const GroupBadgesController = createBadgesController('group');

import { Controller, Inject } from '@nestjs/common';
import {
  actorAndParent,
  atLeast,
  created,
  Endpoint,
  actorParentAndPrecondition,
  noContent,
  one,
  page,
  project,
} from '@rookery/api-v4';
import type { Call, ProjectScope } from '@rookery/api-v4';
import type { Clock, Page } from '@rookery/kernel';
import { CLOCK, Conflict, NotFound } from '@rookery/kernel';
import { declareAttachedTable, defineCollection, filter, Work } from '@rookery/persistence';
import type { AllFilters, Collection } from '@rookery/persistence';
import type { RuleFilters } from './protected-branches';
import { CreateProtectedTag, ListProtectedRefs, IdentifyProtectedRef } from './protected-refs.dto';
import { protectedTagPresenter } from './protected-refs.presenter';
import { ProtectedTag } from './protected-tag.entity';

export const attachedProtectedTags = declareAttachedTable({ table: 'protected_tags', project: 'project_id' });

const ALL = '/projects/:id/protected_tags';
const ONE = `${ALL}/:name`;
const reads = { source: 'reference repositories 6.3', within: project(), may: atLeast('developer') } as const;
const manages = { ...reads, may: atLeast('maintainer') } as const;
const SEARCH: AllFilters<RuleFilters> = { search: filter.contains('row.name') };

/** Rules for the tags of a project, ordered by name. */
const protectedTags = defineCollection(ProtectedTag, {
  within: 'projectId',
  order: { name: 'ASC' },
  filters: SEARCH,
  taken: { uq_protected_tags_name: () => new Conflict('Name has already been taken') },
});

/** Rules for tags. Source: reference repositories 6.3. */
@Controller()
export class ProtectedTagsController {
  private readonly tags: Collection<ProtectedTag, RuleFilters>;

  constructor(
    work: Work,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.tags = protectedTags.on(work);
  }

  @Endpoint('GET', ALL, {
    ...reads,
    about: 'Rules of a project for tags.',
    params: ListProtectedRefs,
    answers: page(protectedTagPresenter),
  })
  list({ params, within, page: request }: Call<ListProtectedRefs, ProjectScope>): Promise<Page<ProtectedTag>> {
    return this.tags.list({ page: request, within: within.id, filters: params });
  }

  @Endpoint('GET', ONE, {
    ...reads,
    about: 'The rule with exactly this name.',
    params: IdentifyProtectedRef,
    answers: one(protectedTagPresenter),
    fails: [404],
  })
  show({ params, within }: Call<IdentifyProtectedRef, ProjectScope>): Promise<ProtectedTag> {
    return this.findByName(within, params.name);
  }

  @Endpoint('POST', ALL, {
    ...manages,
    about: 'Protects a tag, or all tags whose name fits.',
    params: CreateProtectedTag,
    answers: created(protectedTagPresenter),
    fails: [409, 422],
  })
  async create(call: Call<CreateProtectedTag, ProjectScope>): Promise<ProtectedTag> {
    const { params, within } = call;
    const taken = await this.tags.listAll({ within: within.id, where: { name: params.name } });
    if (taken.length > 0) throw new Conflict(`Protected tag '${params.name}' already exists`);
    return this.tags.create(ProtectedTag.create(within.id, params, this.clock.now()), actorAndParent(call));
  }

  @Endpoint('DELETE', ONE, {
    ...manages,
    about: 'Removes a rule. The tags remain.',
    params: IdentifyProtectedRef,
    answers: noContent(),
    fails: [404, 412],
  })
  async remove(call: Call<IdentifyProtectedRef, ProjectScope>): Promise<void> {
    const { id } = await this.findByName(call.within, call.params.name);
    await this.tags.remove(id, actorParentAndPrecondition(call));
  }

  private async findByName({ id }: ProjectScope, name: string): Promise<ProtectedTag> {
    const [rule] = await this.tags.listAll({ within: id, where: { name } });
    if (!rule) throw new NotFound();
    return rule;
  }
}

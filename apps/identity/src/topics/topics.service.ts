import { Inject, Injectable } from '@nestjs/common';
import type { Clock, Page, PageRequest } from '@rookery/kernel';
import { CLOCK, Invalid, NotFound, assertAllUsed } from '@rookery/kernel';
import type { AllFilters, WriteContext, Collection, OrderTerm, Tx } from '@rookery/persistence';
import { defineCollection, filter, similarityOrderSql, Work } from '@rookery/persistence';
import { AvatarsService } from '../avatars/avatars.service';
import type { AvatarChange } from '../avatars/avatars.service';
import { lockTopicAssignments } from './project-topics.service';
import { problemsOfTopic } from './topic-rules';
import { Topic } from './topic.entity';
import type { TopicInput } from './topic.entity';

/** Filters of the list of topics. Source: reference identity-and-import 9. */
export interface TopicFilters {
  readonly search?: string;
  readonly without_projects: boolean;
  readonly organization_id?: number;
}

/** Fields of a topic, with its avatar. */
export interface TopicChange extends TopicInput {
  readonly avatar?: AvatarChange;
}
export interface NewTopic extends TopicChange {
  readonly name: string;
  readonly title: string;
  readonly organization_id?: number;
}

const FILTERS: AllFilters<TopicFilters> = {
  without_projects: filter.when('row.total_projects_count = 0'),
  organization_id: filter.equals('row.organization_id'),
  search: filter.contains('row.name', 'row.title'),
};
const BY_PROJECTS: readonly OrderTerm[] = [
  ['row.open_projects_count', 'desc'],
  ['row.id', 'asc'],
];

export const topics = defineCollection(Topic, {
  filters: FILTERS,
  taken: { uq_topics_name: () => new Invalid({ name: ['has already been taken'] }) },
});

/** Topics with their avatars. All callers can see them. Source: reference identity-and-import 9. */
@Injectable()
export class TopicsService {
  private readonly topics: Collection<Topic, TopicFilters>;

  constructor(
    work: Work,
    private readonly avatars: AvatarsService,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.topics = topics.on(work);
  }

  list(filters: TopicFilters, page: PageRequest): Promise<Page<Topic>> {
    return listTopicsByProjectCount(this.topics, filters, page);
  }

  /** Errors: NotFound. */
  show(id: number): Promise<Topic> {
    return this.topics.find(id);
  }

  /** Errors: Invalid by field; NotFound for an unknown organization. */
  async create(params: NewTopic, by: WriteContext): Promise<Topic> {
    const { name, title, description = null, avatar, organization_id: organization = 1, ...rest } = params;
    assertAllUsed(rest);
    if (organization !== 1) throw new NotFound('Organization');
    this.refuseProblems(params, true);
    return this.topics.create(Topic.create({ name, title, description }, this.clock.now()), by, async (topic, tx) => {
      await this.changePicture(tx, topic, avatar ?? undefined);
      const { id, avatarUrl } = topic;
      if (avatarUrl !== null) await tx.manager.update(Topic, id, { avatarUrl });
    });
  }

  /** Errors: NotFound; Invalid by field. */
  update(id: number, params: TopicChange, by: WriteContext): Promise<Topic> {
    const { avatar, ...said } = params;
    const before = said.name === undefined ? undefined : lockTopicAssignments;
    const change = async (topic: Topic, tx: Tx): Promise<void> => {
      this.refuseProblems(params, false);
      topic.change(said, this.clock.now());
      await this.changePicture(tx, topic, avatar);
    };
    return this.topics.change(id, change, { ...by, before });
  }

  /** Deletes the topic and removes it from its projects. Errors: NotFound; those of `by.unchanged`. */
  async remove(id: number, by: WriteContext): Promise<void> {
    await this.topics.remove(id, { ...by, before: lockTopicAssignments });
  }

  private async changePicture(tx: Tx, topic: Topic, avatar: AvatarChange): Promise<void> {
    const avatarUrl = await this.avatars.changeAvatar(tx, 'topic', topic.id, avatar);
    if (avatarUrl !== undefined) topic.avatarUrl = avatarUrl;
  }

  private refuseProblems(params: TopicChange, isNew: boolean): void {
    const avatar = this.avatars.findProblems(params.avatar);
    const problems = { ...problemsOfTopic(params, isNew), ...(avatar.length > 0 ? { avatar } : {}) };
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
  }
}

/**
 * Orders topics by number of projects that are not private. Search results are ordered by similarity of the name first.
 */
export function listTopicsByProjectCount(
  topics: Collection<Topic, TopicFilters>,
  filters: TopicFilters,
  page: PageRequest,
): Promise<Page<Topic>> {
  const { search } = filters;
  return topics.list({
    page,
    filters,
    narrow: (list) =>
      list.orderBy(
        search ? [[similarityOrderSql(list.bind(search, 'search'), ['row.name']), 'asc'], ...BY_PROJECTS] : BY_PROJECTS,
      ),
  });
}

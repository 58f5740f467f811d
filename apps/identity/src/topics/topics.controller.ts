import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { administrator, anyone, checkUnmodifiedSince, created, Endpoint, none, one, page } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { TopicMerge } from './topic-merge.service';
import type { Topic } from './topic.entity';
import { topic } from './topic.presenter';
import { CreateTopicParams, ListTopicsParams, MergeTopicsParams, TopicParams, UpdateTopicParams } from './topics.dto';
import { TopicsQueries } from './topics.queries';
import { TopicsService } from './topics.service';

const SOURCE = 'requirements 2 §4 Topics; reference identity-and-import 9';
/** Parameters are judged before callers are. Source: reference identity-and-import 1.1. */
const refusals = { validateFirst: true } as const;

@Controller()
export class TopicsController {
  constructor(
    private readonly topics: TopicsService,
    private readonly merging: TopicMerge,
    private readonly queries: TopicsQueries,
  ) {}

  @Endpoint('GET', '/topics', {
    about: 'Topics, those of most public and internal projects first.',
    source: SOURCE,
    may: anyone(),
    params: ListTopicsParams,
    answers: page(topic),
  })
  list({ params, page }: Call<ListTopicsParams>): Promise<Page<Topic>> {
    return this.queries.page(params, page);
  }

  @Endpoint('GET', '/topics/:id', {
    about: 'One topic.',
    source: SOURCE,
    may: anyone(),
    params: TopicParams,
    fails: [404],
    answers: one(topic),
  })
  async show({ params }: Call<TopicParams>): Promise<Topic> {
    const found = await this.queries.one(params.id);
    if (!found) throw new NotFound();
    return found;
  }

  @Endpoint('POST', '/topics', {
    about: 'Makes a topic.',
    source: SOURCE,
    may: administrator(),
    params: CreateTopicParams,
    fails: [404],
    refusals,
    answers: created(topic),
  })
  create({ params }: Call<CreateTopicParams, undefined, SignedInViewer>): Promise<Topic> {
    return this.topics.create(params);
  }

  @Endpoint('POST', '/topics/merge', {
    about: 'Gives the projects of one topic to another and removes the first.',
    source: SOURCE,
    may: administrator(),
    params: MergeTopicsParams,
    fails: [400, 404],
    refusals,
    answers: created(topic),
  })
  merge({ params }: Call<MergeTopicsParams, undefined, SignedInViewer>): Promise<Topic> {
    return this.merging.merge(params.source_topic_id, params.target_topic_id);
  }

  @Endpoint('PUT', '/topics/:id', {
    about: 'Changes a topic.',
    source: SOURCE,
    may: administrator(),
    params: UpdateTopicParams,
    fails: [404],
    refusals,
    answers: one(topic),
  })
  update({ params }: Call<UpdateTopicParams, undefined, SignedInViewer>): Promise<Topic> {
    return this.topics.update(params.id, params);
  }

  @Endpoint('DELETE', '/topics/:id', {
    about: 'Removes a topic, also from its projects.',
    source: SOURCE,
    may: administrator(),
    params: TopicParams,
    fails: [404, 412],
    refusals,
    answers: none(),
  })
  async remove(call: Call<TopicParams, undefined, SignedInViewer>): Promise<void> {
    await this.topics.remove(call.params.id, (at) => checkUnmodifiedSince(call, at));
  }
}

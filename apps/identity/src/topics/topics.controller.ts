import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import {
  administrator,
  anyone,
  actorAndParent,
  created,
  Endpoint,
  actorParentAndPrecondition,
  noContent,
  one,
  page,
} from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { TopicMergeService } from './topic-merge.service';
import type { Topic } from './topic.entity';
import { topic } from './topic.presenter';
import { CreateTopic, ListTopics, MergeTopics, IdentifyTopic, UpdateTopic } from './topics.dto';
import { TopicsService } from './topics.service';

const SOURCE = 'requirements 2 §4 Topics; reference identity-and-import 9';
/** Parameters are validated before permissions. Source: reference identity-and-import 1.1. */
const refusals = { validateFirst: true } as const;

@Controller()
export class TopicsController {
  constructor(
    private readonly topics: TopicsService,
    private readonly merging: TopicMergeService,
  ) {}

  @Endpoint('GET', '/topics', {
    about: 'Lists topics, by number of public and internal projects, highest first.',
    source: SOURCE,
    may: anyone(),
    params: ListTopics,
    answers: page(topic),
  })
  list({ params, page }: Call<ListTopics>): Promise<Page<Topic>> {
    return this.topics.list(params, page);
  }

  @Endpoint('GET', '/topics/:id', {
    about: 'Returns a topic.',
    source: SOURCE,
    may: anyone(),
    params: IdentifyTopic,
    fails: [404],
    answers: one(topic),
  })
  show({ params }: Call<IdentifyTopic>): Promise<Topic> {
    return this.topics.show(params.id);
  }

  @Endpoint('POST', '/topics', {
    about: 'Creates a topic.',
    source: SOURCE,
    may: administrator(),
    params: CreateTopic,
    fails: [404],
    refusals,
    answers: created(topic),
  })
  create(call: Call<CreateTopic, undefined, SignedInViewer>): Promise<Topic> {
    return this.topics.create(call.params, actorAndParent(call));
  }

  @Endpoint('POST', '/topics/merge', {
    about: 'Moves the projects of one topic to another and deletes the first.',
    source: SOURCE,
    may: administrator(),
    params: MergeTopics,
    fails: [400, 404],
    refusals,
    answers: created(topic),
  })
  merge({ params }: Call<MergeTopics, undefined, SignedInViewer>): Promise<Topic> {
    return this.merging.mergeTopics(params.source_topic_id, params.target_topic_id);
  }

  @Endpoint('PUT', '/topics/:id', {
    about: 'Changes a topic.',
    source: SOURCE,
    may: administrator(),
    params: UpdateTopic,
    fails: [404],
    refusals,
    answers: one(topic),
  })
  update(call: Call<UpdateTopic, undefined, SignedInViewer>): Promise<Topic> {
    return this.topics.update(call.params.id, call.params, actorAndParent(call));
  }

  @Endpoint('DELETE', '/topics/:id', {
    about: 'Deletes a topic and removes it from its projects.',
    source: SOURCE,
    may: administrator(),
    params: IdentifyTopic,
    fails: [404, 412],
    refusals,
    answers: noContent(),
  })
  async remove(call: Call<IdentifyTopic, undefined, SignedInViewer>): Promise<void> {
    await this.topics.remove(call.params.id, actorParentAndPrecondition(call));
  }
}

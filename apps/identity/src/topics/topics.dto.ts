import type { UploadedFile } from '@rookery/api-v4';
import { Flag, Int, Search, Text } from '@rookery/api-v4';
import type { ExactInput } from '@rookery/kernel';
import { AvatarUploadField } from '../avatars/avatars.dto';
import type { NewTopic, TopicChange, TopicFilters } from './topics.service';

export class ListTopics implements ExactInput<TopicFilters, ListTopics> {
  @Search({ about: 'Part of the name or title.' }) search?: string;
  @Flag({ default: false, about: 'Only topics without projects.' }) without_projects: boolean;
  @Int({ optional: true }) organization_id?: number;
}

export class IdentifyTopic {
  @Int({ in: 'path' }) id: number;
}

export class CreateTopic implements ExactInput<NewTopic, CreateTopic> {
  @Text() name: string;
  @Text() title: string;
  @Text({ optional: true, nullable: true }) description?: string | null;
  @AvatarUploadField() avatar?: UploadedFile | null;
  @Int({ optional: true, about: 'The only organization is 1.' }) organization_id?: number;
}

export class UpdateTopic implements ExactInput<TopicChange, UpdateTopic, 'id'> {
  @Int({ in: 'path' }) id: number;
  @Text({ optional: true }) name?: string;
  @Text({ optional: true, about: 'If blank, the name is shown instead.' }) title?: string;
  @Text({ optional: true, nullable: true }) description?: string | null;
  @AvatarUploadField() avatar?: UploadedFile | null;
}

export class MergeTopics {
  @Int({ about: 'The topic that is deleted.' }) source_topic_id: number;
  @Int({ about: 'The topic that receives its projects.' }) target_topic_id: number;
}

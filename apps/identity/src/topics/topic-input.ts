import type { AvatarChange } from '../avatars/avatars.service';

/** What a list of topics can be narrowed by. Source: reference identity-and-import 9. */
export interface TopicFilters {
  readonly search?: string;
  readonly without_projects: boolean;
  readonly organization_id?: number;
}

/** What is asked of a topic. */
export interface TopicChange {
  readonly name?: string;
  readonly title?: string;
  readonly description?: string | null;
  readonly avatar?: AvatarChange;
}
export interface NewTopic extends TopicChange {
  readonly name: string;
  readonly title: string;
  readonly organization_id?: number;
}

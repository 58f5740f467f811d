import { Flag, IdOrPath, Instant, Int, OneOf, Text } from '@rookery/api-v4';
import type { Visibility } from '@rookery/kernel';
import { GRANTABLE_LEVELS, VISIBILITIES } from '@rookery/kernel';
import { PROJECT_ORDERS } from './project-input';
import type { ProjectFilters } from './project-input';

/** Source: reference identity-and-import 10.2. */
export class ListProjectsParams implements ProjectFilters {
  @Flag({ optional: true }) archived?: boolean;
  @OneOf(VISIBILITIES, { optional: true }) visibility?: Visibility;
  @OneOf(PROJECT_ORDERS, { default: 'created_at' }) order_by: (typeof PROJECT_ORDERS)[number];
  @OneOf(['asc', 'desc'], { default: 'desc' }) sort: 'asc' | 'desc';
  @Text({ optional: true, about: 'Part of the name, path or description.' }) search?: string;
  @Flag({ default: false, about: 'The search looks at the full path of the namespace too.' })
  search_namespaces: boolean;
  @Flag({ default: false }) simple: boolean;
  @Flag({ default: false }) owned: boolean;
  @Flag({ default: false }) membership: boolean;
  @Flag({ default: false }) with_issues_enabled: boolean;
  @Flag({ default: false }) with_merge_requests_enabled: boolean;
  @Flag({ default: false }) starred: boolean;
  @Text({ optional: true }) topic?: string;
  @Int({ optional: true, nullable: true }) topic_id?: number | null;
  @Text({ optional: true }) with_programming_language?: string;
  @OneOf([5, ...GRANTABLE_LEVELS], { optional: true }) min_access_level?: number;
  @Int({ optional: true, nullable: true }) id_after?: number | null;
  @Int({ optional: true, nullable: true }) id_before?: number | null;
  @Instant({ optional: true }) last_activity_after?: Date;
  @Instant({ optional: true }) last_activity_before?: Date;
  @Instant({ optional: true }) updated_after?: Date;
  @Instant({ optional: true }) updated_before?: Date;
}

export class ProjectParams {
  @IdOrPath({ in: 'path' }) id: number | string;
}

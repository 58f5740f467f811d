import { Flag, IdOrPath, ListOf, OneOf, Text } from '@rookery/api-v4';
import { GRANTABLE_LEVELS } from '@rookery/kernel';
import type { ProjectGroupsFilters } from './project-groups.queries';

/** Source: reference identity-and-import 10.2. */
export class ProjectGroupsParams implements ProjectGroupsFilters {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Text({ optional: true, about: 'Part of the name or path.' }) search?: string;
  @ListOf('int', { optional: true }) skip_groups?: number[];
  @Flag({ default: false, about: 'Groups invited to the project too.' }) with_shared: boolean;
  @OneOf(GRANTABLE_LEVELS, { optional: true, about: 'Of invited groups.' }) shared_min_access_level?: number;
}

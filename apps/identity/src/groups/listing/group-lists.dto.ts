import { Day, Flag, Hash, IdOrPath, ListOf, OneOf, Search, Text } from '@rookery/api-v4';
import type { Visibility } from '@rookery/kernel';
import { GRANTABLE_LEVELS, VISIBILITIES } from '@rookery/kernel';
import type { GroupFilters, LinkedGroupFilters } from './group-filters';

const ORDERS = ['name', 'path', 'id', 'similarity'] as const;
const LEVELS = [5, ...GRANTABLE_LEVELS];

/** Parameters of all lists of groups. */
export class ListAnyGroups implements LinkedGroupFilters {
  @ListOf('int', { optional: true }) skip_groups?: number[];
  @OneOf(VISIBILITIES, { optional: true }) visibility?: Visibility;
  @Search({ about: 'Part of the name or path.' }) search?: string;
  @OneOf(ORDERS, { default: 'name' }) order_by: (typeof ORDERS)[number];
  @OneOf(['asc', 'desc'], { default: 'asc' }) sort: 'asc' | 'desc';
  @OneOf(LEVELS, { optional: true }) min_access_level?: number;
  @Flag({ default: false, forAdministrators: true }) with_custom_attributes: boolean;
  @Hash({ optional: true, forAdministrators: true }) custom_attributes?: Record<string, string | null>;
}

/** Source: reference identity-and-import 2.2. */
export class ListGroups extends ListAnyGroups implements GroupFilters {
  @Flag({ optional: true, about: 'Default: true for administrators, false for others.' }) all_available?: boolean;
  @Flag({ default: false }) owned: boolean;
  @Flag({ default: false }) top_level_only: boolean;
  @Flag({ default: false, forAdministrators: true }) statistics: boolean;
  @Text({ optional: true, forAdministrators: true }) repository_storage?: string;
  @Day({ optional: true }) marked_for_deletion_on?: string;
  @Flag({
    optional: true,
    about: 'True: groups that are neither archived nor marked for deletion, and not below such a group.',
  })
  active?: boolean;
  @Flag({ optional: true }) archived?: boolean;
}

export class ListGroupsBelow extends ListGroups {
  @IdOrPath({ in: 'path' }) id: number | string;
}

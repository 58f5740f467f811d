import { Day, Flag, Hash, IdOrPath, Instant, Int, ListOf, OneOf, Search, Text } from '@rookery/api-v4';
import type { Visibility } from '@rookery/kernel';
import { GRANTABLE_LEVELS, VISIBILITIES } from '@rookery/kernel';
import { PROJECT_ORDERS, SIZE_ORDERS } from './project-filters';
import type { ProjectFilters, ProjectOrder } from './project-filters';

/** Bounds: each topic is a separate look-up. */
const MAX_TOPICS = 20;

/** Orders of all lists of projects. The type is wider, so that a class that extends this one may allow more orders. */
const ORDERS: readonly ProjectOrder[] = PROJECT_ORDERS;

/** Parameters of all lists of projects. Source: reference identity-and-import 2.7, 10.2. */
export class ListAnyProjects implements ProjectFilters {
  @Flag({ optional: true }) archived?: boolean;
  @Flag({
    optional: true,
    about: 'True: projects that are neither archived nor marked for deletion. False: those that are either.',
  })
  active?: boolean;
  @OneOf(VISIBILITIES, { optional: true }) visibility?: Visibility;
  @OneOf(ORDERS, {
    default: 'created_at',
    about: '`similarity` ignores `sort`, and without `search` it is an order by name.',
  })
  order_by: ProjectOrder;
  @OneOf(['asc', 'desc'], { default: 'desc' }) sort: 'asc' | 'desc';
  @Search({ about: 'Part of the name, path or description.' }) search?: string;
  @Flag({ default: false, about: 'Return the basic shape.' }) simple: boolean;
  @Flag({ default: false }) starred: boolean;
  @ListOf('text', { optional: true, max: MAX_TOPICS, about: 'Projects that have all of these topics, ignoring case.' })
  topic?: string[];
  @Flag({ default: false }) with_issues_enabled: boolean;
  @Flag({ default: false }) with_merge_requests_enabled: boolean;
  @OneOf([5, ...GRANTABLE_LEVELS], { optional: true }) min_access_level?: number;
  @Flag({ default: false, forAdministrators: true }) with_custom_attributes: boolean;
  @Hash({ optional: true, forAdministrators: true, about: 'Exact values by key.' }) custom_attributes?: Record<
    string,
    string | null
  >;
}

/** Parameters of lists that are not restricted to a group. Source: reference identity-and-import 10.2. */
export class ListProjects extends ListAnyProjects {
  @OneOf([...PROJECT_ORDERS, ...SIZE_ORDERS], {
    default: 'created_at',
    about:
      '`similarity` ignores `sort`, and without `search` it is an order by name. Orders by size are for administrators.',
  })
  override order_by: ProjectOrder;
  @Flag({ default: false, about: 'Also searches the full path of the namespace.' })
  search_namespaces: boolean;
  @Flag({ default: false }) owned: boolean;
  @Flag({ default: false }) membership: boolean;
  @Flag({ default: false, about: 'Projects that the caller has imported.' }) imported: boolean;
  @Int({ optional: true, nullable: true }) topic_id?: number | null;
  @Text({ optional: true }) with_programming_language?: string;
  @Flag({ default: false, about: 'For reporters of a project and administrators.' }) statistics: boolean;
  @Flag({ default: false, about: 'No project is hidden.' }) include_hidden: boolean;
  @Day({ optional: true }) marked_for_deletion_on?: string;
  @Int({ optional: true, nullable: true }) id_after?: number | null;
  @Int({ optional: true, nullable: true }) id_before?: number | null;
  @Instant({ optional: true }) last_activity_after?: Date;
  @Instant({ optional: true }) last_activity_before?: Date;
  @Instant({ optional: true }) updated_after?: Date;
  @Instant({ optional: true }) updated_before?: Date;
}

export class ListForks extends ListProjects {
  @IdOrPath({ in: 'path' }) id: number | string;
}

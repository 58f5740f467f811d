import type { Visibility } from '@rookery/kernel';

export const PROJECT_ORDERS = [
  'id',
  'name',
  'path',
  'created_at',
  'updated_at',
  'star_count',
  'last_activity_at',
  'similarity',
] as const;
/** Orders by size, as in `statistics`. For administrators; other callers get the default order. */
export const SIZE_ORDERS = ['repository_size', 'storage_size', 'packages_size', 'wiki_size'] as const;

type SizeOrder = (typeof SIZE_ORDERS)[number];
export type ProjectOrder = (typeof PROJECT_ORDERS)[number] | SizeOrder;

export function isSizeOrder(order: ProjectOrder): order is SizeOrder {
  return (SIZE_ORDERS as readonly string[]).includes(order);
}

/** Filters of lists of projects. No list has all of them. Source: reference identity-and-import 2.7, 10.2. */
export interface ProjectFilters {
  readonly order_by: ProjectOrder;
  readonly sort: 'asc' | 'desc';
  readonly simple: boolean;
  readonly archived?: boolean;
  readonly active?: boolean;
  readonly visibility?: Visibility;
  readonly search?: string;
  readonly search_namespaces?: boolean;
  readonly owned?: boolean;
  readonly membership?: boolean;
  readonly starred?: boolean;
  readonly imported?: boolean;
  readonly topic?: readonly string[];
  readonly topic_id?: number | null;
  readonly with_issues_enabled?: boolean;
  readonly with_merge_requests_enabled?: boolean;
  readonly with_programming_language?: string;
  readonly with_security_reports?: boolean;
  readonly min_access_level?: number;
  readonly marked_for_deletion_on?: string;
  readonly id_after?: number | null;
  readonly id_before?: number | null;
  readonly last_activity_after?: Date;
  readonly last_activity_before?: Date;
  readonly updated_after?: Date;
  readonly updated_before?: Date;
  readonly statistics?: boolean;
  readonly with_custom_attributes?: boolean;
  readonly custom_attributes?: Readonly<Record<string, string | null>>;
}

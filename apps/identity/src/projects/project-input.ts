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

/** What a list of projects can be narrowed by. Source: reference identity-and-import 10.2. */
export interface ProjectFilters {
  readonly archived?: boolean;
  readonly visibility?: Visibility;
  readonly order_by: (typeof PROJECT_ORDERS)[number];
  readonly sort: 'asc' | 'desc';
  readonly search?: string;
  readonly search_namespaces: boolean;
  readonly simple: boolean;
  readonly owned: boolean;
  readonly membership: boolean;
  readonly with_issues_enabled: boolean;
  readonly with_merge_requests_enabled: boolean;
  readonly starred: boolean;
  readonly topic?: string;
  readonly topic_id?: number | null;
  readonly with_programming_language?: string;
  readonly min_access_level?: number;
  readonly id_after?: number | null;
  readonly id_before?: number | null;
  readonly last_activity_after?: Date;
  readonly last_activity_before?: Date;
  readonly updated_after?: Date;
  readonly updated_before?: Date;
}

import type { Visibility } from '@rookery/kernel';

/** Order of lists of groups. Source: reference identity-and-import 2.2. */
export interface GroupOrder {
  readonly order_by: 'name' | 'path' | 'id' | 'similarity';
  readonly sort: 'asc' | 'desc';
}

/** Additional fields for administrators. */
export interface AdditionalFields {
  readonly statistics?: boolean;
  readonly with_custom_attributes: boolean;
}

/** Filters of all lists of groups. */
export interface LinkedGroupFilters extends GroupOrder, AdditionalFields {
  readonly skip_groups?: readonly number[];
  readonly visibility?: Visibility;
  readonly search?: string;
  readonly min_access_level?: number;
  readonly custom_attributes?: Readonly<Record<string, string | null>>;
}

/** Filters of lists of all groups and of subgroups. Source: reference identity-and-import 2.2. */
export interface GroupFilters extends LinkedGroupFilters {
  readonly all_available?: boolean;
  readonly owned: boolean;
  readonly top_level_only: boolean;
  readonly repository_storage?: string;
  readonly marked_for_deletion_on?: string;
  readonly active?: boolean;
  readonly archived?: boolean;
}

/** A resolved group whose subgroups are listed, with the caller's access level. */
export interface ParentGroup {
  readonly id: number;
  readonly level: number;
  readonly traversalIds: readonly number[];
}

import type { Visibility } from '@rookery/kernel';

/** How groups may stand in order. Source: reference identity-and-import 2.2. */
export interface GroupOrder {
  readonly order_by: 'name' | 'path' | 'id' | 'similarity';
  readonly sort: 'asc' | 'desc';
}

/** What is shown beside the usual fields, to administrators. */
export interface ShownBesides {
  readonly statistics?: boolean;
  readonly with_custom_attributes: boolean;
}

/** What every list of groups can be narrowed by. */
export interface LinkedGroupFilters extends GroupOrder, ShownBesides {
  readonly skip_groups?: readonly number[];
  readonly visibility?: Visibility;
  readonly search?: string;
  readonly min_access_level?: number;
  readonly custom_attributes?: Readonly<Record<string, string | null>>;
}

/** What lists of all groups and of those below one can be narrowed by. Source: reference identity-and-import 2.2. */
export interface GroupFilters extends LinkedGroupFilters {
  readonly all_available?: boolean;
  readonly owned: boolean;
  readonly top_level_only: boolean;
  readonly repository_storage?: string;
  readonly marked_for_deletion_on?: string;
  readonly active?: boolean;
  readonly archived?: boolean;
}

/** A group under which others are listed, as it was resolved for the caller, with their level there. */
export interface GroupAbove {
  readonly id: number;
  readonly level: number;
  readonly traversalIds: readonly number[];
}

import type { GroupSettings } from './settings/group-settings';

/** A reference to a group inside another resource. */
export interface GroupReference {
  readonly id: number;
  readonly name: string;
  readonly avatar_url: string | null;
  readonly full_name: string;
  readonly full_path: string;
}

/** A namespace as the statements of this wing read it for one viewer. */
export interface NamespaceRow {
  readonly id: number;
  readonly name: string;
  readonly path: string;
  readonly kind: 'group' | 'user';
  readonly full_path: string;
  readonly parent_id: number | null;
  readonly avatar_url: string | null;
  readonly plan: string;
  readonly settings: Partial<GroupSettings>;
  /** Whether the viewer is an owner or administrator. The following fields are null otherwise. */
  readonly is_administered: boolean;
  readonly members_count_with_descendants: number | null;
  readonly root_repository_size: number | null;
  readonly projects_count: number | null;
  readonly seats: number | null;
  readonly max_seats_used: number | null;
  readonly max_seats_used_changed_at: Date | null;
}

export interface NamespaceFilters {
  readonly search?: string;
  readonly owned_only: boolean;
  readonly top_level_only: boolean;
  readonly full_path_search: boolean;
}

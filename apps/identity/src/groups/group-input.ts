import type { Visibility } from '@rookery/kernel';
import type { AvatarChange } from '../avatars/avatars.service';
import type { TextSettings } from './group-rules';

/** What is asked of a group's shape; plain settings may be sent along. Source: reference identity-and-import 2.5, 2.6. */
export interface GroupChange extends TextSettings {
  readonly name?: string;
  readonly path?: string;
  readonly visibility?: Visibility;
  readonly description?: string | null;
  readonly avatar?: AvatarChange;
  readonly ip_restriction_ranges?: string | null;
}
export interface NewGroup extends GroupChange {
  readonly name: string;
  readonly path: string;
  readonly organization_id?: number;
}

/** A group as far as it was resolved for the caller, with his level there. */
export interface KnownGroup {
  readonly id: number;
  readonly level: number;
}

/** Fields that are columns of their own, as they may be sent. */
export interface GroupColumns {
  readonly description?: string | null;
  readonly emails_enabled?: boolean;
  readonly emails_disabled?: boolean;
  readonly project_creation_level?: string;
  readonly subgroup_creation_level?: string;
  readonly request_access_enabled?: boolean;
}

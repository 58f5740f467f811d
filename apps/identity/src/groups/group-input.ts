import type { Visibility } from '@rookery/kernel';
import type { AvatarChange } from '../avatars/avatars.service';
import type { NewPlainGroup, PlainGroupChange } from '../namespaces/settings/group-settings';

/** Fields that are validated together with the location of the group. */
export interface SentGroupShape {
  readonly name?: string | undefined;
  readonly path?: string | undefined;
  readonly visibility?: Visibility | undefined;
  readonly description?: string | null | undefined;
}
interface SentGroup extends SentGroupShape {
  readonly avatar?: AvatarChange | undefined;
}

/** Fields for updating a group. Source: reference identity-and-import 2.6. */
export interface GroupChange extends SentGroup, PlainGroupChange {
  readonly ip_restriction_ranges?: string | null | undefined;
}

/** Fields for creating a group. Source: reference identity-and-import 2.5. */
export interface NewGroup extends SentGroup, NewPlainGroup {
  readonly name: string;
  readonly path: string;
  readonly organization_id?: number;
}

/** A resolved group with the caller's access level. */
export interface KnownGroup {
  readonly id: number;
  readonly level: number;
}

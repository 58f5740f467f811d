import type { Visibility } from '@rookery/kernel';
import type { AvatarChange } from '../avatars/avatars.service';
import type { NewPlainGroup, PlainGroupChange } from '../namespaces/settings/group-settings';

/** Fields that are validated together with the location of the group. */
export interface GroupShapeInput {
  readonly name?: string | undefined;
  readonly path?: string | undefined;
  readonly visibility?: Visibility | undefined;
  readonly description?: string | null | undefined;
}
interface GroupInput extends GroupShapeInput {
  readonly avatar?: AvatarChange | undefined;
}

/** Fields for updating a group. Source: reference identity-and-import 2.6. */
export interface GroupChange extends GroupInput, PlainGroupChange {
  readonly ip_restriction_ranges?: string | null | undefined;
}

/** Fields for creating a group. Source: reference identity-and-import 2.5. */
export interface NewGroup extends GroupInput, NewPlainGroup {
  readonly name: string;
  readonly path: string;
  readonly organization_id?: number;
}

/** A resolved group with the caller's access level. */
export interface GroupWithLevel {
  readonly id: number;
  readonly level: number;
}

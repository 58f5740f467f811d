import { day, int, list, nullable, object, text } from '@rookery/api-v4';

// A type and not an interface: only types have the index signature that `object()` asks for.
export type SharedWithGroup = {
  readonly group_id: number;
  readonly group_name: string;
  readonly group_full_path: string;
  readonly group_access_level: number;
  readonly expires_at: string | null;
};

/** `shared_with_groups` of a group or project. Source: reference identity-and-import 2.3. */
export const sharedWithGroups = list(
  object<SharedWithGroup>({
    group_id: int,
    group_name: text,
    group_full_path: text,
    group_access_level: int,
    expires_at: nullable(day),
  }),
);

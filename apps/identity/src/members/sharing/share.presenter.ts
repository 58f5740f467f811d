import { day, int, nullable, presenter, list, object, text } from '@rookery/api-v4';
import type { ShareRow } from './share.policy';
import type { SharedWithGroup } from './shared-with-groups-sql';

/** A group invited to a project. Source: reference identity-and-import 10.2. */
export const projectShare = presenter<ShareRow>('ProjectGroupLink').fields({
  id: [int, (share) => share.id],
  project_id: [int, (share) => share.source_id],
  group_id: [int, (share) => share.group_id],
  group_access: [int, (share) => share.access_level],
  expires_at: [nullable(day), (share) => share.expires_on],
});

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

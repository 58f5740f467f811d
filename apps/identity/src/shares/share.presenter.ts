import { day, int, nullable, presenter } from '@rookery/api-v4';
import type { ShareRow } from './share-row';

/** A group invited to a project. Source: reference identity-and-import 10.2. */
export const projectShare = presenter<ShareRow>('ProjectGroupLink').fields({
  id: [int, (share) => share.id],
  project_id: [int, (share) => share.source_id],
  group_id: [int, (share) => share.group_id],
  group_access: [int, (share) => share.access_level],
  expires_at: [nullable(day), (share) => share.expires_on],
});

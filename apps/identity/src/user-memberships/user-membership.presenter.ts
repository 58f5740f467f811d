import { choice, int, presenter, text } from '@rookery/api-v4';
import type { MembershipRow } from './membership-row';

/** Source: reference identity-and-import 10.1. */
export const userMembership = presenter<MembershipRow>('UserMembership').fields({
  source_id: [int, (row) => row.source_id],
  source_name: [text, (row) => row.source_name],
  source_type: [choice('Namespace', 'Project'), (row) => (row.source_type === 'project' ? 'Project' : 'Namespace')],
  access_level: [int, (row) => row.access_level],
});

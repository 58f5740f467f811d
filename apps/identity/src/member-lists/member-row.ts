import type { UserFace } from '../users/user-row';

/** A membership with its person, as the statements of this room read it. */
export interface MemberRow extends UserFace {
  readonly membership_id: number;
  readonly access_level: number;
  readonly member_since: Date;
  readonly expires_on: string | null;
  readonly created_by: UserFace | null;
  readonly changed_at: Date;
}

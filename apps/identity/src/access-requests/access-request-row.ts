import type { UserFace } from '../users/user-row';

/** Somebody who asks to be let in, as the statements of this room read him. */
export interface AccessRequestRow extends UserFace {
  readonly request_id: number;
  readonly requested_at: Date;
}

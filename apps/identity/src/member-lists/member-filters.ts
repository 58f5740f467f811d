/** What a list of members can be narrowed by. Source: reference identity-and-import 2.8. */
export interface MemberFilters {
  readonly query?: string;
  readonly user_ids?: readonly number[];
  readonly skip_users?: readonly number[];
  readonly state?: 'awaiting' | 'active';
}

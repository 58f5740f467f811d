import { AnyValue, Day, ExactlyOneOf, Flag, IdOrPath, Int, ListOf, OneOf, Text } from '@rookery/api-v4';
import { GRANTABLE_LEVELS } from '@rookery/kernel';

/** Source: reference identity-and-import 2.8. */
export class ListMembersParams {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Text({ optional: true, about: 'Part of the name or username, or a whole e-mail address.' }) query?: string;
  @ListOf('int', { optional: true }) user_ids?: number[];
  @ListOf('int', { optional: true }) skip_users?: number[];
  @Flag({ optional: true, about: 'Accepted; every member takes a seat.' }) show_seat_info?: boolean;
}

export class AllMembersParams extends ListMembersParams {
  @OneOf(['awaiting', 'active'], { optional: true }) state?: 'awaiting' | 'active';
}

export class MemberParams {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Int({ in: 'path' }) user_id: number;
}

@ExactlyOneOf('user_id', 'username')
export class AddMemberParams {
  @IdOrPath({ in: 'path' }) id: number | string;
  @AnyValue({ optional: true, about: 'One id, or several as a comma-separated list.' }) user_id?: unknown;
  @Text({ optional: true, about: 'One username, or several as a comma-separated list.' }) username?: string;
  @OneOf(GRANTABLE_LEVELS) access_level: number;
  @Day({ optional: true, nullable: true }) expires_at?: string | null;
  @Text({ optional: true }) invite_source?: string;
}

export class UpdateMemberParams extends MemberParams {
  @OneOf(GRANTABLE_LEVELS) access_level: number;
  @Day({ optional: true, nullable: true }) expires_at?: string | null;
}

export class RemoveMemberParams extends MemberParams {
  @Flag({ default: false, about: 'Keep direct memberships below this group.' }) skip_subresources: boolean;
  @Flag({ default: false, about: 'Take the person off the issues there.' }) unassign_issuables: boolean;
}

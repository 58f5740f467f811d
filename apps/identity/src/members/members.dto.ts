import { AnyValue, Day, ExactlyOneOf, Flag, IdOrPath, Int, ListOf, OneOf, Search, Text } from '@rookery/api-v4';
import { GRANTABLE_LEVELS } from '@rookery/kernel';
import type { ShareGrant } from './sharing/share.policy';

/** Source: reference identity-and-import 2.8. */
export class ListMembers {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Search({ about: 'Part of the name or username, or a whole public e-mail address.' }) query?: string;
  @ListOf('int', { optional: true }) user_ids?: number[];
  @ListOf('int', { optional: true }) skip_users?: number[];
  @Flag({ optional: true, hasNoEffect: true, about: 'Every member takes a seat.' }) show_seat_info?: boolean;
}

export class ListAllMembers extends ListMembers {
  @OneOf(['awaiting', 'active'], { optional: true }) state?: 'awaiting' | 'active';
}

export class IdentifyMember {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Int({ in: 'path' }) user_id: number;
}

@ExactlyOneOf('user_id', 'username')
export class CreateMember {
  @IdOrPath({ in: 'path' }) id: number | string;
  @AnyValue({ optional: true, about: 'A user id, or several as a comma-separated list.' }) user_id?: unknown;
  @Text({ optional: true, about: 'A username, or several as a comma-separated list.' }) username?: string;
  @OneOf(GRANTABLE_LEVELS) access_level: number;
  @Day({ optional: true, nullable: true }) expires_at?: string | null;
  @Text({ optional: true }) invite_source?: string;
}

export class UpdateMember extends IdentifyMember {
  @OneOf(GRANTABLE_LEVELS) access_level: number;
  @Day({ optional: true, nullable: true }) expires_at?: string | null;
}

export class RemoveMember extends IdentifyMember {
  @Flag({ default: false, about: 'Keep direct memberships below this group.' }) skip_subresources: boolean;
  @Flag({ default: false, about: 'Unassign the user from the issues there.' }) unassign_issuables: boolean;
}

/** Source: reference identity-and-import 2.8. */
export class IdentifyGroupOrProject {
  @IdOrPath({ in: 'path' }) id: number | string;
}

export class IdentifyAccessRequest extends IdentifyGroupOrProject {
  @Int({ in: 'path' }) user_id: number;
}

export class ApproveAccessRequest extends IdentifyAccessRequest {
  @OneOf(GRANTABLE_LEVELS, { default: 30 }) access_level: number;
}

/** Source: reference identity-and-import 2.6, 10.2. */
export class CreateShare implements ShareGrant {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Int() group_id: number;
  @OneOf(GRANTABLE_LEVELS, { about: 'Maximum level that members of the invited group get.' }) group_access: number;
  @Day({ optional: true, nullable: true, about: 'The first day without the share.' }) expires_at?: string | null;
}

export class RemoveShare {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Int({ in: 'path' }) group_id: number;
}

import { Day, Flag, Instant, Int, ListOf, OneOf, Search, Text } from '@rookery/api-v4';
import type { TokenFilters } from './access-tokens.queries';
import { GRANTABLE_LEVELS } from '@rookery/kernel';
import { OWN_SCOPES } from './token-terms';

export class ListAnyTokens implements TokenFilters {
  @Instant({ optional: true }) created_after?: Date;
  @Instant({ optional: true }) created_before?: Date;
  @Instant({ optional: true }) last_used_after?: Date;
  @Instant({ optional: true }) last_used_before?: Date;
  @Day({ optional: true }) expires_after?: string;
  @Day({ optional: true }) expires_before?: string;
  @Flag({ optional: true }) revoked?: boolean;
  @Search({ about: 'Part of the name.' }) search?: string;
  @Text({
    optional: true,
    about: 'created, expires, last_used or name, followed by _asc or _desc. Any other value sorts by id.',
  })
  sort?: string;
  @OneOf(['active', 'inactive'], { optional: true }) state?: 'active' | 'inactive';
}

export class ListTokens extends ListAnyTokens {
  @Int({ optional: true, nullable: true }) user_id?: number | null;
}

export class IdentifyToken {
  @Int({ in: 'path' }) id: number;
}

export class RotateOwnToken {
  @Day({ optional: true }) expires_at?: string;
}

export class RotateToken extends RotateOwnToken {
  @Int({ in: 'path' }) id: number;
}

export class CreateToken {
  @Int({ in: 'path' }) user_id: number;
  @Text({ blank: 'refused', max: 255 }) name: string;
  @Text({ optional: true, max: 255 }) description?: string;
  @ListOf('text', { splitItems: true, empty: 'refused' }) scopes: string[];
  @Day({ optional: true }) expires_at?: string;
}

export class ListImpersonationTokens {
  @Int({ in: 'path' }) user_id: number;
  @OneOf(['all', 'active', 'inactive'], { default: 'all' }) state: 'all' | 'active' | 'inactive';
}

export class IdentifyImpersonationToken {
  @Int({ in: 'path' }) user_id: number;
  @Int({ in: 'path' }) impersonation_token_id: number;
}

/** Source: reference identity-and-import 4.7. */
export class CreateOwnToken {
  @Text({ blank: 'refused', max: 255 }) name: string;
  @Text({ optional: true, max: 255 }) description?: string;
  @ListOf({ oneOf: OWN_SCOPES }, { splitItems: true, empty: 'refused' }) scopes: string[];
  @Day({ optional: true, about: 'Default: the end of this day.' }) expires_at?: string;
}

export class ListTokenAssociations {
  @OneOf(GRANTABLE_LEVELS, { default: 10 }) min_access_level: number;
}

import { Day, Flag, Instant, Int, ListOf, OneOf, Text } from '@rookery/api-v4';
import type { TokenFilters } from './token-filters';

export class TokenFilterParams implements TokenFilters {
  @Instant({ optional: true }) created_after?: Date;
  @Instant({ optional: true }) created_before?: Date;
  @Instant({ optional: true }) last_used_after?: Date;
  @Instant({ optional: true }) last_used_before?: Date;
  @Day({ optional: true }) expires_after?: string;
  @Day({ optional: true }) expires_before?: string;
  @Flag({ optional: true }) revoked?: boolean;
  @Text({ optional: true, about: 'Part of the name.' }) search?: string;
  @Text({ optional: true, about: 'created, expires, last_used or name, then _asc or _desc; anything else is by id.' })
  sort?: string;
  @OneOf(['active', 'inactive'], { optional: true }) state?: 'active' | 'inactive';
}

export class ListTokensParams extends TokenFilterParams {
  @Int({ optional: true, nullable: true }) user_id?: number | null;
}

export class TokenIdParams {
  @Int({ in: 'path' }) id: number;
}

export class RotateTokenParams {
  @Day({ optional: true }) expires_at?: string;
}

export class RotateTokenByIdParams extends RotateTokenParams {
  @Int({ in: 'path' }) id: number;
}

export class CreateTokenParams {
  @Int({ in: 'path' }) user_id: number;
  @Text({ blank: 'refused', max: 255 }) name: string;
  @Text({ optional: true }) description?: string;
  @ListOf('text', { splitItems: true, empty: 'refused' }) scopes: string[];
  @Day({ optional: true }) expires_at?: string;
}

export class ListImpersonationTokensParams {
  @Int({ in: 'path' }) user_id: number;
  @OneOf(['all', 'active', 'inactive'], { default: 'all' }) state: 'all' | 'active' | 'inactive';
}

export class ImpersonationTokenParams {
  @Int({ in: 'path' }) user_id: number;
  @Int({ in: 'path' }) impersonation_token_id: number;
}

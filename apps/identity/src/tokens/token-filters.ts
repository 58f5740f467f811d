/** What every list of tokens can be narrowed by. Source: requirements 2 §4 Group access tokens. */
export interface TokenFilters {
  readonly created_after?: Date;
  readonly created_before?: Date;
  readonly last_used_after?: Date;
  readonly last_used_before?: Date;
  readonly expires_after?: string;
  readonly expires_before?: string;
  readonly revoked?: boolean;
  readonly search?: string;
  /** `created`, `expires`, `last_used` or `name`, then `_asc` or `_desc`; anything else is by id. */
  readonly sort?: string;
  readonly state?: 'active' | 'inactive';
}

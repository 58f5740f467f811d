import { Day, ListOf, OneOf, Text } from '@rookery/api-v4';
import { GRANTABLE_LEVELS } from '@rookery/kernel';
import { OWN_SCOPES } from '../tokens/token-scopes';

/** Source: reference identity-and-import 4.7. */
export class CreateOwnTokenParams {
  @Text({ blank: 'refused', max: 255 }) name: string;
  @Text({ optional: true }) description?: string;
  @ListOf({ oneOf: OWN_SCOPES }, { splitItems: true, empty: 'refused' }) scopes: string[];
  @Day({ optional: true, about: 'Default: the end of this day.' }) expires_at?: string;
}

export class AssociationsParams {
  @OneOf(GRANTABLE_LEVELS, { default: 10 }) min_access_level: number;
}

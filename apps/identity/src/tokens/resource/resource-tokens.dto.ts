import { Day, IdOrPath, Int, ListOf, OneOf, Text } from '@rookery/api-v4';
import { GRANTABLE_LEVELS } from '@rookery/kernel';
import { RESOURCE_SCOPES } from '../token-terms';
import { ListAnyTokens } from '../tokens.dto';

export class ListResourceTokens extends ListAnyTokens {
  @IdOrPath({ in: 'path' }) id: number | string;
}

export class IdentifyTokenResource {
  @IdOrPath({ in: 'path' }) id: number | string;
}

export class IdentifyResourceToken extends IdentifyTokenResource {
  @Int({ in: 'path' }) token_id: number;
}

/** Source: reference identity-and-import 4.9. */
export class CreateResourceToken extends IdentifyTokenResource {
  @Text({ blank: 'refused', max: 255 }) name: string;
  @Text({ optional: true, max: 255 }) description?: string;
  @ListOf({ oneOf: RESOURCE_SCOPES }, { splitItems: true, empty: 'refused' }) scopes: string[];
  @OneOf(GRANTABLE_LEVELS, { default: 40 }) access_level: number;
  @Day({ optional: true }) expires_at?: string;
}

export class RotateOwnResourceToken extends IdentifyTokenResource {
  @Day({ optional: true }) expires_at?: string;
}

export class RotateResourceToken extends IdentifyResourceToken {
  @Day({ optional: true }) expires_at?: string;
}

export class RevokeLeakedToken {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Text({ about: 'The plaintext of the token.' }) token: string;
}

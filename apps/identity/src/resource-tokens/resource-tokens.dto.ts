import { Day, IdOrPath, Int, ListOf, OneOf, Text } from '@rookery/api-v4';
import { GRANTABLE_LEVELS } from '@rookery/kernel';
import { RESOURCE_SCOPES } from '../tokens/token-scopes';
import { TokenFilterParams } from '../tokens/tokens.dto';

export class ListResourceTokensParams extends TokenFilterParams {
  @IdOrPath({ in: 'path' }) id: number | string;
}

export class OwnResourceTokenParams {
  @IdOrPath({ in: 'path' }) id: number | string;
}

export class ResourceTokenParams extends OwnResourceTokenParams {
  @Int({ in: 'path' }) token_id: number;
}

/** Source: reference identity-and-import 4.9. */
export class CreateResourceTokenParams extends OwnResourceTokenParams {
  @Text({ blank: 'refused', max: 255 }) name: string;
  @Text({ optional: true }) description?: string;
  @ListOf({ oneOf: RESOURCE_SCOPES }, { splitItems: true, empty: 'refused' }) scopes: string[];
  @OneOf(GRANTABLE_LEVELS, { default: 40 }) access_level: number;
  @Day({ optional: true }) expires_at?: string;
}

export class RotateOwnResourceTokenParams extends OwnResourceTokenParams {
  @Day({ optional: true }) expires_at?: string;
}

export class RotateResourceTokenParams extends ResourceTokenParams {
  @Day({ optional: true }) expires_at?: string;
}

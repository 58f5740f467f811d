import { Day, Int, ListOf, Text } from '@rookery/api-v4';
import { TokenFilterParams } from '../tokens/tokens.dto';

export class ListAccountTokensParams extends TokenFilterParams {
  @Int({ in: 'path' }) user_id: number;
}

export class CreateAccountTokenParams {
  @Int({ in: 'path' }) user_id: number;
  @Text({ blank: 'refused', max: 255 }) name: string;
  @Text({ optional: true }) description?: string;
  @ListOf('text', { splitItems: true, empty: 'refused' }) scopes: string[];
  @Day({ optional: true }) expires_at?: string;
}

export class AccountTokenParams {
  @Int({ in: 'path' }) user_id: number;
  @Int({ in: 'path' }) token_id: number;
}

export class RotateAccountTokenParams extends AccountTokenParams {
  @Day({ optional: true }) expires_at?: string;
}

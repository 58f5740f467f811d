import { Day, Int, ListOf, Text } from '@rookery/api-v4';
import { ListAnyTokens } from '../../tokens/tokens.dto';

export class ListServiceAccountTokens extends ListAnyTokens {
  @Int({ in: 'path' }) user_id: number;
}

export class CreateServiceAccountToken {
  @Int({ in: 'path' }) user_id: number;
  @Text({ blank: 'refused', max: 255 }) name: string;
  @Text({ optional: true, max: 255 }) description?: string;
  @ListOf('text', { splitItems: true, empty: 'refused' }) scopes: string[];
  @Day({ optional: true }) expires_at?: string;
}

export class IdentifyServiceAccountToken {
  @Int({ in: 'path' }) user_id: number;
  @Int({ in: 'path' }) token_id: number;
}

export class RotateServiceAccountToken extends IdentifyServiceAccountToken {
  @Day({ optional: true }) expires_at?: string;
}

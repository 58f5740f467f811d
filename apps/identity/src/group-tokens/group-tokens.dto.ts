import { IdOrPath, Text } from '@rookery/api-v4';

export class RevokeTokenParams {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Text({ about: 'The token itself.' }) token: string;
}

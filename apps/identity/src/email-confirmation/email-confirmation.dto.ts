import { Text } from '@rookery/api-v4';

export class ConfirmEmailParams {
  @Text({ about: 'The secret of the link.' }) confirmation_token: string;
}

import { Text } from '@rookery/api-v4';

export class IdentifyUnsubscribeLink {
  @Text({ in: 'path', about: 'Key from the link in an e-mail.' }) key: string;
}

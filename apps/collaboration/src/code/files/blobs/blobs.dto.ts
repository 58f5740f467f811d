import { Text } from '@rookery/api-v4';

export class IdentifyBlob {
  @Text({ in: 'path', about: 'Id of the blob, also abbreviated.' }) sha: string;
}

import { Text } from '@rookery/api-v4';

export class IdentifyUpload {
  @Text({ in: 'path', about: 'Random part of the address.' }) secret: string;
  @Text({ in: 'path', about: 'Name of the file.' }) filename: string;
}

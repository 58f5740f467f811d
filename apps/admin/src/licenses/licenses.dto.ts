import { Int } from '@rookery/api-v4';

export class IdentifyLicense {
  @Int() id: number;
}

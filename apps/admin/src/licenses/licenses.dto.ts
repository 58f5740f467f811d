import { Int } from '@rookery/api-v4';

export class OneLicense {
  @Int() id: number;
}

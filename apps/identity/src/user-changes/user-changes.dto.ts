import { Flag, Int, Text } from '@rookery/api-v4';
import { UserFieldsParams } from '../users/users.dto';

export class UpdateUserParams extends UserFieldsParams {
  @Int({ in: 'path' }) id: number;
  @Text({ optional: true }) email?: string;
  @Text({ optional: true }) username?: string;
  @Text({ optional: true }) name?: string;
  @Flag({ optional: true, about: 'Administrators vouch for addresses in any case.' }) skip_reconfirmation?: boolean;
}

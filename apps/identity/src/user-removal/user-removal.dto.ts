import { Flag, Int } from '@rookery/api-v4';

export class RemoveUserParams {
  @Int({ in: 'path' }) id: number;
  @Flag({ default: false, about: 'Also what he wrote, and the groups that only he owns.' }) hard_delete: boolean;
}

import { Flag, Int, OneOf, Text } from '@rookery/api-v4';
import type { ChosenNames } from './service-account-names';
import type { AccountOrder } from './service-accounts.queries';

export class ListServiceAccountsParams implements AccountOrder {
  @OneOf(['id', 'username'], { default: 'id' }) order_by: 'id' | 'username';
  @OneOf(['asc', 'desc'], { default: 'desc' }) sort: 'asc' | 'desc';
}

export class ServiceAccountParams implements ChosenNames {
  @Text({ optional: true }) name?: string;
  @Text({ optional: true }) username?: string;
  @Text({ optional: true, about: 'Counts once the link in the e-mail sent there was followed.' }) email?: string;
}

export class UpdateServiceAccountParams extends ServiceAccountParams {
  @Int({ in: 'path' }) user_id: number;
}

export class UpdateInstanceAccountParams extends ServiceAccountParams {
  @Int({ in: 'path' }) id: number;
}

export class DeleteServiceAccountParams {
  @Int({ in: 'path' }) user_id: number;
  @Flag({ default: false, about: 'With what it wrote and the groups that only it owns.' }) hard_delete: boolean;
}

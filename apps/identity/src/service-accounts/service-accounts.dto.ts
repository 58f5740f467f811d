import { Int, OneOf, Text } from '@rookery/api-v4';
import type { ChosenNames } from './service-account-names';
import type { AccountOrder } from './service-accounts.queries';

export class ListServiceAccounts implements AccountOrder {
  @OneOf(['id', 'username'], { default: 'id' }) order_by: 'id' | 'username';
  @OneOf(['asc', 'desc'], { default: 'desc' }) sort: 'asc' | 'desc';
}

export class CreateServiceAccount implements ChosenNames {
  @Text({ optional: true }) name?: string;
  @Text({ optional: true }) username?: string;
  @Text({ optional: true, about: 'Takes effect once the link in the confirmation e-mail is opened.' }) email?: string;
}

export class UpdateServiceAccount extends CreateServiceAccount {
  @Int({ in: 'path' }) user_id: number;
}

export class UpdateInstanceServiceAccount extends CreateServiceAccount {
  @Int({ in: 'path' }) id: number;
}

import { Flag, Int, Text } from '@rookery/api-v4';

export class AddEmailParams {
  @Text() email: string;
}

export class EmailIdParams {
  @Int({ in: 'path' }) email_id: number;
}

export class UserEmailsParams {
  @Int({ in: 'path' }) id: number;
}

export class AddUserEmailParams extends AddEmailParams {
  @Int({ in: 'path' }) id: number;
  @Flag({ default: false, about: 'The address counts as confirmed, and no e-mail is sent.' })
  skip_confirmation: boolean;
}

export class UserEmailIdParams extends UserEmailsParams {
  @Int({ in: 'path' }) email_id: number;
}

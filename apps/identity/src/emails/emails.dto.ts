import { Flag, Int, Text } from '@rookery/api-v4';

export class CreateEmail {
  @Text() email: string;
}

export class IdentifyEmail {
  @Int({ in: 'path' }) email_id: number;
}

export class ListUserEmails {
  @Int({ in: 'path' }) id: number;
}

export class CreateUserEmail extends CreateEmail {
  @Int({ in: 'path' }) id: number;
  @Flag({ default: false, about: 'Confirms the address immediately, without an e-mail.' })
  skip_confirmation: boolean;
}

export class IdentifyUserEmail extends ListUserEmails {
  @Int({ in: 'path' }) email_id: number;
}

export class ConfirmEmail {
  @Text({ about: 'Secret of the link.' }) confirmation_token: string;
}

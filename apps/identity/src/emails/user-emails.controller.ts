import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { administrator, checkUnmodifiedSince, created, Endpoint, noContent, one, page } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { email } from './email.presenter';
import { CreateUserEmail, IdentifyUserEmail, ListUserEmails } from './emails.dto';
import { EmailsQueries } from './emails.queries';
import type { EmailRow } from './emails.queries';
import { EmailsService } from './emails.service';

const SOURCE = 'reference identity-and-import 10.5';
type AdministratorCall<P> = Call<P, undefined, SignedInViewer>;

/** E-mail addresses of any user, for administrators. */
@Controller('users/:id/emails')
export class UserEmailsController {
  constructor(
    private readonly emails: EmailsService,
    private readonly queries: EmailsQueries,
  ) {}

  @Endpoint('GET', '', {
    about: 'Lists the secondary e-mail addresses of a user.',
    source: SOURCE,
    may: administrator(),
    tokenScopes: ['read_user'],
    params: ListUserEmails,
    answers: page(email),
  })
  async list({ params, page }: AdministratorCall<ListUserEmails>): Promise<Page<EmailRow>> {
    await this.requireUser(params.id);
    return this.queries.list(params.id, page);
  }

  @Endpoint('GET', ':email_id', {
    about: 'Returns a secondary e-mail address of a user.',
    source: SOURCE,
    may: administrator(),
    tokenScopes: ['read_user'],
    params: IdentifyUserEmail,
    answers: one(email),
  })
  async show({ params }: AdministratorCall<IdentifyUserEmail>): Promise<EmailRow> {
    await this.requireUser(params.id);
    const row = await this.queries.findEmail(params.id, params.email_id);
    if (!row) throw new NotFound('Email');
    return row;
  }

  @Endpoint('POST', '', {
    about: 'Adds an e-mail address to a user.',
    source: SOURCE,
    may: administrator(),
    params: CreateUserEmail,
    fails: [429],
    answers: created(email),
  })
  create({ viewer, params }: AdministratorCall<CreateUserEmail>): Promise<EmailRow> {
    const how = { isConfirmed: params.skip_confirmation, actorId: viewer.userId };
    return this.emails.create(params.id, params.email, how);
  }

  @Endpoint('DELETE', ':email_id', {
    about: 'Removes an e-mail address of a user.',
    source: SOURCE,
    may: administrator(),
    params: IdentifyUserEmail,
    fails: [412],
    answers: noContent(),
  })
  async remove(call: AdministratorCall<IdentifyUserEmail>): Promise<void> {
    await this.requireUser(call.params.id);
    await this.emails.remove(call.params.id, call.params.email_id, (at) => checkUnmodifiedSince(call, at));
  }

  private async requireUser(id: number): Promise<void> {
    if (!(await this.queries.hasUser(id))) throw new NotFound('User');
  }
}

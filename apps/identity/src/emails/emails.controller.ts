import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { checkUnmodifiedSince, created, Endpoint, noContent, one, page, signedIn } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { email } from './email.presenter';
import { CreateEmail, IdentifyEmail } from './emails.dto';
import { EmailsQueries } from './emails.queries';
import type { EmailRow } from './emails.queries';
import { EmailsService } from './emails.service';

const SOURCE = 'reference identity-and-import 10.5';
type SignedInCall<P = object> = Call<P, undefined, SignedInViewer>;

/** E-mail addresses of the caller. */
@Controller('user/emails')
export class EmailsController {
  constructor(
    private readonly emails: EmailsService,
    private readonly queries: EmailsQueries,
  ) {}

  @Endpoint('GET', '', {
    about: "Lists the caller's secondary e-mail addresses.",
    source: SOURCE,
    may: signedIn(),
    tokenScopes: ['read_user'],
    answers: page(email),
  })
  list({ viewer, page }: SignedInCall): Promise<Page<EmailRow>> {
    return this.queries.list(viewer.userId, page);
  }

  @Endpoint('GET', ':email_id', {
    about: 'Returns a secondary e-mail address.',
    source: SOURCE,
    may: signedIn(),
    tokenScopes: ['read_user'],
    params: IdentifyEmail,
    answers: one(email),
  })
  async show({ viewer, params }: SignedInCall<IdentifyEmail>): Promise<EmailRow> {
    const row = await this.queries.findEmail(viewer.userId, params.email_id);
    if (!row) throw new NotFound('Email');
    return row;
  }

  @Endpoint('POST', '', {
    about: 'Adds an e-mail address. It counts after the link in the confirmation e-mail is opened.',
    source: SOURCE,
    may: signedIn(),
    params: CreateEmail,
    fails: [429],
    answers: created(email),
  })
  create({ viewer, params }: SignedInCall<CreateEmail>): Promise<EmailRow> {
    return this.emails.create(viewer.userId, params.email, { isConfirmed: false, actorId: viewer.userId });
  }

  @Endpoint('DELETE', ':email_id', {
    about: 'Removes an e-mail address.',
    source: SOURCE,
    may: signedIn(),
    params: IdentifyEmail,
    fails: [412],
    answers: noContent(),
  })
  remove(call: SignedInCall<IdentifyEmail>): Promise<void> {
    return this.emails.remove(call.viewer.userId, call.params.email_id, (at) => checkUnmodifiedSince(call, at));
  }
}

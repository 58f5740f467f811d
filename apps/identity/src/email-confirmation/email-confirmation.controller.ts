import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { anyone, Endpoint, file, redirect } from '@rookery/api-v4';
import type { FileAnswer } from '@rookery/api-v4';
import { Links } from '@rookery/platform';
import { EmailConfirmations } from './email-confirmations.service';
import { ConfirmEmailParams } from './emails.dto';

const SOURCE = 'decisions 6; ADR 0131';
const DONE = 'Your e-mail address is confirmed. You may close this page.\n';

/** Where the link of a confirmation e-mail leads; outside of the API, as browsers follow it. */
@Controller()
export class EmailConfirmationController {
  constructor(
    private readonly confirmations: EmailConfirmations,
    private readonly links: Links,
  ) {}

  @Endpoint('GET', '//users/confirmation', {
    about: 'Confirms an address by the secret of its link, once and within three days.',
    source: SOURCE,
    may: anyone(),
    tokenScopes: 'any',
    params: ConfirmEmailParams,
    fails: [400],
    answers: redirect(),
  })
  async confirm({ params }: Call<ConfirmEmailParams>): Promise<string> {
    await this.confirmations.confirm(params.confirmation_token);
    return this.links.web('users/confirmation/done');
  }

  @Endpoint('GET', '//users/confirmation/done', {
    about: 'Tells a browser that the address is confirmed, without the secret in its address bar.',
    source: SOURCE,
    may: anyone(),
    tokenScopes: 'any',
    answers: file('text/plain'),
  })
  done(): FileAnswer {
    const bytes = Buffer.from(DONE);
    return { stream: bytes, mediaType: 'text/plain; charset=utf-8', length: bytes.length };
  }
}

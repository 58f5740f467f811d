import { Controller } from '@nestjs/common';
import type { Call, WebPage } from '@rookery/api-v4';
import { anyone, Endpoint, webPage } from '@rookery/api-v4';
import { Refused } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { CONFIRMED, pageOfAsking, pageOfRefusal } from '../email.presenter';
import { EmailConfirmationsService } from './email-confirmations.service';
import { ConfirmEmail } from '../emails.dto';

const SOURCE = 'reference identity-and-import 10.5';

/** Where the link of a confirmation e-mail leads; outside of the API, as browsers follow it. */
@Controller()
export class EmailConfirmationController {
  constructor(
    private readonly confirmations: EmailConfirmationsService,
    private readonly links: Links,
  ) {}

  @Endpoint('GET', '//users/confirmation', {
    about: 'The page behind the link: browsers are asked once more, other clients confirm by following it.',
    source: SOURCE,
    may: anyone(),
    tokenScopes: 'any',
    params: ConfirmEmail,
    fails: [302, 400],
    answers: webPage(),
  })
  async open({ params, isBrowsed }: Call<ConfirmEmail>): Promise<WebPage | string> {
    const token = params.confirmation_token;
    if (isBrowsed) return shown(async () => pageOfAsking(await this.confirmations.addressOf(token), token));
    await this.confirmations.confirm(token);
    return this.links.web('users/confirmation/done');
  }

  @Endpoint('POST', '//users/confirmation', {
    about: 'Confirms an address by the secret of its link, once and within three days.',
    source: SOURCE,
    may: anyone(),
    tokenScopes: 'any',
    params: ConfirmEmail,
    fails: [400],
    answers: webPage(),
  })
  async confirm({ params, isBrowsed }: Call<ConfirmEmail>): Promise<WebPage> {
    const confirm = async (): Promise<WebPage> => {
      await this.confirmations.confirm(params.confirmation_token);
      return CONFIRMED;
    };
    return isBrowsed ? shown(confirm) : confirm();
  }

  @Endpoint('GET', '//users/confirmation/done', {
    about: 'Tells somebody who followed the link that the address is confirmed, without the secret in the address bar.',
    source: SOURCE,
    may: anyone(),
    tokenScopes: 'any',
    answers: webPage(),
  })
  done(): WebPage {
    return CONFIRMED;
  }
}

/** A person reads a refusal as a page, too. */
async function shown(make: () => Promise<WebPage>): Promise<WebPage> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof Refused) return pageOfRefusal(error.message);
    throw error;
  }
}

import { Controller } from '@nestjs/common';
import type { Call, WebPage } from '@rookery/api-v4';
import { anyone, Endpoint, webPage } from '@rookery/api-v4';
import { Refused } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { CONFIRMED, renderEmailConfirmationPage, renderEmailConfirmationRefusalPage } from '../email.presenter';
import { EmailConfirmationsService } from './email-confirmations.service';
import { ConfirmEmail } from '../emails.dto';

const SOURCE = 'reference identity-and-import 10.5';

/** Pages of the confirmation link. They are outside of the API, because browsers open them. */
@Controller()
export class EmailConfirmationController {
  constructor(
    private readonly confirmations: EmailConfirmationsService,
    private readonly links: Links,
  ) {}

  @Endpoint('GET', '//users/confirmation', {
    about:
      'Opens the confirmation link. Browsers get a page with a button; other clients confirm the address by this request.',
    source: SOURCE,
    may: anyone(),
    tokenScopes: 'any',
    params: ConfirmEmail,
    fails: [302, 400],
    answers: webPage(),
  })
  async open({ params, isWriteForbidden }: Call<ConfirmEmail>): Promise<WebPage | string> {
    const token = params.confirmation_token;
    if (isWriteForbidden)
      return renderConfirmationOrRefusalPage(async () =>
        renderEmailConfirmationPage(await this.confirmations.findAddress(token), token),
      );
    await this.confirmations.confirmAddress(token);
    return this.links.webUrl('users/confirmation/done');
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
  async confirm({ params, isWriteForbidden }: Call<ConfirmEmail>): Promise<WebPage> {
    const confirm = async (): Promise<WebPage> => {
      await this.confirmations.confirmAddress(params.confirmation_token);
      return CONFIRMED;
    };
    return isWriteForbidden ? renderConfirmationOrRefusalPage(confirm) : confirm();
  }

  @Endpoint('GET', '//users/confirmation/done', {
    about: 'Shows that the address is confirmed, at a URL without the secret.',
    source: SOURCE,
    may: anyone(),
    tokenScopes: 'any',
    answers: webPage(),
  })
  done(): WebPage {
    return CONFIRMED;
  }
}

/** Renders a refusal as a page. */
async function renderConfirmationOrRefusalPage(renderPage: () => Promise<WebPage>): Promise<WebPage> {
  try {
    return await renderPage();
  } catch (error) {
    if (error instanceof Refused) return renderEmailConfirmationRefusalPage(error.message);
    throw error;
  }
}

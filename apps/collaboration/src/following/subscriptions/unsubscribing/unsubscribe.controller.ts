import { Controller } from '@nestjs/common';
import { anyone, Endpoint, webPage } from '@rookery/api-v4';
import type { Call, WebPage } from '@rookery/api-v4';
import { IdentifyUnsubscribeLink } from './unsubscribe.dto';
import { INVALID_LINK, unsubscribedPage, unsubscribePage } from './unsubscribe.presenter';
import { UnsubscribeService } from './unsubscribe.service';

const LINK = '//-/sent_notifications/:key/unsubscribe';
const route = {
  source: 'reference work-tracking 8.5',
  may: anyone(),
  tokenScopes: 'any',
  params: IdentifyUnsubscribeLink,
  answers: webPage(),
  fails: [400],
} as const;

/** Pages of the unsubscribe link. They are outside of the API, because browsers and mail programs open them. */
@Controller()
export class UnsubscribeController {
  constructor(private readonly links: UnsubscribeService) {}

  @Endpoint('GET', LINK, { ...route, about: 'Shows a page with a button that unsubscribes; changes nothing.' })
  async show({ params }: Call<IdentifyUnsubscribeLink>): Promise<WebPage> {
    const kind = await this.links.show(params.key);
    return kind ? unsubscribePage(kind) : INVALID_LINK;
  }

  @Endpoint('POST', LINK, { ...route, about: 'Unsubscribes the recipient of an e-mail, by one click (RFC 8058).' })
  async unsubscribe({ params }: Call<IdentifyUnsubscribeLink>): Promise<WebPage> {
    const kind = await this.links.unsubscribe(params.key);
    return kind ? unsubscribedPage(kind) : INVALID_LINK;
  }
}

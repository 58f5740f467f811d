import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { created, Endpoint, pageOfLists, signedIn } from '@rookery/api-v4';
import type { JsonPage, SignedInViewer } from '@rookery/kernel';
import { newAccessToken } from '../tokens/access-token.presenter';
import { AccessTokensService } from '../tokens/access-tokens.service';
import type { NewTokenRow } from '../tokens/token-row';
import { TokenTerms } from '../tokens/token-terms';
import { AssociationsParams, CreateOwnTokenParams } from './own-tokens.dto';
import { TokenAssociations } from './token-associations.queries';
import { tokenAssociations } from './token-associations.schema';

const SOURCE = 'reference identity-and-import 4.7';
type SignedInCall<P> = Call<P, undefined, SignedInViewer>;

/** What anybody may do with tokens of his own. */
@Controller()
export class OwnTokensController {
  constructor(
    private readonly tokens: AccessTokensService,
    private readonly terms: TokenTerms,
    private readonly associations: TokenAssociations,
  ) {}

  @Endpoint('POST', '/user/personal_access_tokens', {
    about: 'Makes a token for the caller, with scopes that open next to nothing of the API.',
    source: SOURCE,
    may: signedIn(),
    params: CreateOwnTokenParams,
    answers: created(newAccessToken),
  })
  create({ viewer, params }: SignedInCall<CreateOwnTokenParams>): Promise<NewTokenRow> {
    const { expires_at, ...token } = params;
    const expiresAt = this.terms.expiryOfOwn(expires_at);
    const by = { userId: viewer.userId, createdBy: viewer.userId, impersonation: false };
    return this.tokens.create({ ...token, ...by, expiresAt });
  }

  @Endpoint('GET', '/personal_access_tokens/self/associations', {
    about: 'Groups and projects in which the holder of the token of this very request has a level.',
    source: SOURCE,
    may: signedIn(),
    params: AssociationsParams,
    answers: pageOfLists(tokenAssociations),
  })
  reached({ viewer, params, page }: SignedInCall<AssociationsParams>): Promise<JsonPage> {
    return this.associations.page(viewer.userId, params.min_access_level, page);
  }
}

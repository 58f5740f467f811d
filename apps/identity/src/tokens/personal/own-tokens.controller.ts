import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { created, Endpoint, pagedLists, signedIn } from '@rookery/api-v4';
import type { JsonPage, SignedInViewer } from '@rookery/kernel';
import { newAccessToken } from '../access-token.presenter';
import { AccessTokensService } from '../access-tokens.service';
import type { NewTokenRow } from '../access-token.entity';
import { TokenTerms } from '../token-terms';
import { ListTokenAssociations, CreateOwnToken } from '../tokens.dto';
import { TokenAssociationsQueries } from './token-associations.queries';
import { tokenAssociations } from './token-associations.schema';

const SOURCE = 'reference identity-and-import 4.7';
type SignedInCall<P> = Call<P, undefined, SignedInViewer>;

/** Endpoints for tokens of the caller. */
@Controller()
export class OwnTokensController {
  constructor(
    private readonly tokens: AccessTokensService,
    private readonly terms: TokenTerms,
    private readonly associations: TokenAssociationsQueries,
  ) {}

  @Endpoint('POST', '/user/personal_access_tokens', {
    about: 'Creates a token for the caller, with scopes that give access to almost nothing of the API.',
    source: SOURCE,
    may: signedIn(),
    params: CreateOwnToken,
    answers: created(newAccessToken),
  })
  create({ viewer, params }: SignedInCall<CreateOwnToken>): Promise<NewTokenRow> {
    const { expires_at, ...token } = params;
    const expiresAt = this.terms.expiryOfOwn(expires_at);
    const { userId, impersonatorId } = viewer;
    // An impersonator sees the secret, so the token is revoked together with the impersonator.
    return this.tokens.create({
      ...token,
      userId,
      expiresAt,
      impersonation: false,
      createdBy: impersonatorId ?? userId,
    });
  }

  @Endpoint('GET', '/personal_access_tokens/self/associations', {
    about: "Lists the groups and projects in which the user of this request's token has a level.",
    source: SOURCE,
    may: signedIn(),
    params: ListTokenAssociations,
    answers: pagedLists(tokenAssociations),
  })
  reached({ viewer, params, page }: SignedInCall<ListTokenAssociations>): Promise<JsonPage> {
    return this.associations.list(viewer.userId, params.min_access_level, page);
  }
}

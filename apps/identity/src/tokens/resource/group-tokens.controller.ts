import { Controller } from '@nestjs/common';
import type { Call, GroupScope } from '@rookery/api-v4';
import { ability, Endpoint, group as inGroup, one } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { Refused, Unprocessable } from '@rookery/kernel';
import { accessToken } from '../access-token.presenter';
import { AccessTokensQueries } from '../access-tokens.queries';
import { AccessTokensService } from '../access-tokens.service';
import type { TokenRow } from '../access-token.entity';
import { RevokeLeakedToken } from './resource-tokens.dto';
import { LeakedTokensQueries } from './leaked-tokens.queries';
import { toResource } from './resource';
import { mayManageTokens } from './resource-token.policy';

@Controller()
export class GroupTokensController {
  constructor(
    private readonly leaked: LeakedTokensQueries,
    private readonly tokens: AccessTokensService,
    private readonly queries: AccessTokensQueries,
  ) {}

  @Endpoint('POST', '/groups/:id/tokens/revoke', {
    about:
      'Revokes a token with access to a top-level group, identified by its plaintext. The answer does not disclose why it fails.',
    source: 'reference identity-and-import 2.1',
    within: inGroup('id'),
    may: ability<RevokeLeakedToken, GroupScope>(
      'group.revoke_tokens',
      (call) => mayManageTokens(call.viewer, toResource(call.within)),
      { signedIn: true },
    ),
    params: RevokeLeakedToken,
    fails: [400, 422],
    answers: one(accessToken),
  })
  async revoke({ within, params }: Call<RevokeLeakedToken, GroupScope, SignedInViewer>): Promise<TokenRow> {
    if (within.parentId !== null) throw new Refused('Must be a top-level group');
    const id = await this.leaked.findReaching(within.id, params.token);
    if (id === null) throw new Unprocessable();
    await this.tokens.revokeToken(id);
    const revoked = await this.queries.findToken(id);
    // The user of the token may have been removed meanwhile, together with the token.
    if (revoked === null) throw new Unprocessable();
    return revoked;
  }
}

import { Controller } from '@nestjs/common';
import type { Call, GroupScope } from '@rookery/api-v4';
import { ability, Endpoint, group as inGroup, one } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { Refused, Unprocessable } from '@rookery/kernel';
import { mayAdministerGroup } from '../group-details/group.policy';
import { accessToken } from '../tokens/access-token.presenter';
import { AccessTokensQueries } from '../tokens/access-tokens.queries';
import { AccessTokensService } from '../tokens/access-tokens.service';
import type { TokenRow } from '../tokens/token-row';
import { RevokeTokenParams } from './group-tokens.dto';
import { LeakedTokens } from './leaked-tokens.queries';

@Controller()
export class GroupTokensController {
  constructor(
    private readonly leaked: LeakedTokens,
    private readonly tokens: AccessTokensService,
    private readonly queries: AccessTokensQueries,
  ) {}

  @Endpoint('POST', '/groups/:id/tokens/revoke', {
    about: 'Revokes a token that reaches a top-level group, known by its plaintext; why it fails is not told.',
    source: 'reference identity-and-import 2.1',
    within: inGroup('id'),
    may: ability<RevokeTokenParams, GroupScope>(
      'group.revoke_tokens',
      (call) => mayAdministerGroup(call.viewer, call.within),
      { signedIn: true },
    ),
    params: RevokeTokenParams,
    fails: [400, 422],
    answers: one(accessToken),
  })
  async revoke({ within, params }: Call<RevokeTokenParams, GroupScope, SignedInViewer>): Promise<TokenRow> {
    if (within.parentId !== null) throw new Refused('Must be a top-level group');
    const id = await this.leaked.reaching(within.id, params.token);
    if (id === null) throw new Unprocessable();
    await this.tokens.revoke(id);
    return (await this.queries.one(id))!;
  }
}

import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { administrator, checkUnmodifiedSince, created, Endpoint, noContent, one, page } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { UsersQueries } from '../../users/users.queries';
import { impersonationToken, newImpersonationToken } from '../access-token.presenter';
import type { NewTokenRow, TokenRow } from '../access-token.entity';
import { AccessTokensQueries } from '../access-tokens.queries';
import { AccessTokensService } from '../access-tokens.service';
import { CreateToken, IdentifyImpersonationToken, ListImpersonationTokens } from '../tokens.dto';

const SOURCE = 'reference identity-and-import 4.7';
type SignedInCall<P> = Call<P, undefined, SignedInViewer>;

/** Tokens with which an administrator acts as another user. */
@Controller()
export class ImpersonationTokensController {
  constructor(
    private readonly tokens: AccessTokensService,
    private readonly queries: AccessTokensQueries,
    private readonly users: UsersQueries,
  ) {}

  @Endpoint('GET', '/users/:user_id/impersonation_tokens', {
    about: 'Lists the impersonation tokens of a user.',
    source: SOURCE,
    may: administrator(),
    tokenScopes: ['read_user'],
    params: ListImpersonationTokens,
    answers: page(impersonationToken),
  })
  async list({ params, page }: SignedInCall<ListImpersonationTokens>): Promise<Page<TokenRow>> {
    await this.requireUser(params.user_id);
    const { state } = params;
    return this.queries.list({ userId: params.user_id, impersonation: true }, state === 'all' ? {} : { state }, page);
  }

  @Endpoint('POST', '/users/:user_id/impersonation_tokens', {
    about: 'Creates an impersonation token.',
    source: SOURCE,
    may: administrator(),
    params: CreateToken,
    answers: created(newImpersonationToken),
  })
  create({ viewer, params }: SignedInCall<CreateToken>): Promise<NewTokenRow> {
    return this.tokens.create({
      ...params,
      userId: params.user_id,
      expiresAt: params.expires_at,
      impersonation: true,
      // It is revoked together with the administrator who issued it, also if that one acts as another user.
      createdBy: viewer.impersonatorId ?? viewer.userId,
    });
  }

  @Endpoint('GET', '/users/:user_id/impersonation_tokens/:impersonation_token_id', {
    about: 'Returns an impersonation token.',
    source: SOURCE,
    may: administrator(),
    tokenScopes: ['read_user'],
    params: IdentifyImpersonationToken,
    answers: one(impersonationToken),
  })
  show({ params }: SignedInCall<IdentifyImpersonationToken>): Promise<TokenRow> {
    return this.requireToken(params);
  }

  @Endpoint('DELETE', '/users/:user_id/impersonation_tokens/:impersonation_token_id', {
    about: 'Revokes an impersonation token.',
    source: SOURCE,
    may: administrator(),
    params: IdentifyImpersonationToken,
    fails: [412],
    answers: noContent(),
  })
  async revoke(call: SignedInCall<IdentifyImpersonationToken>): Promise<void> {
    const token = await this.requireToken(call.params);
    checkUnmodifiedSince(call, token.updated_at);
    await this.tokens.revokeToken(token.id);
  }

  private async requireToken(params: IdentifyImpersonationToken): Promise<TokenRow> {
    await this.requireUser(params.user_id);
    const token = await this.queries.findToken(params.impersonation_token_id);
    if (!token || !token.impersonation || token.user_id !== params.user_id) throw new NotFound('Impersonation Token');
    return token;
  }

  private async requireUser(id: number): Promise<void> {
    if (!(await this.users.findUser(id))) throw new NotFound('User');
  }
}

import { Controller } from '@nestjs/common';
import type { Call, GroupScope } from '@rookery/api-v4';
import { created, Endpoint, group, noContent, one, page } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { accessToken, newAccessToken } from '../../tokens/access-token.presenter';
import { AccessTokensQueries } from '../../tokens/access-tokens.queries';
import { AccessTokensService } from '../../tokens/access-tokens.service';
import type { NewTokenRow, TokenRow } from '../../tokens/access-token.entity';
import { abilityToManageServiceAccounts, requireTopLevelGroupId } from '../managed-group.permission';
import {
  IdentifyServiceAccountToken,
  CreateServiceAccountToken,
  ListServiceAccountTokens,
  RotateServiceAccountToken,
} from './service-account-tokens.dto';
import { ServiceAccountsQueries } from '../service-accounts.queries';

const SOURCE = 'requirements 2 §4; reference identity-and-import 5';
type GroupCall<P> = Call<P, GroupScope, SignedInViewer>;

/** Personal access tokens of a service account. Source: reference identity-and-import 4.3-4.8, 5. */
@Controller('groups/:id/service_accounts/:user_id/personal_access_tokens')
export class ServiceAccountTokensController {
  constructor(
    private readonly accounts: ServiceAccountsQueries,
    private readonly tokens: AccessTokensService,
    private readonly queries: AccessTokensQueries,
  ) {}

  @Endpoint('GET', '', {
    about: 'Lists the tokens of a service account.',
    source: SOURCE,
    within: group('id'),
    may: abilityToManageServiceAccounts<ListServiceAccountTokens>(),
    params: ListServiceAccountTokens,
    fails: [400],
    answers: page(accessToken),
  })
  async list({ within, params, page }: GroupCall<ListServiceAccountTokens>): Promise<Page<TokenRow>> {
    const userId = await this.requireAccount(within, params.user_id);
    return this.queries.list({ userId, impersonation: false }, params, page);
  }

  @Endpoint('POST', '', {
    about: 'Creates a token for a service account.',
    source: SOURCE,
    // A published client build sends the request to this path.
    aliases: ['/groups/:id/service_accounts/:user_id'],
    within: group('id'),
    may: abilityToManageServiceAccounts<CreateServiceAccountToken>(),
    params: CreateServiceAccountToken,
    fails: [400],
    answers: created(newAccessToken),
  })
  async create({ within, params, viewer }: GroupCall<CreateServiceAccountToken>): Promise<NewTokenRow> {
    const userId = await this.requireAccount(within, params.user_id);
    const { name, description, scopes, expires_at: expiresAt } = params;
    const wanted = { userId, name, description, scopes, expiresAt };
    return this.tokens.create({ ...wanted, impersonation: false, createdBy: viewer.userId });
  }

  @Endpoint('DELETE', ':token_id', {
    about: 'Revokes a token of a service account.',
    source: SOURCE,
    within: group('id'),
    may: abilityToManageServiceAccounts<IdentifyServiceAccountToken>(),
    params: IdentifyServiceAccountToken,
    fails: [400],
    answers: noContent(),
  })
  async revoke({ within, params }: GroupCall<IdentifyServiceAccountToken>): Promise<void> {
    await this.tokens.revokeToken(await this.requireToken(within, params));
  }

  @Endpoint('POST', ':token_id/rotate', {
    about: 'Rotates a token of a service account. Rotating a revoked token revokes its whole family.',
    source: SOURCE,
    within: group('id'),
    may: abilityToManageServiceAccounts<RotateServiceAccountToken>(),
    params: RotateServiceAccountToken,
    fails: [400],
    answers: one(newAccessToken),
  })
  async rotate({ within, params, viewer }: GroupCall<RotateServiceAccountToken>): Promise<NewTokenRow> {
    return this.tokens.rotateToken(await this.requireToken(within, params), params.expires_at, viewer);
  }

  private async requireAccount(within: GroupScope, userId: number): Promise<number> {
    if (!(await this.accounts.findAccount(requireTopLevelGroupId(within), userId))) throw new NotFound('User');
    return userId;
  }

  private async requireToken(within: GroupScope, params: IdentifyServiceAccountToken): Promise<number> {
    const userId = await this.requireAccount(within, params.user_id);
    const token = await this.queries.findToken(params.token_id);
    if (!token || token.user_id !== userId || token.impersonation) throw new NotFound('');
    return token.id;
  }
}

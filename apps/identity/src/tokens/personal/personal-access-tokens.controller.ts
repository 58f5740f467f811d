import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { administrator, created, Endpoint, noContent, one, page, signedIn } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { MethodNotAllowed, NotFound, Refused, Unauthorized } from '@rookery/kernel';
import { UsersQueries } from '../../users/users.queries';
import { accessToken, newAccessToken } from '../access-token.presenter';
import type { NewTokenRow, TokenRow } from '../access-token.entity';
import { AccessTokensQueries } from '../access-tokens.queries';
import { AccessTokensService } from '../access-tokens.service';
import { CreateToken, ListTokens, RotateToken, RotateOwnToken, IdentifyToken } from '../tokens.dto';

const SOURCE = 'reference identity-and-import 4.7';
type SignedInCall<P = object> = Call<P, undefined, SignedInViewer>;

@Controller()
export class PersonalAccessTokensController {
  constructor(
    private readonly tokens: AccessTokensService,
    private readonly queries: AccessTokensQueries,
    private readonly users: UsersQueries,
  ) {}

  @Endpoint('GET', '/personal_access_tokens', {
    about: "Lists the caller's tokens. Administrators list all tokens, or those of a user.",
    source: SOURCE,
    may: signedIn(),
    params: ListTokens,
    fails: [401, 404],
    answers: page(accessToken),
  })
  async list({ viewer, params, page }: SignedInCall<ListTokens>): Promise<Page<TokenRow>> {
    const asked = params.user_id;
    if (!viewer.isAdmin) {
      if (asked !== undefined && asked !== viewer.userId) throw new Unauthorized();
      return this.queries.list({ userId: viewer.userId, impersonation: false }, params, page);
    }
    if (asked === null || (asked !== undefined && !(await this.users.findUser(asked)))) throw new NotFound('');
    return this.queries.list({ userId: asked ?? null, impersonation: false }, params, page);
  }

  @Endpoint('GET', '/personal_access_tokens/self', {
    about: 'Returns the token of this request.',
    source: SOURCE,
    may: signedIn(),
    tokenScopes: 'any',
    fails: [400],
    answers: one(accessToken),
  })
  async self({ viewer }: SignedInCall): Promise<TokenRow> {
    const token = viewer.tokenId === null ? null : await this.queries.findToken(viewer.tokenId);
    if (!token) throw new Refused();
    return token;
  }

  @Endpoint('GET', '/personal_access_tokens/:id', {
    about: 'Returns a token.',
    source: SOURCE,
    may: signedIn(),
    params: IdentifyToken,
    fails: [401, 404],
    answers: one(accessToken),
  })
  show({ viewer, params }: SignedInCall<IdentifyToken>): Promise<TokenRow> {
    return this.requireManageableToken(viewer, params.id);
  }

  @Endpoint('POST', '/personal_access_tokens/self/rotate', {
    about: 'Rotates the token of this request.',
    source: 'reference identity-and-import 4.8',
    may: signedIn(),
    tokenScopes: ['self_rotate'],
    params: RotateOwnToken,
    fails: [400, 405],
    answers: one(newAccessToken),
  })
  rotateSelf({ viewer, params }: SignedInCall<RotateOwnToken>): Promise<NewTokenRow> {
    if (viewer.tokenId === null) throw new MethodNotAllowed();
    return this.tokens.rotateToken(viewer.tokenId, params.expires_at, viewer);
  }

  @Endpoint('POST', '/personal_access_tokens/:id/rotate', {
    about: 'Rotates a token. Rotating a revoked token revokes its whole family.',
    source: 'reference identity-and-import 4.8',
    may: signedIn(),
    params: RotateToken,
    fails: [400, 401, 404],
    answers: one(newAccessToken),
  })
  async rotate({ viewer, params }: SignedInCall<RotateToken>): Promise<NewTokenRow> {
    const token = await this.requireManageableToken(viewer, params.id);
    return this.tokens.rotateToken(token.id, params.expires_at, viewer);
  }

  @Endpoint('DELETE', '/personal_access_tokens/self', {
    about: 'Revokes the token of this request.',
    source: SOURCE,
    may: signedIn(),
    tokenScopes: 'any',
    fails: [400],
    answers: noContent(),
  })
  async revokeSelf({ viewer }: SignedInCall): Promise<void> {
    if (viewer.tokenId === null) throw new Refused();
    await this.tokens.revokeToken(viewer.tokenId);
  }

  @Endpoint('DELETE', '/personal_access_tokens/:id', {
    about: 'Revokes a token.',
    source: SOURCE,
    may: signedIn(),
    params: IdentifyToken,
    fails: [401, 404],
    answers: noContent(),
  })
  async revoke({ viewer, params }: SignedInCall<IdentifyToken>): Promise<void> {
    await this.tokens.revokeToken((await this.requireManageableToken(viewer, params.id)).id);
  }

  @Endpoint('POST', '/users/:user_id/personal_access_tokens', {
    about: 'Creates a token for a user.',
    source: SOURCE,
    may: administrator(),
    params: CreateToken,
    answers: created(newAccessToken),
  })
  create({ viewer, params }: SignedInCall<CreateToken>): Promise<NewTokenRow> {
    return this.tokens.create({
      ...params,
      userId: params.user_id,
      expiresAt: params.expires_at,
      impersonation: false,
      // It is revoked together with the administrator who issued it, also if that one acts as another user.
      createdBy: viewer.impersonatorId ?? viewer.userId,
    });
  }

  /** Finds a token that the viewer may manage. Other tokens answer as if they did not exist. */
  private async requireManageableToken(viewer: SignedInViewer, tokenId: number): Promise<TokenRow> {
    const token = await this.queries.findToken(tokenId);
    if (viewer.isAdmin && !token) throw new NotFound('');
    if (!token || !(viewer.isAdmin || (token.user_id === viewer.userId && !token.impersonation)))
      throw new Unauthorized();
    return token;
  }
}

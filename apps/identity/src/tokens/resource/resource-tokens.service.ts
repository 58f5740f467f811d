import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { MethodNotAllowed, NotFound, Refused, Unauthorized } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { AccessTokensService } from '../access-tokens.service';
import { TokenTerms } from '../token-terms';
import type { NewResourceToken } from './bot-users';
import { BotUsers } from './bot-users';
import type { Resource } from './resource';
import { mayGrantTokenLevel } from './resource-token.policy';
import type { NewResourceTokenRow, ResourceTokenRow } from './resource-tokens.queries';
import { ResourceTokensQueries } from './resource-tokens.queries';

/** Error for callers who may not create a token. Source: reference identity-and-import 4.9; ADR 0003. */
export function createTokenCreationRefusal(type: Resource['type']): Refused {
  return new Refused(`User does not have permission to create ${type} access token`);
}
const ABOVE_MAKER = 'Access level of the token contains permissions not held by the creating user';
const ABOVE_ROTATOR = 'Not eligible to rotate token with access level higher than the user';

/** Creation and rotation of tokens of groups and projects. Source: reference identity-and-import 4.8, 4.9. */
@Injectable()
export class ResourceTokensService {
  constructor(
    private readonly work: Work,
    private readonly tokens: AccessTokensService,
    private readonly terms: TokenTerms,
    private readonly bots: BotUsers,
    private readonly queries: ResourceTokensQueries,
  ) {}

  /** Errors: Refused, also where the top-level group forbids tokens. */
  create(viewer: SignedInViewer, resource: Resource, token: NewResourceToken): Promise<NewResourceTokenRow> {
    if (!mayGrantTokenLevel(viewer, resource, token.access_level)) throw new Refused(ABOVE_MAKER);
    const expiresOn = this.terms.expiryOfNew(token.expires_at);
    return this.work.run(async (tx) => {
      await this.lockResourceForTokenCreation(tx, resource);
      const made = await this.bots.createBot(tx, viewer, resource, token, expiresOn);
      return this.readNewToken(resource, made, tx);
    });
  }

  /**
   * Errors: Unauthorized for the bot of another token, and for a missing token unless the viewer is an administrator;
   * NotFound; Refused.
   */
  async rotate(
    viewer: SignedInViewer,
    resource: Resource,
    tokenId: number,
    expiresAt: string | undefined,
  ): Promise<NewResourceTokenRow> {
    const token = await this.queries.findToken(resource, tokenId);
    if (!token) throw viewer.isAdmin ? new NotFound('') : new Unauthorized();
    const isOfAnotherUser = token.user_id !== viewer.userId;
    if (isOfAnotherUser && viewer.isBot && (await this.queries.isOfBot(viewer.tokenId))) throw new Unauthorized();
    if (isOfAnotherUser && !mayGrantTokenLevel(viewer, resource, token.member_level ?? token.access_level)) {
      throw new Refused(ABOVE_ROTATOR);
    }
    return this.readNewToken(resource, await this.tokens.rotateToken(token.id, expiresAt, viewer));
  }

  /**
   * Errors: MethodNotAllowed when the credential is not a bot's token; Unauthorized for the bot of another group or
   * project.
   */
  async rotateOwn(
    viewer: SignedInViewer,
    resource: Resource,
    expiresAt: string | undefined,
  ): Promise<NewResourceTokenRow> {
    if (!viewer.isBot || !(await this.queries.isOfBot(viewer.tokenId))) throw new MethodNotAllowed();
    const token = await this.queries.findToken(resource, viewer.tokenId);
    if (!token) throw new Unauthorized();
    return this.readNewToken(resource, await this.tokens.rotateToken(token.id, expiresAt, viewer));
  }

  /** Locks the group or project, so that it is not moved while a token is created for it. */
  private async lockResourceForTokenCreation(tx: Tx, resource: Resource): Promise<void> {
    const table = resource.type === 'group' ? 'namespaces' : 'projects';
    const found = await tx.query(`select id from ${table} where id = $1 for share`, [resource.id]);
    if (found.length === 0) throw new NotFound(resource.type === 'group' ? 'Group' : 'Project');
    const [root] = await tx.query<{ forbids: boolean }>(
      `select coalesce((settings ->> 'resource_access_token_creation_allowed')::boolean, true) = false as forbids
       from namespaces where id = $1`,
      [resource.rootId],
    );
    if (root?.forbids) throw createTokenCreationRefusal(resource.type);
  }

  private async readNewToken(
    resource: Resource,
    made: { readonly id: number; readonly token: string },
    tx?: Tx,
  ): Promise<NewResourceTokenRow> {
    const row: ResourceTokenRow | null = await this.queries.findToken(resource, made.id, tx);
    return { ...row!, token: made.token };
  }
}

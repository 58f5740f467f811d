import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { MembershipsService } from '../../members/memberships.service';
import { UsersService } from '../../users/users.service';
import type { NewTokenRow } from '../access-token.entity';
import { TokenRows } from '../token-rows';
import type { Resource } from './resource';

export interface NewResourceToken {
  readonly name: string;
  readonly description?: string;
  readonly scopes: readonly string[];
  readonly access_level: number;
  readonly expires_at?: string;
}

/**
 * Bots of group and project tokens: one per token and its rotated successors. Source: reference identity-and-import
 * 4.9.
 */
@Injectable()
export class BotUsers {
  private readonly host: string;

  constructor(
    private readonly users: UsersService,
    private readonly memberships: MembershipsService,
    private readonly tokens: TokenRows,
    @Inject(platformSettings.token) settings: SettingsOf<typeof platformSettings>,
  ) {
    this.host = new URL(settings.externalUrl).hostname;
  }

  /** Creates the bot with its membership and token. */
  async createBot(
    tx: Tx,
    maker: SignedInViewer,
    resource: Resource,
    token: NewResourceToken,
    expiresOn: string | null,
  ): Promise<NewTokenRow> {
    const { name, description, access_level: level } = token;
    const username = `${resource.type}_${resource.id}_bot_${randomBytes(16).toString('hex')}`;
    const bot = {
      username,
      name,
      email: `${username}@noreply.${this.host}`,
      external: maker.isExternal,
      can_create_group: false,
      projects_limit: 0,
    };
    const how = { digest: null, createdBy: maker.userId, kind: 'project_bot' as const, isConfirmed: true };
    const id = await this.users.insertUser(tx, bot, how);
    const member = { userId: id, source: { kind: resource.type, id: resource.id }, level, actorId: maker.userId };
    await this.memberships.grantMembership(tx, member, { isAnnounced: true });
    const held = { userId: id, name, description, scopes: [...new Set(token.scopes)], impersonation: false };
    const of = { type: resource.type, id: resource.id, accessLevel: level };
    return this.tokens.insertToken(tx, { ...held, createdBy: maker.userId, resource: of }, expiresOn, null);
  }
}

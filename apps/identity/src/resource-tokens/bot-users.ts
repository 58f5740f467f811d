import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { memberAdded } from '@rookery/contracts';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { ChangeLog } from '../directory/change-log';
import { UsersService } from '../users/users.service';
import type { Resource } from './resource';

/** The user behind the token of a group or project: one a token, and of its successors. Source: reference identity-and-import 4.9. */
@Injectable()
export class BotUsers {
  private readonly host: string;

  constructor(
    private readonly users: UsersService,
    private readonly log: ChangeLog,
    @Inject(platformSettings.token) settings: SettingsOf<typeof platformSettings>,
  ) {
    this.host = new URL(settings.externalUrl).hostname;
  }

  /** Makes the bot and its membership. Shape: its id. */
  async make(tx: Tx, maker: SignedInViewer, resource: Resource, name: string, level: number): Promise<number> {
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
    const id = await this.users.insert(tx, bot, how);
    await this.addMember(tx, maker, resource, { userId: id, level });
    return id;
  }

  private async addMember(
    tx: Tx,
    maker: SignedInViewer,
    resource: Resource,
    bot: { readonly userId: number; readonly level: number },
  ): Promise<void> {
    const [member] = (await tx.query(
      `insert into members (user_id, source_type, source_id, access_level, created_by_id)
       values ($1, $2, $3, $4, $5) returning id, created_at`,
      [bot.userId, resource.sourceType, resource.id, bot.level, maker.userId],
    )) as [{ id: number; created_at: Date }];
    this.log.record(tx, 'membership', member.id);
    const source = { source_type: resource.type, source_id: resource.id };
    const data = { user_id: bot.userId, ...source, access_level: bot.level, added_at: member.created_at.toISOString() };
    tx.emit(memberAdded.of({ aggregateId: member.id, actorId: maker.userId, data }));
  }
}

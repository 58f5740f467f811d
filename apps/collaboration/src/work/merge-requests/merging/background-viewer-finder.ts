import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';

interface ActorRow {
  readonly username: string;
  readonly admin: boolean;
  readonly external: boolean;
  readonly kind: string;
  readonly version: number;
  readonly epoch: string;
}
/** An active user, and the position of the directory copy. */
const actor = statement<{ id: number }, ActorRow>(
  'merge_requests_automatic_actor',
  `select u.username, u.admin, u.external, u.kind, s.version, s.epoch from directory_users u, directory_state s
   where u.id = :id::bigint and u.state = 'active'`,
);

/** Time that one merge may take. Units: milliseconds. */
const MERGE_MS = 60_000;

/** Users as callers of background work that they asked for. */
@Injectable()
export class BackgroundViewerFinder {
  constructor(private readonly database: Database) {}

  /** Returns the user as a caller without a token. Returns null for a user who may not act. */
  async findViewer(userId: number): Promise<SignedInViewer | null> {
    const [user] = await this.database.run(actor, { id: userId });
    if (!user) return null;
    return {
      userId,
      username: user.username,
      isAdmin: user.admin,
      isExternal: user.external,
      isBot: user.kind === 'project_bot' || user.kind === 'service_account',
      tokenId: null,
      scopes: ['api'],
      impersonatorId: null,
      isBySudo: false,
      creatorId: null,
      address: null,
      directory: { version: user.version, epoch: user.epoch },
      requestId: randomUUID(),
      deadline: Date.now() + MERGE_MS,
    };
  }
}

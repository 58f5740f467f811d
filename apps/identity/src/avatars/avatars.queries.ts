import { Injectable } from '@nestjs/common';
import { Database, prepareStatement } from '@rookery/persistence';
import { OWNER_COLUMNS } from './avatars.service';
import type { AvatarKind } from './avatars.service';

export interface StoredAvatar {
  readonly filename: string;
  readonly media_type: string;
  /** Hex SHA-256 of the content. */
  readonly digest: string;
  /** Null when the client already has this content. */
  readonly bytes: Buffer | null;
}

/** Reads of avatars. The caller checks permissions. */
@Injectable()
export class AvatarsQueries {
  constructor(private readonly db: Database) {}

  /** Returns the avatar of an owner, or null. `known` has the digests of contents that need not be read. */
  async findAvatar(kind: AvatarKind, id: number, known: ReadonlySet<string>): Promise<StoredAvatar | null> {
    const statement = prepareStatement(
      `avatar-of-${kind}`,
      `select filename, media_type, digest, case when digest = any($2) then null else bytes end as bytes
       from avatars where ${OWNER_COLUMNS[kind]} = $1`,
    );
    return (await this.db.prepared<StoredAvatar>(statement, [id, [...known]]))[0] ?? null;
  }
}

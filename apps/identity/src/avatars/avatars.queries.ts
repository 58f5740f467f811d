import { Injectable } from '@nestjs/common';
import { Database, prepared } from '@rookery/persistence';
import { OWNER_COLUMNS } from './avatars.service';
import type { AvatarKind } from './avatars.service';

export interface StoredAvatar {
  readonly filename: string;
  readonly media_type: string;
  /** Hex SHA-256 of the content. */
  readonly digest: string;
  readonly bytes: Buffer;
}

/** Reads of pictures; who may see them is the caller's to decide. */
@Injectable()
export class AvatarsQueries {
  constructor(private readonly db: Database) {}

  async of(kind: AvatarKind, id: number): Promise<StoredAvatar | null> {
    const statement = prepared(
      `avatar-of-${kind}`,
      `select filename, media_type, digest, bytes from avatars where ${OWNER_COLUMNS[kind]} = $1`,
    );
    return (await this.db.prepared<StoredAvatar>(statement, [id]))[0] ?? null;
  }
}

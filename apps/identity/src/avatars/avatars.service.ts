import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Invalid, NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';
import { mediaTypeOf, problemsOfPicture, safeNameOf } from './picture';
import type { Picture } from './picture';

export type AvatarKind = 'user' | 'group' | 'project' | 'topic';
/** A picture, its removal, or nothing sent. */
export type AvatarChange = Picture | null | undefined;

/** Column of the owner's id in `avatars`. */
export const OWNER_COLUMNS: Readonly<Record<AvatarKind, string>> = {
  user: 'user_id',
  group: 'namespace_id',
  project: 'project_id',
  topic: 'topic_id',
};
/** Where files are served. Source: decisions 7. */
const ROOMS: Readonly<Record<AvatarKind, string>> = {
  user: 'user',
  group: 'group',
  project: 'project',
  topic: 'topics/topic',
};

/** Storing and removing pictures. Source: reference identity-and-import 2.6; ADR 0100. */
@Injectable()
export class Avatars {
  constructor(
    private readonly log: ChangeLog,
    private readonly work: Work,
  ) {}

  /** What is wrong with it, in the words of field `avatar`; nothing for a removal and for nothing sent. */
  problemsOf(avatar: AvatarChange): string[] {
    return avatar ? problemsOfPicture(avatar) : [];
  }

  /**
   * Stores or removes the picture in the transaction of the change, before or after its owner's row is inserted.
   * Shape: gives the new `avatar_url` for the owner's row, below the root of the site; undefined = leave it. The
   * caller writes and records the row; the namespace of a user, which shows his picture too, is done here.
   * Errors: a plain Error for a picture that `problemsOf` would refuse.
   */
  async change(tx: Tx, kind: AvatarKind, id: number, avatar: AvatarChange): Promise<string | null | undefined> {
    if (avatar === undefined) return undefined;
    const url = avatar === null ? null : await this.store(tx, kind, id, avatar);
    if (avatar === null) await tx.query(`delete from avatars where ${OWNER_COLUMNS[kind]} = $1`, [id]);
    if (kind === 'user') await this.mirror(tx, id, url);
    return url;
  }

  /** Somebody changes his own picture; gives its new path. Errors: Invalid by field; NotFound. */
  async changeOwn(userId: number, avatar: Picture | null): Promise<string | null> {
    const problems = this.problemsOf(avatar);
    if (problems.length > 0) throw new Invalid({ avatar: problems });
    return this.work.run(async (tx) => {
      const [user] = await tx.query(`select id from users where id = $1 for no key update`, [userId]);
      if (!user) throw new NotFound('User');
      const url = (await this.change(tx, 'user', userId, avatar)) ?? null;
      await tx.query(`update users set avatar_url = $2, updated_at = now() where id = $1`, [userId, url]);
      this.log.record(tx, 'user', userId);
      return url;
    });
  }

  private async store(tx: Tx, kind: AvatarKind, id: number, picture: Picture): Promise<string> {
    const column = OWNER_COLUMNS[kind];
    const filename = safeNameOf(picture);
    const digest = createHash('sha256').update(picture.bytes).digest('hex');
    await tx.query(
      `insert into avatars (${column}, filename, media_type, digest, bytes) values ($1, $2, $3, $4, $5)
       on conflict (${column}) do update set filename = excluded.filename, media_type = excluded.media_type,
         digest = excluded.digest, bytes = excluded.bytes, created_at = excluded.created_at`,
      [id, filename, mediaTypeOf(picture), digest, picture.bytes],
    );
    return `/uploads/-/system/${ROOMS[kind]}/avatar/${id}/${filename}`;
  }

  /** A new user's namespace may not be there yet; whoever makes it writes the picture itself. */
  private async mirror(tx: Tx, userId: number, url: string | null): Promise<void> {
    const rows = await tx.query<{ id: number }>(
      `update namespaces set avatar_url = $2, updated_at = now() where owner_id = $1 returning id`,
      [userId, url],
    );
    for (const row of rows) this.log.record(tx, 'namespace', row.id);
  }
}

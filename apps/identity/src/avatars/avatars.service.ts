import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { mediaTypeOf, avatarPictureProblems, toSafeAvatarFilename } from './picture';
import type { Picture } from './picture';

export type AvatarKind = 'user' | 'group' | 'project' | 'topic';
/** A new avatar, null to remove it, or undefined when nothing was sent. */
export type AvatarChange = Picture | null | undefined;

/** Column of the owner's id in `avatars`. */
export const OWNER_COLUMNS: Readonly<Record<AvatarKind, string>> = {
  user: 'user_id',
  group: 'namespace_id',
  project: 'project_id',
  topic: 'topic_id',
};
/** Paths below which files are served. Source: reference identity-and-import 2.6. */
const FILE_FOLDERS: Readonly<Record<AvatarKind, string>> = {
  user: 'user',
  group: 'group',
  project: 'project',
  topic: 'topics/topic',
};

/** Storing and removing avatars. Source: reference identity-and-import 2.6; ADR 0100. */
@Injectable()
export class AvatarsService {
  /**
   * Returns problems as API error messages for the field `avatar`. A removal and an omitted avatar have no problems.
   */
  findProblems(avatar: AvatarChange): string[] {
    return avatar ? avatarPictureProblems(avatar) : [];
  }

  /**
   * Stores or removes the avatar in the transaction of the change, before or after its owner's row is inserted. Returns
   * the new `avatar_url` for the owner's row, relative to the root of the site, or undefined for no change. The caller
   * updates the row and records the change. Errors: a plain Error for a picture that `findProblems` would refuse.
   */
  async changeAvatar(tx: Tx, kind: AvatarKind, id: number, avatar: AvatarChange): Promise<string | null | undefined> {
    if (avatar === undefined) return undefined;
    const url = avatar === null ? null : await this.storePicture(tx, kind, id, avatar);
    if (avatar === null) await tx.query(`delete from avatars where ${OWNER_COLUMNS[kind]} = $1`, [id]);
    return url;
  }

  private async storePicture(tx: Tx, kind: AvatarKind, id: number, picture: Picture): Promise<string> {
    const column = OWNER_COLUMNS[kind];
    const filename = toSafeAvatarFilename(picture);
    const digest = createHash('sha256').update(picture.bytes).digest('hex');
    await tx.query(
      `insert into avatars (${column}, filename, media_type, digest, bytes) values ($1, $2, $3, $4, $5)
       on conflict (${column}) do update set filename = excluded.filename, media_type = excluded.media_type,
         digest = excluded.digest, bytes = excluded.bytes, created_at = excluded.created_at`,
      [id, filename, mediaTypeOf(picture), digest, picture.bytes],
    );
    return `/uploads/-/system/${FILE_FOLDERS[kind]}/avatar/${id}/${filename}`;
  }
}

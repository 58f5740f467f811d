import { Injectable } from '@nestjs/common';
import { Conflict, Forbidden, Invalid, NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import type { Picture } from '../../avatars/picture';
import { avatarPictureProblems } from '../../avatars/picture';
import { AddressesService } from '../addresses/addresses.service';
import { LastAdministratorCheck } from '../states/administrators';
import { UserChangeLog } from '../user-change-log';
import { UserRows } from '../user-rows';
import { hashPassword } from '../passwords';
import { columnsOfUser, EMAIL_TAKEN, problemsOfUser, USERNAME_TAKEN } from '../user-rules';
import type { NewUser } from '../user-rules';
import { User } from '../user.entity';
import type { UserRecord } from '../user.entity';
import { toUserConflictError } from '../users.service';

/** Fields of a user that an administrator may change. Omitted fields keep their values. */
export type UserChange = Omit<Partial<NewUser>, 'id'>;

/** Updates the fields of users. Source: reference identity-and-import 10.1. */
@Injectable()
export class UserChangesService {
  constructor(
    private readonly work: Work,
    private readonly administrators: LastAdministratorCheck,
    private readonly addresses: AddressesService,
    private readonly rows: UserRows,
    private readonly changes: UserChangeLog,
  ) {}

  /** Errors: NotFound; Invalid by field; Conflict for a taken address or name; Forbidden for the last administrator. */
  async update(id: number, change: UserChange): Promise<void> {
    const digest = change.password === undefined ? null : await hashPassword(change.password);
    try {
      await this.work.run((tx) => this.changeUser(tx, id, change, digest));
    } catch (error) {
      throw toUserConflictError(error);
    }
  }

  /** Changes a user's own avatar and returns its new path. Errors: Invalid by field; NotFound. */
  async changeOwnAvatar(userId: number, avatar: Picture | null): Promise<string | null> {
    const problems = avatar ? avatarPictureProblems(avatar) : [];
    if (problems.length > 0) throw new Invalid({ avatar: problems });
    return this.work.run(async (tx) => {
      const [user] = await tx.query(`select id from users where id = $1 for no key update`, [userId]);
      if (!user) throw new NotFound('User');
      return (await this.rows.changeAvatar(tx, userId, avatar)) ?? null;
    });
  }

  private async changeUser(tx: Tx, id: number, change: UserChange, passwordDigest: string | null): Promise<void> {
    const old = await this.lockUser(tx, id);
    // Unchanged values are not validated, because rules may have become stricter since they were stored.
    const { username, email, ...rest } = change;
    const renamed = username === undefined || username === old.username ? undefined : username;
    const moved = email === undefined || email === old.email ? undefined : email;
    if (moved !== undefined) await this.addresses.releaseUnconfirmed(tx, moved, id);
    await this.refuseTakenNameOrEmail(tx, id, renamed, moved);
    const problems = {
      ...problemsOfUser({ ...rest, ...(renamed ? { username: renamed } : {}), ...(moved ? { email: moved } : {}) }),
      ...(username === '' ? { username: ["can't be blank"] } : {}),
      ...(email === '' ? { email: ["can't be blank"] } : {}),
      // Owners of a group can use its bot's token, so they would become administrators.
      ...(change.admin && old.kind !== 'human' ? { admin: ['is for people only'] } : {}),
    };
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    if (change.admin === false && old.admin) await this.administrators.keepOne(tx, id);

    if (moved !== undefined) await this.addresses.makePrimary(tx, id, moved);
    await this.addresses.refuseForeign(tx, id, change);
    await this.writeUserChange(tx, old, change, passwordDigest);
    if (change.external !== undefined && change.external !== old.external)
      await this.rows.changeExternal(tx, id, change.external);
    await this.setProviderIdentity(tx, id, change);
    await this.changes.recordUsers(tx, id);
  }

  private async writeUserChange(
    tx: Tx,
    old: UserRecord,
    change: UserChange,
    passwordDigest: string | null,
  ): Promise<void> {
    const { profile, ...columns } = columnsOfUser(change);
    const [name, username] = [change.name ?? old.name, change.username ?? old.username];
    if (name !== old.name || username !== old.username) await this.rows.renameUser(tx, old.id, { name, username });
    await this.rows.changeAvatar(tx, old.id, change.avatar);
    await tx.manager.update(User, old.id, {
      ...columns,
      ...(passwordDigest === null ? {} : { passwordDigest }),
      profile: { ...old.profile, ...profile },
      updatedAt: new Date(),
    });
  }

  /** Sets the identity at a provider. A user has one per provider. */
  private async setProviderIdentity(tx: Tx, id: number, { extern_uid, provider }: UserChange): Promise<void> {
    if (!extern_uid || !provider) return;
    await tx.query(
      `insert into identities (user_id, provider, extern_uid) values ($1, $2, $3)
       on conflict on constraint uq_identities_user_id_provider do update set extern_uid = excluded.extern_uid`,
      [id, provider, extern_uid],
    );
  }

  private async refuseTakenNameOrEmail(tx: Tx, id: number, username?: string, email?: string): Promise<void> {
    const [taken] = await tx.query<{ email: boolean; username: boolean }>(
      `select exists (select 1 from emails where lower(email) = lower($3) and user_id <> $1) as email,
         exists (select 1 from sibling_paths s left join namespaces n on n.id = s.namespace_id
           where s.parent_id = 0 and s.path = lower($2) and n.owner_id is distinct from $1) as username`,
      [id, username ?? null, email ?? null],
    );
    if (taken!.email) throw new Conflict(EMAIL_TAKEN);
    if (taken!.username) throw new Conflict(USERNAME_TAKEN);
  }

  /** Locks the row of the user. Users whose removal is in progress are not found. */
  private async lockUser(tx: Tx, id: number): Promise<UserRecord> {
    const [user] = await tx.query<UserRecord>(
      `select u.* from users u where u.id = $1
         and not exists (select 1 from user_removals r where r.user_id = u.id) for no key update of u`,
      [id],
    );
    if (!user) throw new NotFound('User');
    if (user.kind === 'ghost') throw new Forbidden('An internal user cannot be changed by the API');
    return user;
  }
}

import { Injectable } from '@nestjs/common';
import { Conflict, Forbidden, Invalid, NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { Avatars } from '../avatars/avatars.service';
import { Administrators } from '../user-states/administrators';
import { HolderLog } from '../user-states/holder-log';
import { hashPassword } from '../users/passwords';
import { columnsOfUser, EMAIL_TAKEN, problemsOfUser, USERNAME_TAKEN } from '../users/user-rules';
import type { NewUser } from '../users/user-rules';
import { User } from '../users/user.entity';
import { nameClash } from '../users/users.service';
import { makePrimary, refuseForeign } from './own-addresses';
import { PersonalNamespace } from './personal-namespace';

/** What an administrator changes of a user; what is left out stays. */
export type UserChange = Omit<Partial<NewUser>, 'id'>;

/** Changing users. Source: reference identity-and-import 10.1; ADR 0137. */
@Injectable()
export class UserChanges {
  constructor(
    private readonly work: Work,
    private readonly administrators: Administrators,
    private readonly holders: HolderLog,
    private readonly avatars: Avatars,
    private readonly namespace: PersonalNamespace,
  ) {}

  /** Errors: NotFound; Invalid by field; Conflict for a taken address or name; Forbidden for the last administrator. */
  async update(id: number, change: UserChange): Promise<void> {
    const digest = change.password === undefined ? null : await hashPassword(change.password);
    try {
      await this.work.run((tx) => this.change(tx, id, change, digest));
    } catch (error) {
      throw nameClash(error);
    }
  }

  private async change(tx: Tx, id: number, change: UserChange, digest: string | null): Promise<void> {
    const old = await this.locked(tx, id);
    // What was fine when it was made stays, also where rules became stricter since.
    const { username, email, ...rest } = change;
    const renamed = username === undefined || username === old.username ? undefined : username;
    const moved = email === undefined || email === old.email ? undefined : email;
    await this.refuseTaken(tx, id, renamed, moved);
    const avatar = this.avatars.problemsOf(change.avatar);
    const problems = {
      ...problemsOfUser({ ...rest, ...(renamed ? { username: renamed } : {}), ...(moved ? { email: moved } : {}) }),
      ...(username === '' ? { username: ["can't be blank"] } : {}),
      ...(email === '' ? { email: ["can't be blank"] } : {}),
      ...(avatar.length > 0 ? { avatar } : {}),
    };
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    if (change.admin === false && old.admin) await this.administrators.keepOne(tx, id);

    if (moved !== undefined) await makePrimary(tx, id, moved);
    await refuseForeign(tx, id, change);
    await this.write(tx, old, change, digest);
    await this.identify(tx, id, change);
    await this.holders.record(tx, id);
  }

  private async write(tx: Tx, old: User, change: UserChange, digest: string | null): Promise<void> {
    const { profile, ...columns } = columnsOfUser(change);
    const [name, username] = [change.name ?? old.name, change.username ?? old.username];
    const isRenamed = name !== old.name || username !== old.username;
    if (isRenamed) await this.namespace.rename(tx, old.id, { name, path: username });
    const avatarUrl = await this.avatars.change(tx, 'user', old.id, change.avatar);
    await tx.manager.update(User, old.id, {
      ...columns,
      ...(avatarUrl === undefined ? {} : { avatar_url: avatarUrl }),
      ...(digest === null ? {} : { password_digest: digest }),
      name,
      username,
      profile: { ...old.profile, ...profile },
      updated_at: new Date(),
    });
  }

  /** Each provider knows him by one name. */
  private async identify(tx: Tx, id: number, { extern_uid, provider }: UserChange): Promise<void> {
    if (!extern_uid || !provider) return;
    await tx.query(
      `insert into identities (user_id, provider, extern_uid) values ($1, $2, $3)
       on conflict on constraint uq_identities_user_id_provider do update set extern_uid = excluded.extern_uid`,
      [id, provider, extern_uid],
    );
  }

  private async refuseTaken(tx: Tx, id: number, username?: string, email?: string): Promise<void> {
    const [taken] = await tx.query<{ email: boolean; username: boolean }>(
      `select exists (select 1 from emails where lower(email) = lower($3) and user_id <> $1) as email,
         exists (select 1 from sibling_paths s left join namespaces n on n.id = s.namespace_id
           where s.parent_id = 0 and s.path = lower($2) and n.owner_id is distinct from $1) as username`,
      [id, username ?? null, email ?? null],
    );
    if (taken!.email) throw new Conflict(EMAIL_TAKEN);
    if (taken!.username) throw new Conflict(USERNAME_TAKEN);
  }

  /** Whoever is being removed is not found any more. */
  private async locked(tx: Tx, id: number): Promise<User> {
    const [user] = await tx.query<User>(
      `select u.* from users u where u.id = $1
         and not exists (select 1 from user_removals r where r.user_id = u.id) for no key update of u`,
      [id],
    );
    if (!user) throw new NotFound('User');
    if (user.kind === 'ghost') throw new Forbidden('An internal user cannot be changed by the API');
    return user;
  }
}

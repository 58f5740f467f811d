import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { userCreated } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { Conflict, Invalid } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { violates, Work } from '@rookery/persistence';
import type { SettingsOf } from '@rookery/platform';
import { Avatars } from '../avatars/avatars.service';
import { ChangeLog } from '../directory/change-log';
import { Namespace } from '../group-settings/namespace.entity';
import { identitySettings } from '../identity.config';
import { TAKEN } from '../paths/path-rules';
import { SiblingPaths } from '../paths/sibling-paths.repository';
import { hashPassword } from './passwords';
import type { UserKind } from './user.entity';
import { User } from './user.entity';
import { columnsOfUser, EMAIL_TAKEN, NOT_OWN_ADDRESS, problemsOfUser, USERNAME_TAKEN } from './user-rules';
import type { NewUser } from './user-rules';

/** How a new user comes to be. Without a password nobody signs in as him. */
export interface Making {
  readonly digest: string | null;
  readonly createdBy: number | null;
  /** Left out: a person. */
  readonly kind?: UserKind;
  /** Whether the address is known to be his; left out: yes. */
  readonly isConfirmed?: boolean;
}

/** Making users. */
@Injectable()
export class UsersService {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly paths: SiblingPaths,
    private readonly avatars: Avatars,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  /** Errors: Invalid by field; Conflict for a taken address or name. */
  async create(viewer: Viewer, person: NewUser): Promise<number> {
    const avatar = this.avatars.problemsOf(person.avatar);
    const problems = {
      ...problemsOfUser(person),
      ...foreignAddresses(person),
      ...(avatar.length > 0 ? { avatar } : {}),
    };
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    const digest = await hashPassword(person.password ?? randomBytes(24).toString('base64url'));
    try {
      return await this.work.run((tx) => this.insert(tx, person, { digest, createdBy: viewer.userId }));
    } catch (error) {
      throw nameClash(error);
    }
  }

  /** Writes the user, his address and his personal namespace; used for bots and by the bootstrap command too. */
  async insert(tx: Tx, person: NewUser, how: Making): Promise<number> {
    const now = new Date();
    const confirmedAt = how.isConfirmed === false ? null : now;
    const { identifiers } = await tx.manager.insert(User, {
      ...(person.id === undefined ? {} : { id: person.id }),
      can_create_group: !(person.external ?? false),
      ...columnsOfUser(person),
      username: person.username,
      name: person.name,
      email: person.email,
      kind: how.kind ?? 'human',
      confirmed_at: confirmedAt,
      password_digest: how.digest,
      created_by_id: how.createdBy,
      created_at: now,
      updated_at: now,
    });
    const id = Number(identifiers[0]!['id']);
    await tx.query(`insert into emails (user_id, email, is_primary, confirmed_at) values ($1, $2, true, $3)`, [
      id,
      person.email,
      confirmedAt,
    ]);
    if (person.extern_uid && person.provider) {
      await tx.query(`insert into identities (user_id, provider, extern_uid) values ($1, $2, $3)`, [
        id,
        person.provider,
        person.extern_uid,
      ]);
    }
    await this.insertNamespace(tx, id, person);
    if (person.avatar) {
      const avatarUrl = await this.avatars.change(tx, 'user', id, person.avatar);
      await tx.query(`update users set avatar_url = $2 where id = $1`, [id, avatarUrl]);
    }
    this.announce(tx, id, person.username, now, how.createdBy);
    return id;
  }

  private announce(tx: Tx, id: number, username: string, at: Date, actorId: number | null): void {
    this.log.record(tx, 'user', id);
    const data = { user_id: id, username, created_at: at.toISOString() };
    tx.emit(userCreated.of({ aggregateId: id, actorId, data }));
  }

  private async insertNamespace(tx: Tx, ownerId: number, person: NewUser): Promise<void> {
    const [{ id }] = (await tx.query(`select nextval(pg_get_serial_sequence('namespaces', 'id')) as id`)) as [
      { id: number },
    ];
    await tx.manager.insert(Namespace, {
      id,
      kind: 'user',
      owner_id: ownerId,
      parent_id: null,
      traversal_ids: [id],
      name: person.name,
      path: person.username,
      full_name: person.name,
      full_path: person.username,
      visibility: 'public',
      plan: this.settings.defaultPlan,
    });
    if (!(await this.paths.take(tx, null, person.username, { namespaceId: id }))) throw new Conflict(USERNAME_TAKEN);
    await this.paths.endRedirect(tx, person.username);
    this.log.record(tx, 'namespace', id);
  }
}

/** A new user has the one address. */
function foreignAddresses(person: NewUser): Record<string, string[]> {
  const isForeign = (address?: string): boolean => address !== undefined && address !== '' && address !== person.email;
  return {
    ...(isForeign(person.public_email) ? { public_email: [NOT_OWN_ADDRESS] } : {}),
    ...(isForeign(person.commit_email) ? { commit_email: [NOT_OWN_ADDRESS] } : {}),
  };
}

/** What an index refused, in the words of the API; any other error as it is. Source: reference identity-and-import 10.1. */
export function nameClash(error: unknown): unknown {
  if (violates(error, 'uq_emails_email')) return new Conflict(EMAIL_TAKEN);
  if (violates(error, 'uq_users_username') || violates(error, 'uq_namespaces_full_path'))
    return new Conflict(USERNAME_TAKEN);
  if (violates(error, 'uq_identities_provider_extern_uid')) return new Invalid({ 'identities.extern_uid': [TAKEN] });
  return error;
}

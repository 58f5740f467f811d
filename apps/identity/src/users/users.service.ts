import { Injectable } from '@nestjs/common';
import { userCreated } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { Conflict, Invalid } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { violatesConstraint, Work } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';
import { TAKEN } from '../namespaces/paths/path-rules';
import { PersonalNamespacesService } from '../namespaces/personal-namespaces.service';
import { AddressesService } from './addresses/addresses.service';
import { isExternal } from './bot-external-flag';
import { INSERT_USER, toInsertUserValues } from './new-user';
import type { InsertedUser } from './new-user';
import { hashPassword } from './passwords';
import { UserRows } from './user-rows';
import type { UserKind } from './user.entity';
import { Identity } from './user.entity';
import { columnsOfUser, EMAIL_TAKEN, NOT_OWN_ADDRESS, problemsOfUser, USERNAME_TAKEN } from './user-rules';
import type { NewUser } from './user-rules';

/** Parameters for creating a user. Without a digest the user cannot sign in with a password. */
export interface UserOptions {
  readonly digest: string | null;
  readonly createdBy: number | null;
  /** Default: human. */
  readonly kind?: UserKind;
  /** Whether the address counts as confirmed. Default: true. */
  readonly isConfirmed?: boolean;
}

/** Creation of users. */
@Injectable()
export class UsersService {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly namespaces: PersonalNamespacesService,
    private readonly addresses: AddressesService,
    private readonly rows: UserRows,
  ) {}

  /** Errors: Invalid by field; Conflict for a taken address or name. */
  async create(viewer: Viewer, person: NewUser): Promise<number> {
    const problems = { ...problemsOfUser(person), ...foreignEmailAddressProblems(person) };
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    const digest = person.password === undefined ? null : await hashPassword(person.password);
    try {
      return await this.work.run(async (tx) => {
        await this.addresses.releaseUnconfirmed(tx, person.email, null);
        return this.insertUser(tx, person, { digest, createdBy: viewer.userId });
      });
    } catch (error) {
      throw toUserConflictError(error);
    }
  }

  /** Inserts the user with an address and a personal namespace. Also used for bots and by the bootstrap command. */
  async insertUser(tx: Tx, person: NewUser, options: UserOptions): Promise<number> {
    const now = new Date();
    const confirmedAt = options.isConfirmed === false ? null : now;
    const kind = options.kind ?? 'human';
    const isBot = kind === 'project_bot' || kind === 'service_account';
    const isLimited = isBot && (await isExternal(tx, options.createdBy));
    const user = {
      canCreateGroup: !(person.external ?? false),
      ...columnsOfUser(person),
      ...(isLimited ? { external: true } : {}),
      ...(person.id === undefined ? {} : { id: person.id }),
      ...{ username: person.username, name: person.name, email: person.email, kind, confirmedAt, createdAt: now },
      ...{ passwordDigest: options.digest, createdById: options.createdBy },
    };
    const [made] = await tx.prepared<InsertedUser>(INSERT_USER, toInsertUserValues(user, this.namespaces.defaultPlan));
    const { id, namespace_id: namespaceId } = made!;
    if (person.extern_uid && person.provider) {
      await tx.manager.insert(Identity, { userId: id, provider: person.provider, externUid: person.extern_uid });
    }
    if (namespaceId === null) throw new Conflict(USERNAME_TAKEN);
    this.log.recordChange(tx, 'namespace', namespaceId);
    if (person.avatar) await this.rows.changeAvatar(tx, id, person.avatar);
    this.recordNewUser(tx, id, person.username, now, options.createdBy);
    return id;
  }

  private recordNewUser(tx: Tx, id: number, username: string, at: Date, actorId: number | null): void {
    this.log.recordChange(tx, 'user', id);
    const data = { user_id: id, username, created_at: at.toISOString() };
    tx.emit(userCreated.of({ aggregateId: id, actorId, data }));
  }
}

/** A new user has only one address, so no other can be public or commit e-mail. */
function foreignEmailAddressProblems(person: NewUser): Record<string, string[]> {
  const isForeign = (address?: string): boolean => address !== undefined && address !== '' && address !== person.email;
  return {
    ...(isForeign(person.public_email) ? { public_email: [NOT_OWN_ADDRESS] } : {}),
    ...(isForeign(person.commit_email) ? { commit_email: [NOT_OWN_ADDRESS] } : {}),
  };
}

/**
 * Converts a unique violation to the API error. Other errors are returned unchanged. Source: reference
 * identity-and-import 10.1.
 */
export function toUserConflictError(error: unknown): unknown {
  if (violatesConstraint(error, 'uq_emails_email')) return new Conflict(EMAIL_TAKEN);
  if (violatesConstraint(error, 'uq_users_username') || violatesConstraint(error, 'uq_namespaces_full_path'))
    return new Conflict(USERNAME_TAKEN);
  if (violatesConstraint(error, 'uq_identities_provider_extern_uid'))
    return new Invalid({ 'identities.extern_uid': [TAKEN] });
  return error;
}

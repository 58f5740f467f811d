import { Injectable } from '@nestjs/common';
import { userCreated } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { Conflict, Invalid } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { violates, Work } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';
import { TAKEN } from '../namespaces/paths/path-rules';
import { PersonalNamespacesService } from '../namespaces/personal-namespaces.service';
import { AddressesService } from './addresses/addresses.service';
import { isExternal } from './bot-limits';
import { MAKE_USER, valuesOfUser } from './new-user';
import type { MadeUser } from './new-user';
import { hashPassword } from './passwords';
import { UserRows } from './user-rows';
import type { UserKind } from './user.entity';
import { Identity } from './user.entity';
import { columnsOfUser, EMAIL_TAKEN, NOT_OWN_ADDRESS, problemsOfUser, USERNAME_TAKEN } from './user-rules';
import type { NewUser } from './user-rules';

/** How a new user comes to be. Without a password nobody signs in with one. */
export interface Making {
  readonly digest: string | null;
  readonly createdBy: number | null;
  /** Left out: a person. */
  readonly kind?: UserKind;
  /** Whether the address is known to be theirs; left out: yes. */
  readonly isConfirmed?: boolean;
}

/** Making users. */
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
    const problems = { ...problemsOfUser(person), ...foreignAddresses(person) };
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    const digest = person.password === undefined ? null : await hashPassword(person.password);
    try {
      return await this.work.run(async (tx) => {
        await this.addresses.free(tx, person.email, null);
        return this.insert(tx, person, { digest, createdBy: viewer.userId });
      });
    } catch (error) {
      throw nameClash(error);
    }
  }

  /** Writes the user with an address and a personal namespace; for bots and the bootstrap command, too. */
  async insert(tx: Tx, person: NewUser, how: Making): Promise<number> {
    const now = new Date();
    const confirmedAt = how.isConfirmed === false ? null : now;
    const kind = how.kind ?? 'human';
    const isBot = kind === 'project_bot' || kind === 'service_account';
    const isLimited = isBot && (await isExternal(tx, how.createdBy));
    const user = {
      canCreateGroup: !(person.external ?? false),
      ...columnsOfUser(person),
      ...(isLimited ? { external: true } : {}),
      ...(person.id === undefined ? {} : { id: person.id }),
      ...{ username: person.username, name: person.name, email: person.email, kind, confirmedAt, createdAt: now },
      ...{ passwordDigest: how.digest, createdById: how.createdBy },
    };
    const [made] = await tx.prepared<MadeUser>(MAKE_USER, valuesOfUser(user, this.namespaces.plan));
    const { id, namespace_id: namespaceId } = made!;
    if (person.extern_uid && person.provider) {
      await tx.manager.insert(Identity, { userId: id, provider: person.provider, externUid: person.extern_uid });
    }
    if (namespaceId === null) throw new Conflict(USERNAME_TAKEN);
    this.log.record(tx, 'namespace', namespaceId);
    if (person.avatar) await this.rows.changeAvatar(tx, id, person.avatar);
    this.announce(tx, id, person.username, now, how.createdBy);
    return id;
  }

  private announce(tx: Tx, id: number, username: string, at: Date, actorId: number | null): void {
    this.log.record(tx, 'user', id);
    const data = { user_id: id, username, created_at: at.toISOString() };
    tx.emit(userCreated.of({ aggregateId: id, actorId, data }));
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

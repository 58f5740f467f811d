import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { userCreated } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { Conflict, Forbidden, Invalid, NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { violates, Work } from '@rookery/persistence';
import type { SettingsOf } from '@rookery/platform';
import { ChangeLog } from '../directory/change-log';
import { Namespace } from '../groups/namespace.entity';
import { identitySettings } from '../identity.config';
import { problemsByField, topLevelPathProblems } from '../paths/path-rules';
import { SiblingPaths } from '../paths/sibling-paths.repository';
import { hashPassword, MIN_PASSWORD_LENGTH } from './passwords';
import type { Profile, UserKind } from './user.entity';
import { PROFILE_TEXTS, User } from './user.entity';

/** How a new user comes to be. Without a password nobody signs in as him. */
export interface Making {
  readonly digest: string | null;
  readonly createdBy: number | null;
  /** Left out: a person. */
  readonly kind?: UserKind;
  /** Whether the address is known to be his; left out: yes. */
  readonly isConfirmed?: boolean;
}

/** What an administrator says of a new user. */
export interface NewUser {
  readonly id?: number;
  readonly email: string;
  readonly username: string;
  readonly name: string;
  readonly password?: string;
  readonly admin?: boolean;
  readonly external?: boolean;
  readonly private_profile?: boolean;
  readonly can_create_group?: boolean;
  readonly projects_limit?: number;
  readonly note?: string;
  readonly public_email?: string;
  readonly extern_uid?: string;
  readonly provider?: string;
}

// Deliberately loose: no list of top-level domains, numbers may end the host. Source: reference identity-and-import 10.1.
const EMAIL = /^[^@\s]+@[^@\s]+$/;
const EMAIL_TAKEN = 'Email has already been taken';
const USERNAME_TAKEN = 'Username has already been taken';

/** Making and blocking users. */
@Injectable()
export class UsersService {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly paths: SiblingPaths,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  async create(viewer: Viewer, person: NewUser): Promise<number> {
    const problems = problemsOf(person);
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    const digest = await hashPassword(person.password ?? randomBytes(24).toString('base64url'));
    try {
      return await this.work.run((tx) => this.insert(tx, person, { digest, createdBy: viewer.userId }));
    } catch (error) {
      if (violates(error, 'uq_emails_email')) throw new Conflict(EMAIL_TAKEN);
      const isTaken = violates(error, 'uq_users_username') || violates(error, 'uq_namespaces_full_path');
      if (isTaken) throw new Conflict(USERNAME_TAKEN);
      throw error;
    }
  }

  /** Writes the user, his address and his personal namespace; used for bots and by the bootstrap command too. */
  async insert(tx: Tx, person: NewUser, how: Making): Promise<number> {
    const now = new Date();
    const confirmedAt = how.isConfirmed === false ? null : now;
    const { identifiers } = await tx.manager.insert(User, {
      ...(person.id === undefined ? {} : { id: person.id }),
      ...columnsOf(person),
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
    this.log.record(tx, 'user', id);
    tx.emit(
      userCreated.of({
        aggregateId: id,
        actorId: how.createdBy,
        data: { user_id: id, username: person.username, created_at: now.toISOString() },
      }),
    );
    return id;
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

  /** True when the user is blocked now, null when he was before. Errors: NotFound; Forbidden for oneself and for bots. */
  async block(viewer: Viewer, id: number): Promise<true | null> {
    return this.work.run(async (tx) => {
      const [user] = await tx.query<Pick<User, 'state' | 'kind'>>(
        `select state, kind from users where id = $1 for update`,
        [id],
      );
      if (!user) throw new NotFound('User');
      if (user.state === 'blocked') return null;
      if (viewer.userId === id) throw new Forbidden('The API initiating user cannot be blocked by the API');
      if (user.kind === 'ghost' || user.kind === 'placeholder')
        throw new Forbidden('An internal user cannot be blocked');
      await tx.query(`update users set state = 'blocked', updated_at = now() where id = $1`, [id]);
      this.log.record(tx, 'user', id);
      // Gateways drop what they remember of his tokens.
      const tokens = await tx.query<{ id: number }>(`select id from access_tokens where user_id = $1 and not revoked`, [
        id,
      ]);
      for (const token of tokens) this.log.recordToken(tx, token.id);
      return true;
    });
  }
}

function problemsOf(person: NewUser): Record<string, string[]> {
  const isEmail = EMAIL.test(person.email);
  const password = person.password;
  const isShort = password !== undefined && password.length < MIN_PASSWORD_LENGTH;
  const isForeign =
    person.public_email !== undefined && person.public_email !== '' && person.public_email !== person.email;
  return problemsByField({
    email: person.email.trim() === '' ? ["can't be blank"] : isEmail ? [] : ['is invalid'],
    name:
      person.name.trim() === ''
        ? ["can't be blank"]
        : person.name.length > 255
          ? ['is too long (maximum is 255 characters)']
          : [],
    username: topLevelPathProblems(person.username),
    password: isShort ? [`is too short (minimum is ${MIN_PASSWORD_LENGTH} characters)`] : [],
    public_email: isForeign ? ['is not an email you own'] : [],
  });
}

function columnsOf(person: NewUser): Partial<User> {
  const sent = person as NewUser & Record<keyof Profile, string | number | boolean | undefined>;
  const fields = [...PROFILE_TEXTS, 'theme_id', 'color_scheme_id', 'view_diffs_file_by_file'] as const;
  const profile = Object.fromEntries(
    fields.filter((name) => sent[name] !== undefined).map((name) => [name, sent[name]]),
  );
  return {
    username: person.username,
    name: person.name,
    email: person.email,
    admin: person.admin ?? false,
    external: person.external ?? false,
    private_profile: person.private_profile ?? false,
    can_create_group: person.can_create_group ?? !(person.external ?? false),
    ...(person.projects_limit === undefined ? {} : { projects_limit: person.projects_limit }),
    note: person.note ?? null,
    public_email: person.public_email || null,
    profile: profile as Profile,
  };
}

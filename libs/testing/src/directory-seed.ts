import { randomUUID } from 'node:crypto';
import type {
  DirectoryMembership,
  DirectoryNamespace,
  DirectoryProject,
  DirectoryShare,
  DirectoryUser,
} from '@rookery/contracts';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { Role, Viewer } from '@rookery/kernel';
import { Pool } from 'pg';

/** The epoch of a seeded directory copy; contexts of tests use it. */
export const SEED_EPOCH = 'seed';
const INSTANT = '2026-01-05T09:00:00.000Z';
/** Disjoint ranges, so that a confused id finds nothing. */
const FIRST_IDS = { users: 101, namespaces: 1001, projects: 5001, memberships: 20_001, shares: 30_001 };
type SeededTable = keyof typeof FIRST_IDS;

export interface SeededUser extends DirectoryUser {
  /** Id of the user's own namespace. */
  readonly namespace_id: number;
}
/** A group or project: it has members, and groups can be invited to it. */
type MemberSource = DirectoryNamespace | DirectoryProject;

/**
 * Writes a service's directory copy for tests, in place of identity. Each call is one version; the copy always counts
 * as current. Purpose: api-specs of services need users and projects, and no identity service. Methods take ids or
 * fields of the contract that differ from the defaults. They return the whole state.
 */
export class DirectorySeed {
  private version = 0;

  private constructor(
    private readonly pool: Pool,
    private readonly nextIds: Record<SeededTable, number>,
  ) {}

  static async open(databaseUrl: string): Promise<DirectorySeed> {
    const pool = new Pool({ connectionString: databaseUrl, max: 2 });
    pool.on('error', () => undefined);
    const nextIds = { ...FIRST_IDS };
    for (const table of Object.keys(FIRST_IDS) as SeededTable[]) {
      const { rows } = await pool.query<{ last: string }>(
        `select coalesce(max(id), 0) as last from directory_${table}`,
      );
      nextIds[table] = Math.max(nextIds[table], Number(rows[0]?.last) + 1);
    }
    const seed = new DirectorySeed(pool, nextIds);
    await seed.raiseVersion();
    return seed;
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  /** Adds a user with a namespace of the same name. */
  async user(over: Partial<DirectoryUser> = {}): Promise<SeededUser> {
    const id = over.id ?? this.nextId('users');
    const username = over.username ?? `user${id}`;
    const user: DirectoryUser = {
      id,
      username,
      name: over.name ?? `Name of ${username}`,
      state: 'active',
      kind: 'human',
      admin: false,
      external: false,
      private_profile: false,
      avatar_url: null,
      public_email: null,
      notification_email: `${username}@mail.example`,
      bot_group_id: null,
      bot_project_id: null,
      created_at: INSTANT,
      ...over,
    };
    await this.put('users', user);
    const own = await this.insertNamespace({
      kind: 'user',
      owner_id: id,
      path: username,
      name: user.name,
      visibility: 'public',
    });
    return { ...user, namespace_id: own.id };
  }

  /** Adds a group, which is public by default. With `parent` it is a subgroup. */
  group(
    over: Partial<DirectoryNamespace> & { readonly parent?: DirectoryNamespace } = {},
  ): Promise<DirectoryNamespace> {
    return this.insertNamespace({ kind: 'group', ...over });
  }

  /** Adds a project, which is public by default. Without `namespace_id` it is in a new group. */
  async project(over: Partial<DirectoryProject> = {}): Promise<DirectoryProject> {
    const id = over.id ?? this.nextId('projects');
    const path = over.path ?? `project${id}`;
    const project: DirectoryProject = {
      id,
      namespace_id: over.namespace_id ?? (await this.group()).id,
      creator_id: null,
      name: over.name ?? path,
      path,
      description: null,
      visibility: 'public',
      archived: false,
      issues_access_level: 'enabled',
      snippets_access_level: 'enabled',
      merge_requests_access_level: 'enabled',
      repository_access_level: null,
      feature_flags_access_level: null,
      merge_settings: null,
      fork: null,
      job_admission: null,
      initialize_with_readme: false,
      packages_enabled: true,
      emails_enabled: true,
      default_branch: 'main',
      avatar_url: null,
      created_at: INSTANT,
      ...over,
    };
    await this.put('projects', project);
    return project;
  }

  /** Adds a direct membership. `expires_on` has the form `YYYY-MM-DD`. */
  async member(
    user: { readonly id: number },
    source: MemberSource,
    level: Role | number,
    expires_on: string | null = null,
  ): Promise<DirectoryMembership> {
    const member = {
      id: this.nextId('memberships'),
      user_id: user.id,
      ...sourceColumnsOf(source),
      access_level: accessLevelOf(level),
      expires_on,
    };
    await this.put('memberships', member);
    return member;
  }

  /** Invites a group to a group or project, with at most this level. */
  async share(
    source: MemberSource,
    group: DirectoryNamespace,
    level: Role | number,
    expires_on: string | null = null,
  ): Promise<DirectoryShare> {
    const share = {
      id: this.nextId('shares'),
      ...sourceColumnsOf(source),
      group_id: group.id,
      access_level: accessLevelOf(level),
      expires_on,
    };
    await this.put('shares', share);
    return share;
  }

  /** Stores a new state of an existing row: `put('users', { ...alice, state: 'blocked' })`. */
  async put(table: SeededTable, state: object): Promise<void> {
    const fields = Object.entries(state).filter(([name]) => !(table === 'users' && name === 'namespace_id'));
    const names = fields.map(([name]) => name).join(', ');
    const values = fields.map(([, value]) => value as unknown);
    await this.pool.query(
      `insert into directory_${table} (${names}) values (${fields.map((_, i) => `$${i + 1}`).join(', ')})
       on conflict (id) do update set ${fields.map(([name]) => `${name} = excluded.${name}`).join(', ')}`,
      values,
    );
    await this.raiseVersion();
  }

  async remove(table: SeededTable, id: number): Promise<void> {
    await this.pool.query(`delete from directory_${table} where id = $1`, [id]);
    await this.raiseVersion();
  }

  /** The user as the viewer of a request, at the version of the seed, with the scope `api`. */
  viewer(user: DirectoryUser, over: Partial<Viewer> = {}): Viewer {
    return {
      ...this.anonymous(),
      userId: user.id,
      username: user.username,
      isAdmin: user.admin,
      isExternal: user.external,
      isBot: user.kind === 'project_bot' || user.kind === 'service_account',
      tokenId: user.id,
      scopes: ['api'],
      ...over,
    };
  }

  anonymous(): Viewer {
    return {
      userId: null,
      username: null,
      isAdmin: false,
      isExternal: false,
      isBot: false,
      tokenId: null,
      scopes: [],
      impersonatorId: null,
      isBySudo: false,
      creatorId: null,
      address: null,
      directory: { version: this.version, epoch: SEED_EPOCH },
      requestId: randomUUID(),
      deadline: Date.now() + 30_000,
    };
  }

  private async insertNamespace(
    overrides: Partial<DirectoryNamespace> & { readonly parent?: DirectoryNamespace },
  ): Promise<DirectoryNamespace> {
    const { parent, ...fields } = overrides;
    const id = overrides.id ?? this.nextId('namespaces');
    const path = overrides.path ?? `group${id}`;
    const name = overrides.name ?? path;
    const namespace: DirectoryNamespace = {
      id,
      kind: 'group',
      owner_id: null,
      parent_id: parent?.id ?? null,
      traversal_ids: [...(parent?.traversal_ids ?? []), id],
      name,
      path,
      full_name: parent ? `${parent.full_name} / ${name}` : name,
      full_path: parent ? `${parent.full_path}/${path}` : path,
      visibility: 'public',
      avatar_url: null,
      emails_enabled: true,
      mentions_disabled: null,
      plan: 'ultimate',
      archived: false,
      default_branch_protection: null,
      created_at: INSTANT,
      ...fields,
    };
    await this.put('namespaces', namespace);
    return namespace;
  }

  private nextId(table: SeededTable): number {
    return this.nextIds[table]++;
  }

  private async raiseVersion(): Promise<void> {
    const { rows } = await this.pool.query<{ version: string }>(
      `update directory_state set version = version + 1, epoch = $1, refreshed_at = 'infinity' returning version`,
      [SEED_EPOCH],
    );
    // Of two concurrent updates, the answer to the earlier one may arrive later.
    this.version = Math.max(this.version, Number(rows[0]?.version));
  }
}

function sourceColumnsOf(source: MemberSource): { source_type: 'namespace' | 'project'; source_id: number } {
  return { source_type: 'traversal_ids' in source ? 'namespace' : 'project', source_id: source.id };
}

function accessLevelOf(level: Role | number): number {
  return typeof level === 'number' ? level : ACCESS_LEVELS[level];
}

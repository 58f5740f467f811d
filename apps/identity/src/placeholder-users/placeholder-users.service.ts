import { Injectable } from '@nestjs/common';
import type { ImportedOwner, ImportPeopleRequest, ImportType, UpstreamPerson } from '@rookery/contracts';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { GhostUser } from '../users/ghost-user';
import { UsersService } from '../users/users.service';
import { PlaceholderUser } from './placeholder-user.entity';

/** Key of the advisory lock that prevents two placeholders of one person; no other lock uses this number. */
const LOCK = 7_316_420_011;
/** Maximum number of placeholders of one host in a top-level group. */
const MAX_PLACEHOLDERS = 10_000;
/** Name of deleted users upstream. */
const GHOST = 'ghost';
const IMPORT_USER = { prefix: 'import_user', name: 'Import User' };
/** Units: characters. */
const MAX_PREFIX = 100;

/** Namespace and host of the placeholders of an import. `groupId` is null for a personal namespace. */
interface PlaceholderScope {
  readonly groupId: number | null;
  readonly source: ImportType;
  readonly host: string;
}

/**
 * Accounts that own what users of other hosts wrote. They cannot sign in, and are never accounts of local people, because
 * names and addresses of another host prove nothing. Source: reference identity-and-import 6.7.
 */
@Injectable()
export class PlaceholderUsersService {
  constructor(
    private readonly work: Work,
    private readonly users: UsersService,
    private readonly ghost: GhostUser,
  ) {}

  /**
   * Returns the user who owns the imported content of each person, and creates missing placeholder users. Returns null
   * for an unknown import.
   */
  findOrCreateOwners({ import_key: key, host, people }: ImportPeopleRequest): Promise<readonly ImportedOwner[] | null> {
    return this.work.run(async (tx) => {
      const place = await findPlaceholderScope(tx, key, host);
      if (!place) return null;
      await tx.query(`select pg_advisory_xact_lock($1)`, [LOCK]);
      const known = await findPlaceholderIdsByUpstreamId(tx, place, people);
      const owners: ImportedOwner[] = [];
      for (const person of people) owners.push(await this.findOrCreateOwner(tx, place, person, known));
      return owners;
    });
  }

  private async findOrCreateOwner(
    tx: Tx,
    place: PlaceholderScope,
    { id, username }: UpstreamPerson,
    known: Map<number, number>,
  ): Promise<ImportedOwner> {
    if (id === null || username.toLowerCase() === GHOST)
      return { user_id: await this.ghost.ensureId(tx), is_shared: false };
    const found = known.get(id);
    if (found !== undefined) return { user_id: found, is_shared: false };
    if (place.groupId === null || (await hasMaxPlaceholders(tx, place)))
      return { user_id: await this.ensureImportUserId(tx), is_shared: true };
    const names = { prefix: `${toUsernamePrefix(username)}_placeholder_user_`, name: `Placeholder ${username}` };
    const userId = await this.insertPlaceholder(tx, names);
    const { groupId: namespaceId, source, host } = place;
    await tx.manager.insert(PlaceholderUser, { userId, namespaceId, source, host, upstreamId: id });
    known.set(id, userId);
    return { user_id: userId, is_shared: false };
  }

  /** Returns the id of the import user; creates the user if it does not exist. */
  private async ensureImportUserId(tx: Tx): Promise<number> {
    const [found] = await tx.query<{ user_id: number }>(
      `select user_id from placeholder_users where namespace_id is null`,
    );
    if (found) return found.user_id;
    const userId = await this.insertPlaceholder(tx, IMPORT_USER);
    await tx.manager.insert(PlaceholderUser, { userId, namespaceId: null, source: null, host: null, upstreamId: null });
    return userId;
  }

  private async insertPlaceholder(
    tx: Tx,
    { prefix, name }: { readonly prefix: string; readonly name: string },
  ): Promise<number> {
    const username = await findFreeUsername(tx, prefix);
    const person = {
      ...{ username, name, email: `${username}@placeholder.invalid` },
      ...{ projects_limit: 0, can_create_group: false },
    };
    return this.users.insertUser(tx, person, {
      digest: null,
      createdBy: null,
      kind: 'placeholder',
      isConfirmed: false,
    });
  }
}

async function findPlaceholderScope(tx: Tx, importKey: string, host: string): Promise<PlaceholderScope | null> {
  const [row] = await tx.query<{ id: number; kind: 'group' | 'user'; source: ImportType }>(
    `select r.id, r.kind, p.import_type as source from projects p join namespaces n on n.id = p.namespace_id
       join namespaces r on r.id = n.traversal_ids[1] where p.import_key = $1 for key share of r`,
    [importKey],
  );
  return row ? { groupId: row.kind === 'group' ? row.id : null, source: row.source, host } : null;
}

async function findPlaceholderIdsByUpstreamId(
  tx: Tx,
  place: PlaceholderScope,
  people: readonly UpstreamPerson[],
): Promise<Map<number, number>> {
  const rows = await tx.query<{ upstream_id: number; user_id: number }>(
    `select upstream_id, user_id from placeholder_users
     where namespace_id = $1 and source = $2 and host = $3 and upstream_id = any($4::bigint[])`,
    [place.groupId, place.source, place.host, people.flatMap(({ id }) => id ?? [])],
  );
  return new Map(rows.map((row) => [row.upstream_id, row.user_id]));
}

async function hasMaxPlaceholders(tx: Tx, { groupId, source, host }: PlaceholderScope): Promise<boolean> {
  const [row] = await tx.query<{ count: number }>(
    `select count(*)::int as count from placeholder_users where namespace_id = $1 and source = $2 and host = $3`,
    [groupId, source, host],
  );
  return row!.count >= MAX_PLACEHOLDERS;
}

/** Returns the characters of a name that usernames may have. */
function toUsernamePrefix(username: string): string {
  const kept = username.replace(/[^a-zA-Z0-9_-]/g, '').replace(/^[-_]+/, '');
  return kept.slice(0, MAX_PREFIX) || 'user';
}

/** Returns the prefix with the first number that is free; the import user is the first without a number. */
async function findFreeUsername(tx: Tx, prefix: string): Promise<string> {
  const first = prefix === IMPORT_USER.prefix ? 0 : 1;
  const [row] = await tx.query<{ name: string }>(
    `select w.name from (select $1::text || case when n = 0 then '' else n::text end as name, n
       from generate_series($2::int, $2::int + (select count(*)::int from sibling_paths
         where parent_id = 0 and starts_with(path, lower($1::text)))) n) w
     where not exists (select 1 from sibling_paths s where s.parent_id = 0 and s.path = lower(w.name))
       and not exists (select 1 from emails e where lower(e.email) = lower(w.name) || '@placeholder.invalid')
     order by w.n limit 1`,
    [prefix, first],
  );
  return row!.name;
}

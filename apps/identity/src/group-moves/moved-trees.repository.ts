import { Injectable } from '@nestjs/common';
import { memberAdded } from '@rookery/contracts';
import type { Visibility } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import type { GroupSettings } from '../group-settings/group-settings';
import { NamespaceTrees } from '../paths/namespace-trees.repository';
import type { Place } from '../paths/namespace-trees.repository';
import { SiblingPaths } from '../paths/sibling-paths.repository';

const rank = (visibility: string): string =>
  `case ${visibility} when 'public' then 20 when 'internal' then 10 else 0 end`;

const ROOT_SETTINGS: readonly (keyof GroupSettings)[] = [
  'prevent_sharing_groups_outside_hierarchy',
  'resource_access_token_creation_allowed',
  'ip_restriction_ranges',
];

/** What a move changes in the rows of a tree of groups, besides their place. Source: reference identity-and-import 2.6. */
@Injectable()
export class MovedTrees {
  constructor(
    private readonly trees: NamespaceTrees,
    private readonly paths: SiblingPaths,
  ) {}

  /** Does somebody else sit at the group's path below that parent? */
  async isTaken(
    tx: Tx,
    parentId: number | null,
    group: { readonly id: number; readonly path: string },
  ): Promise<boolean> {
    const rows = await tx.query(
      `select 1 from sibling_paths where parent_id = $1 and path = lower($2) and namespace_id is distinct from $3`,
      [parentId ?? 0, group.path, group.id],
    );
    return rows.length > 0;
  }

  /** The former full paths of everything below keep leading to it. */
  async move(tx: Tx, group: Place & { readonly id: number }, to: Place): Promise<void> {
    await this.paths.redirectTree(tx, group.id);
    await this.paths.take(tx, to.parent_id, to.path, { namespaceId: group.id });
    await this.trees.place(tx, group.id, group, to);
    await this.paths.endRedirect(tx, to.full_path);
  }

  /** Nothing in the tree is seen by more people than its new parent. Shape: gives the projects that were lowered. */
  async lower(tx: Tx, tree: readonly number[], visibility: Visibility): Promise<number[]> {
    await tx.query(
      `update namespaces set visibility = $2, updated_at = now()
       where id = any($1) and ${rank('visibility')} > ${rank('$2::text')}`,
      [tree, visibility],
    );
    const rows = await tx.query<{ id: number }>(
      `with above as (
         select id from projects where namespace_id = any($1) and ${rank('visibility')} > ${rank('$2::text')}
         order by id for no key update)
       update projects set visibility = $2, updated_at = now() where id in (select id from above) returning id`,
      [tree, visibility],
    );
    return rows.map((row) => row.id);
  }

  /** A tree has the plan of its root. */
  async setPlan(tx: Tx, id: number, plan: string): Promise<void> {
    await tx.query(`update namespaces set plan = $2 where traversal_ids @> array[$1::bigint] and plan <> $2`, [
      id,
      plan,
    ]);
  }

  /** What only top-level groups decide ends with being one. */
  async dropRootSettings(tx: Tx, id: number): Promise<void> {
    await tx.query(`update namespaces set settings = settings - $2::text[] where id = $1`, [id, ROOT_SETTINGS]);
  }

  /** Bots go with their tokens, so they do not keep a group. */
  async hasOwnOwner(tx: Tx, id: number): Promise<boolean> {
    const rows = await tx.query(
      `select 1 from members m join users u on u.id = m.user_id and u.state = 'active' and u.kind <> 'project_bot'
       where m.source_type = 'namespace' and m.source_id = $1 and m.access_level = $2
         and (m.expires_on is null or m.expires_on > (statement_timestamp() at time zone 'UTC')::date) limit 1`,
      [id, ACCESS_LEVELS.owner],
    );
    return rows.length > 0;
  }

  /** Shape: gives the membership, new or raised. */
  async makeOwner(tx: Tx, id: number, userId: number): Promise<number> {
    const [member] = (await tx.query(
      `insert into members (user_id, source_type, source_id, access_level, created_by_id)
       values ($1, 'namespace', $2, $3, $1)
       on conflict (source_type, source_id, user_id) do update
         set access_level = excluded.access_level, expires_on = null, updated_at = now()
       returning id, created_at, xmax = 0 as is_new`,
      [userId, id, ACCESS_LEVELS.owner],
    )) as [{ id: number; created_at: Date; is_new: boolean }];
    if (member.is_new) {
      const added_at = member.created_at.toISOString();
      const data = { user_id: userId, source_type: 'group' as const, source_id: id, access_level: 50, added_at };
      tx.emit(memberAdded.of({ aggregateId: member.id, actorId: userId, data }));
    }
    return member.id;
  }
}

import { Injectable } from '@nestjs/common';
import type { Visibility } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { MembershipsService } from '../../members/memberships.service';
import { NamespaceTreesService } from '../../namespaces/paths/namespace-trees.service';
import { ProjectsService } from '../../projects/projects.service';

/** Updates paths, change log and memberships of all groups and projects below a moved one. Source: reference identity-and-import 2.6. */
@Injectable()
export class MovedTreesService {
  constructor(
    private readonly trees: NamespaceTreesService,
    private readonly projects: ProjectsService,
    private readonly memberships: MembershipsService,
  ) {}

  /** Whether another group or project has the group's path below that parent. */
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

  /** Lowers visibilities in the tree to at most that of the new parent. The caller records the groups. */
  async lowerVisibility(tx: Tx, tree: readonly number[], visibility: Visibility): Promise<void> {
    await this.trees.lowerVisibility(tx, tree, visibility);
    await this.projects.lowerVisibility(tx, tree, visibility);
  }

  /** Ensures that the group has an owner who is not a bot: bots are removed with their tokens. */
  async ensureOwner(tx: Tx, id: number, userId: number): Promise<void> {
    const owners = await tx.query(
      `select 1 from members m join users u on u.id = m.user_id and u.state = 'active' and u.kind <> 'project_bot'
       where m.source_type = 'namespace' and m.source_id = $1 and m.access_level = $2
         and (m.expires_on is null or m.expires_on > (statement_timestamp() at time zone 'UTC')::date) limit 1`,
      [id, ACCESS_LEVELS.owner],
    );
    if (owners.length > 0) return;
    const owner = { userId, source: { kind: 'group', id }, level: ACCESS_LEVELS.owner, actorId: userId } as const;
    await this.memberships.grantMembership(tx, owner, { isAnnounced: true });
  }
}

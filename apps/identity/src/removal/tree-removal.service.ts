import { Injectable } from '@nestjs/common';
import { groupDeleted, projectDeleted } from '@rookery/contracts';
import type { Tx } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';
import { NamespacesService } from '../namespaces/namespaces.service';
import { TOP_DOWN } from '../namespaces/paths/namespace-trees.service';
import { ProjectsService } from '../projects/projects.service';
import { RemovedGroupAndProjectCleanup } from './removed-group-and-project-cleanup';

/** Removes rows that belong to groups, before the groups are removed. */
type GroupRemovalHook = (tx: Tx, groupIds: readonly number[], actorId: number | null) => Promise<void>;

/** Removes groups with their subgroups and projects, and single projects. Source: reference identity-and-import 2.6, 10.2. */
@Injectable()
export class TreeRemovalService {
  private readonly hooks: GroupRemovalHook[] = [];

  constructor(
    private readonly log: ChangeLog,
    private readonly groups: NamespacesService,
    private readonly projects: ProjectsService,
    private readonly sources: RemovedGroupAndProjectCleanup,
  ) {}

  /**
   * Registers a hook that runs when a tree of groups is removed, after its projects, members and shares and before the
   * groups. Classes that depend on this one register here: service accounts are removed with their group, and groups
   * with their owner.
   */
  onGroupRemoval(hook: GroupRemovalHook): void {
    this.hooks.push(hook);
  }

  async remove(tx: Tx, kind: 'group' | 'project', id: number, actorId: number | null): Promise<void> {
    return kind === 'group' ? this.removeGroup(tx, id, actorId) : this.removeProject(tx, id, actorId);
  }

  private async removeGroup(tx: Tx, id: number, actorId: number | null): Promise<void> {
    await this.log.recordWithBelongings(tx, 'namespace', id);
    const tree = await tx.query<{ id: number }>(
      `select id from namespaces where traversal_ids @> array[$1::bigint] order by ${TOP_DOWN} for update`,
      [id],
    );
    const namespaceIds = tree.map((row) => row.id);
    const projectIds = await this.projects.removeInNamespaces(tx, namespaceIds);
    await this.sources.remove(tx, { namespaceIds, projectIds });
    for (const hook of this.hooks) await hook(tx, namespaceIds, actorId);
    await this.groups.remove(tx, namespaceIds);
    await this.sources.blockBots(tx, { namespaceIds, projectIds });
    for (const project_id of projectIds) this.announceProjectDeletion(tx, project_id, actorId);
    for (const group_id of namespaceIds) {
      this.log.emit(tx, groupDeleted.of({ aggregateId: group_id, actorId, data: { group_id } }));
    }
  }

  private async removeProject(tx: Tx, id: number, actorId: number | null): Promise<void> {
    await this.log.recordWithBelongings(tx, 'project', id);
    const removed = { namespaceIds: [], projectIds: [id] };
    await this.sources.remove(tx, removed);
    await this.projects.remove(tx, id);
    await this.sources.blockBots(tx, removed);
    this.announceProjectDeletion(tx, id, actorId);
  }

  private announceProjectDeletion(tx: Tx, project_id: number, actorId: number | null): void {
    this.log.emit(tx, projectDeleted.of({ aggregateId: project_id, actorId, data: { project_id } }));
  }
}

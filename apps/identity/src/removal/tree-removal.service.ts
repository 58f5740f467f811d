import { Injectable } from '@nestjs/common';
import { groupDeleted, projectDeleted } from '@rookery/contracts';
import type { Tx } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';
import { NamespacesService } from '../namespaces/namespaces.service';
import { TOP_DOWN } from '../namespaces/paths/namespace-trees.service';
import { ProjectsService } from '../projects/projects.service';
import { Belongings } from './belongings';

/** Removes what belongs to groups that are about to go. */
type RemovesWithGroups = (tx: Tx, groupIds: readonly number[], actorId: number | null) => Promise<void>;

/** Removes groups with all that lies in them, and projects. Source: reference identity-and-import 2.6, 10.2. */
@Injectable()
export class TreeRemovalService {
  private readonly others: RemovesWithGroups[] = [];

  constructor(
    private readonly log: ChangeLog,
    private readonly groups: NamespacesService,
    private readonly projects: ProjectsService,
    private readonly belongings: Belongings,
  ) {}

  /**
   * What this class cannot use, since it is used by it, is told to it here: people may go with groups, and groups with
   * people. It is done when projects, members and shares are gone and the groups themselves are not yet.
   */
  alsoRemoves(other: RemovesWithGroups): void {
    this.others.push(other);
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
    const projectIds = await this.projects.removeIn(tx, namespaceIds);
    await this.belongings.remove(tx, { namespaceIds, projectIds });
    for (const other of this.others) await other(tx, namespaceIds, actorId);
    await this.groups.remove(tx, namespaceIds);
    await this.belongings.endBots(tx, { namespaceIds, projectIds });
    for (const project_id of projectIds) this.announceProject(tx, project_id, actorId);
    for (const group_id of namespaceIds) {
      this.log.emit(tx, groupDeleted.of({ aggregateId: group_id, actorId, data: { group_id } }));
    }
  }

  private async removeProject(tx: Tx, id: number, actorId: number | null): Promise<void> {
    await this.log.recordWithBelongings(tx, 'project', id);
    const gone = { namespaceIds: [], projectIds: [id] };
    await this.belongings.remove(tx, gone);
    await this.projects.remove(tx, id);
    await this.belongings.endBots(tx, gone);
    this.announceProject(tx, id, actorId);
  }

  private announceProject(tx: Tx, project_id: number, actorId: number | null): void {
    this.log.emit(tx, projectDeleted.of({ aggregateId: project_id, actorId, data: { project_id } }));
  }
}

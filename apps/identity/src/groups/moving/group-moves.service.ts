import { Injectable } from '@nestjs/common';
import { groupMoved } from '@rookery/contracts';
import { InstanceSettings } from '@rookery/instance';
import type { SignedInViewer, Visibility } from '@rookery/kernel';
import { NotFound, Refused } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { ChangeLog } from '../../directory/change-log';
import { isGroupReadOnlySql } from '../../directory/change-states';
import { mayCreateSubgroup, mayCreateTopLevelGroup } from '../../namespaces/group.policy';
import type { GroupWithLevel } from '../group-input';
import { groupFieldProblemsOf } from '../groups.service';
import type { NamespaceRecord } from '../../namespaces/namespace.entity';
import { NamespaceTreesService } from '../../namespaces/paths/namespace-trees.service';
import { formatGroupMoveProblem, OCCUPIED, placeBelow, refusalOfMove } from './group-move-rules';
import { MovedTreesService } from './moved-trees.service';

/**
 * Key of an advisory lock that only this wing uses. It serializes moves of groups, so that two groups cannot be moved
 * below each other.
 */
const MOVE_LOCK = 7_316_420_105;

/** A locked group. `archived` is true if its contents are read-only. */
type LockedGroup = NamespaceRecord & { readonly visibility: Visibility; readonly archived: boolean };

/** Moves of groups with their contents. Source: reference identity-and-import 2.6. */
@Injectable()
export class GroupMovesService {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly trees: NamespaceTreesService,
    private readonly moved: MovedTreesService,
    private readonly instance: InstanceSettings,
  ) {}

  /**
   * `target` is the scope of the new parent, null for the top level; the viewer owns the group. Errors: Refused with
   * the whole text of the API; NotFound when the group or the target was deleted.
   */
  async moveGroup(viewer: SignedInViewer, groupId: number, target: GroupWithLevel | null): Promise<void> {
    try {
      await this.work.run((tx) => this.moveInTransaction(tx, viewer, groupId, target));
    } catch (error) {
      const problems = groupFieldProblemsOf(error);
      if (problems === null) throw error;
      const { name, path } = problems;
      throw groupTransferRefusal(formatGroupMoveProblem(name ? `Name ${name[0]!}` : `Path ${path![0]!}`));
    }
  }

  private async moveInTransaction(
    tx: Tx,
    viewer: SignedInViewer,
    groupId: number,
    target: GroupWithLevel | null,
  ): Promise<void> {
    await tx.query(`select pg_advisory_xact_lock($1)`, [MOVE_LOCK]);
    const { group, parent } = await this.lockGroups(tx, groupId, target);
    const tree = await this.trees.lockTree(tx, groupId);
    const mayCreateThere = parent
      ? !parent.archived && mayCreateSubgroup(viewer, target!.level, parent.subgroup_creation_level)
      : await this.mayCreateTopLevelGroup(tx, viewer);
    const isTaken = await this.moved.isTaken(tx, parent?.id ?? null, group);
    const height = await this.trees.measureHeight(tx, groupId);
    const refusal = refusalOfMove({ group, parent, mayCreateThere, isTaken, height });
    if (refusal !== null) throw groupTransferRefusal(refusal);

    if (!(await this.trees.moveTree(tx, group, placeBelow(group, parent)))) throw groupTransferRefusal(OCCUPIED);
    await this.trees.setPlan(tx, groupId, parent?.plan ?? this.instance.setting('default_plan'));
    if (parent) {
      await this.moved.lowerVisibility(tx, tree, parent.visibility);
      await this.trees.dropRootSettings(tx, groupId);
    } else await this.moved.ensureOwner(tx, groupId, viewer.userId);
    await this.log.recordSubtree(tx, groupId);
    const above = [...group.traversal_ids, ...(parent?.traversal_ids ?? [])];
    await this.log.recordMovedProjects(tx, groupId, above);
    this.log.emit(tx, groupMoved.of({ aggregateId: groupId, actorId: viewer.userId, data: { group_id: groupId } }));
  }

  private async mayCreateTopLevelGroup(tx: Tx, viewer: SignedInViewer): Promise<boolean> {
    const [user] = await tx.query<{ can_create_group: boolean }>(`select can_create_group from users where id = $1`, [
      viewer.userId,
    ]);
    return user !== undefined && mayCreateTopLevelGroup(viewer, user);
  }

  private async lockGroups(
    tx: Tx,
    groupId: number,
    target: GroupWithLevel | null,
  ): Promise<{ group: LockedGroup; parent: LockedGroup | null }> {
    const ends = new Map<number, LockedGroup>();
    for (const id of await this.trees.inLockOrder(tx, [groupId, ...(target ? [target.id] : [])])) {
      ends.set(id, await this.lockGroup(tx, id, id === groupId ? 'no key update' : 'share'));
    }
    const group = ends.get(groupId);
    const parent = target === null ? null : ends.get(target.id);
    if (!group || parent === undefined) throw new NotFound('Group');
    return { group, parent };
  }

  private async lockGroup(tx: Tx, id: number, lockMode: 'share' | 'no key update'): Promise<LockedGroup> {
    const rows = await tx.query<LockedGroup>(
      `select n.*, ${isGroupReadOnlySql('n')} as archived from namespaces n where n.id = $1 and n.kind = 'group' for ${lockMode} of n`,
      [id],
    );
    if (!rows[0]) throw new NotFound('Group');
    return rows[0];
  }
}

function groupTransferRefusal(reason: string): Refused {
  return new Refused(`Transfer failed: ${reason}`, { verbatim: true });
}

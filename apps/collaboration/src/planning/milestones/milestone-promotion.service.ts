import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { milestoneMerged } from '@rookery/contracts';
import { Directory, withinGroupSql } from '@rookery/directory';
import { NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { prepareStatement, Work } from '@rookery/persistence';
import type { Collection, RowOf, Tx } from '@rookery/persistence';
import { delayProjectMoveEffects } from '../../base/noteables/planning-place';
import { NoteableKinds, cachePerNoteableKind } from '../../base/noteables/noteable-kinds';
import type { Milestone } from './milestone.entity';
import { MilestonesQueries } from './milestones.queries';
import { milestones, reserveMilestoneTitles } from './milestones.service';

type PromotionGroup = ProjectScope['namespace'] & { readonly kind: 'group' };

const selectTitle = prepareStatement(
  'milestones_title_in_project',
  'select m.title from milestones m where m.id = $1::bigint and m.project_id = $2::bigint',
);
/**
 * $1 title, $2 ids from the root namespace down to a group. Selects the projects in the group that have a milestone of
 * this title.
 */
const projectsWithTitle = prepareStatement(
  'milestones_homes_of_namesakes',
  `select distinct m.project_id as id from milestones m
   join directory_projects p on p.id = m.project_id join directory_namespaces n on n.id = p.namespace_id
   where m.title = $1 and ${withinGroupSql({ namespace: 'n', traversalIds: '$2' })}`,
);
/**
 * $1 title, $2 ids from the root namespace down to the group, $3 projects, which are locked against moves. Locks the
 * milestones in one order, so that concurrent promotions do not deadlock.
 */
const sameTitle = prepareStatement(
  'milestones_namesakes_within',
  `select m.id, m.group_id from milestones m
   where m.title = $1 and m.id in (
     select b.id from milestones b left join directory_projects p on p.id = b.project_id
     join directory_namespaces n on n.id = coalesce(b.group_id, p.namespace_id)
     where b.title = $1 and (b.group_id is not null or b.project_id = any($3::bigint[]))
       and ${withinGroupSql({ namespace: 'n', traversalIds: '$2' })})
   order by m.id for update of m`,
);
const moveToGroup = prepareStatement(
  'milestones_raise',
  `update milestones set project_id = null, group_id = $2::bigint, iid = $3::bigint, updated_at = now()
   where id = $1::bigint`,
);
/** $1 milestones to merge, $2 the milestone that remains. */
const reassignNoteables = cachePerNoteableKind(({ table, writes }) =>
  prepareStatement(
    `milestones_hand_over_${table}`,
    `${writes.update} milestone_id = $2::bigint where i.milestone_id = any($1::bigint[])`,
  ),
);
const reassignEvents = prepareStatement(
  'milestones_hand_over_events',
  'update resource_milestone_events set milestone_id = $2::bigint where milestone_id = any($1::bigint[])',
);
type MergedMilestoneRow = RowOf<Milestone, 'id' | 'iid' | 'projectId' | 'groupId'>;
const deleteMilestones = prepareStatement(
  'milestones_drop_merged',
  'delete from milestones where id = any($1::bigint[]) returning id, iid, project_id, group_id',
);

/** Promotes a milestone of a project to a milestone of its group. Source: reference work-tracking 9.5. */
@Injectable()
export class MilestonePromotionService {
  private readonly milestones: Collection<Milestone>;

  constructor(
    private readonly work: Work,
    private readonly directory: Directory,
    private readonly kinds: NoteableKinds,
    private readonly queries: MilestonesQueries,
  ) {
    this.milestones = milestones.on(work);
  }

  /**
   * Moves the milestone to the group under the group's next number, with all its uses. Merges milestones of the same
   * title below the group into it. Returns the group's milestone as JSON text. Errors: NotFound, also for milestones of
   * groups; Refused outside of groups.
   */
  async promote(viewer: SignedInViewer, project: ProjectScope, id: number): Promise<string> {
    const { namespace } = project;
    const { userId: actorId } = viewer;
    await this.queries.findMilestone(project, id);
    if (!isGroup(namespace)) throw new Refused('Project does not belong to a group.', { verbatim: true });
    await this.directory.requireFresh(viewer);
    const promoted = await this.work.run((tx) => this.promoteInTransaction(tx, project, namespace, { id, actorId }));
    return this.queries.findMilestone(namespace, promoted);
  }

  /** Returns the id of the group's milestone. */
  private async promoteInTransaction(
    tx: Tx,
    project: ProjectScope,
    group: PromotionGroup,
    { id, actorId }: { readonly id: number; readonly actorId: number },
  ): Promise<number> {
    const [found] = await tx.prepared<{ title: string }>(selectTitle, [id, project.id]);
    if (!found) throw new NotFound();
    await reserveMilestoneTitles(tx, [{ root: group.traversalIds[0]!, title: found.title }]);
    const below = await tx.prepared<{ id: number }>(projectsWithTitle, [found.title, group.traversalIds]);
    const projects = below.map((one) => one.id);
    await delayProjectMoveEffects(tx, projects);
    const values = [found.title, group.traversalIds, projects];
    const all = await tx.prepared<RowOf<Milestone, 'id' | 'groupId'>>(sameTitle, values);
    // A concurrent promotion or a change of the title may have been committed first.
    if (!all.some((one) => one.id === id && one.group_id === null)) throw new NotFound();
    const target = all.find((one) => one.group_id === group.id)?.id ?? id;
    const others = all.map((one) => one.id).filter((one) => one !== target);
    await this.mergeMilestones(tx, others, target, actorId);
    if (target === id) await tx.prepared(moveToGroup, [id, group.id, await this.milestones.nextNumber(tx, group)]);
    return target;
  }

  private async mergeMilestones(
    tx: Tx,
    mergedIds: readonly number[],
    targetId: number,
    actorId: number,
  ): Promise<void> {
    if (mergedIds.length === 0) return;
    for (const kind of this.kinds.withAbility('milestones'))
      await tx.prepared(reassignNoteables(kind), [mergedIds, targetId]);
    await tx.prepared(reassignEvents, [mergedIds, targetId]);
    for (const { id, ...row } of await tx.prepared<MergedMilestoneRow>(deleteMilestones, [mergedIds])) {
      const data = { milestone_id: id, milestone_iid: row.iid, project_id: row.project_id, group_id: row.group_id };
      tx.emit(milestoneMerged.of({ aggregateId: id, actorId, data: { ...data, target_id: targetId } }));
    }
  }
}

function isGroup(namespace: ProjectScope['namespace']): namespace is PromotionGroup {
  return namespace.kind === 'group';
}

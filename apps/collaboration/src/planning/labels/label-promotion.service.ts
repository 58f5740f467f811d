import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory, withinGroupSql } from '@rookery/directory';
import { NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { prepareStatement, violatesConstraint, Work } from '@rookery/persistence';
import type { RowOf, Tx } from '@rookery/persistence';
import { delayProjectMoveEffects } from '../../base/noteables/planning-place';
import { Label } from './label.entity';
import type { LabelView } from './label-facts.queries';
import { createLabelExistsConflict, LabelsService } from './labels.service';

/**
 * $1 name, $2 ids from the root namespace down to a group. Selects the projects in the group that have a label of this
 * name.
 */
const projectsWithTitle = prepareStatement(
  'labels_homes_of_namesakes',
  `select distinct l.project_id as id from labels l
   join directory_projects p on p.id = l.project_id join directory_namespaces n on n.id = p.namespace_id
   where l.title = $1 and ${withinGroupSql({ namespace: 'n', traversalIds: '$2' })}`,
);
/**
 * $1 name, $2 group, $3 ids from the root namespace down to it, $4 projects, which are locked against moves. Locks the
 * labels in one order, so that concurrent promotions do not deadlock.
 */
const sameTitle = prepareStatement(
  'labels_namesakes',
  `select l.id, l.project_id from labels l
   where l.title = $1 and (l.group_id = $2::bigint or l.project_id = any($4::bigint[]) and l.project_id in (
     select p.id from directory_projects p join directory_namespaces n on n.id = p.namespace_id
     where ${withinGroupSql({ namespace: 'n', traversalIds: '$3' })}))
   order by l.id for update of l`,
);
const moveToGroup = prepareStatement(
  'labels_raise',
  'update labels set project_id = null, group_id = $2::bigint, updated_at = now() where id = $1::bigint',
);

/** $1 labels to merge, $2 the label that remains. Noteables that have several of them keep one. */
const merges = [
  prepareStatement(
    'labels_merge_links',
    `insert into label_links (noteable_type, noteable_id, label_id, project_id)
     select noteable_type, noteable_id, $2::bigint, project_id from label_links where label_id = any($1::bigint[])
     on conflict do nothing`,
  ),
  prepareStatement(
    'labels_merge_priorities',
    `insert into label_priorities (project_id, label_id, priority)
     select project_id, $2::bigint, priority from label_priorities where label_id = any($1::bigint[])
     on conflict do nothing`,
  ),
  prepareStatement(
    'labels_merge_subscriptions',
    `insert into label_subscriptions (label_id, user_id)
     select $2::bigint, user_id from label_subscriptions where label_id = any($1::bigint[]) on conflict do nothing`,
  ),
  prepareStatement(
    'labels_merge_events',
    'update resource_label_events set label_id = $2::bigint where label_id = any($1::bigint[])',
  ),
];
const deleteMergedLabels = prepareStatement(
  'labels_drop_merged',
  'delete from labels where id = any($1::bigint[]) and id <> $2::bigint',
);

/** Promotes a label of a project to a label of its group. Source: reference work-tracking 9.4. */
@Injectable()
export class LabelPromotionService {
  constructor(
    private readonly work: Work,
    private readonly directory: Directory,
    private readonly labels: LabelsService,
  ) {}

  /**
   * Moves the label to the group, with all its uses, and merges labels of the same name in the group and all its projects into
   * it. Errors: NotFound, also for labels of groups; Refused outside of groups; Conflict for concurrent promotions.
   */
  async promote(viewer: SignedInViewer, project: ProjectScope, key: number | string): Promise<LabelView> {
    const { namespace } = project;
    const { label } = await this.labels.show(viewer, project, { label_id: key });
    if (label.projectId === null) throw new NotFound('Label');
    if (namespace.kind !== 'group') {
      throw new Refused('Failed to promote project label to group label', { verbatim: true });
    }
    await this.directory.requireFresh(viewer);
    const promoted = await this.runOrConflict((tx) => this.promoteInTransaction(tx, label, namespace));
    return this.labels.toView(viewer, project, promoted);
  }

  private async promoteInTransaction(
    tx: Tx,
    { id, title }: Label,
    group: { readonly id: number; readonly traversalIds: readonly number[] },
  ): Promise<Label> {
    const below = await tx.prepared<{ id: number }>(projectsWithTitle, [title, group.traversalIds]);
    const projects = below.map((project) => project.id);
    await delayProjectMoveEffects(tx, projects);
    const values = [title, group.id, group.traversalIds, projects];
    const all = await tx.prepared<RowOf<Label, 'id' | 'projectId'>>(sameTitle, values);
    if (!all.some((one) => one.id === id && one.project_id !== null)) throw new NotFound('Label');
    const target = all.find((one) => one.project_id === null)?.id ?? id;
    if (target === id) await tx.prepared(moveToGroup, [id, group.id]);
    const others = all.map((one) => one.id).filter((one) => one !== target);
    if (others.length > 0)
      for (const merge of [...merges, deleteMergedLabels]) await tx.prepared(merge, [others, target]);
    return tx.manager.findOneByOrFail(Label, { id: target });
  }

  private async runOrConflict<T>(use: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.work.run(use);
    } catch (error) {
      if (violatesConstraint(error, 'uq_labels_group_id_title')) throw createLabelExistsConflict();
      throw error;
    }
  }
}

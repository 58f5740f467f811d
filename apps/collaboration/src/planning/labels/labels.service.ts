import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { CLOCK, Conflict, NotModified } from '@rookery/kernel';
import type { Clock, Page, PageRequest, SignedInViewer, Viewer } from '@rookery/kernel';
import { defineCollection, Database, filter, prepareStatement, Work } from '@rookery/persistence';
import type { AllFilters, WriteContext, Collection, Tx } from '@rookery/persistence';
import type { PlanningSource } from '../../base/noteables/planning.policy';
import { Label } from './label.entity';
import type { LabelInput } from './label.entity';
import { LabelFactsQueries } from './label-facts.queries';
import type { LabelView } from './label-facts.queries';

/** Filters of a list of labels. Source: reference work-tracking 9.4. */
export interface LabelFilters {
  readonly search?: string;
  readonly archived?: boolean;
}

export interface NewLabel extends LabelInput {
  readonly name: string;
  /** Only for projects. */
  readonly priority?: number | null;
}

export interface LabelChange extends Omit<LabelInput, 'name'> {
  readonly new_name?: string;
  /** Only for projects; null removes it. */
  readonly priority?: number | null;
}

/** Identifies a label: `label_id` is an id or a name; `name` is always a name, even if it looks like an id. */
export interface LabelKey {
  readonly label_id?: number | string | undefined;
  readonly name?: string | undefined;
}

const FILTERS: AllFilters<LabelFilters> = {
  search: filter.containsIn({ short: ['row.title'], long: ['row.description'] }),
  archived: filter.whether('row.archived'),
};
export const createLabelExistsConflict = (): Conflict => new Conflict('Label already exists');

/** Collection of labels. Projects and groups also list the labels of the groups above, but change only their own. */
export const labels = defineCollection(Label, {
  resource: 'Label',
  within: { project: 'projectId', group: 'groupId', inherit: ['project', 'group'] },
  name: 'title',
  order: { title: 'ASC' },
  filters: FILTERS,
  bytes: 'coalesce(octet_length(row.description), 0) + octet_length(row.description_html)',
  taken: { uq_labels_project_id_title: createLabelExistsConflict, uq_labels_group_id_title: createLabelExistsConflict },
});

const subscribe = prepareStatement(
  'labels_subscribe',
  `insert into label_subscriptions (label_id, user_id)
   select l.id, $2::bigint from (select id from labels where id = $1::bigint for key share) l
   on conflict do nothing returning 1`,
);
const unsubscribe = prepareStatement(
  'labels_unsubscribe',
  'delete from label_subscriptions where label_id = $1::bigint and user_id = $2::bigint returning 1',
);
/** $1 project, $2 label, $3 priority. */
const prioritize = prepareStatement(
  'labels_prioritize',
  `insert into label_priorities (project_id, label_id, priority) values ($1::bigint, $2::bigint, $3::integer)
   on conflict (project_id, label_id) do update set priority = excluded.priority`,
);
const unprioritize = prepareStatement(
  'labels_unprioritize',
  'delete from label_priorities where project_id = $1::bigint and label_id = $2::bigint',
);

/** Labels of projects and groups. Source: reference work-tracking 9.4. */
@Injectable()
export class LabelsService {
  private readonly labels: Collection<Label, LabelFilters>;

  constructor(
    private readonly work: Work,
    private readonly database: Database,
    private readonly directory: Directory,
    private readonly facts: LabelFactsQueries,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.labels = labels.on(work);
  }

  async list(
    viewer: Viewer,
    source: PlanningSource,
    o: LabelFilters & { readonly with_counts: boolean; readonly include_ancestor_groups: boolean },
    page: PageRequest,
  ): Promise<Page<LabelView>> {
    // A project's own group counts as near; only the groups above that are ancestors.
    const nearest = source.kind === 'project' ? source.namespace.id : source.id;
    const found = await this.labels.list({
      page,
      within: source,
      filters: o,
      narrow: (list) => {
        if (o.include_ancestor_groups) return;
        list.where((bind) => `(row.group_id is null or row.group_id = ${bind(nearest)})`);
      },
    });
    if (o.with_counts) await this.directory.requireFresh(viewer);
    return { ...found, rows: await this.facts.listViews(viewer, source, found.rows, { isCounted: o.with_counts }) };
  }

  /** Shows one label. Errors: NotFound. */
  async show(viewer: Viewer, source: PlanningSource, key: LabelKey): Promise<LabelView> {
    return this.toView(viewer, source, await this.findLabel(source, key));
  }

  /**
   * Creates a label. Errors: Invalid by field; Conflict when the project or group, or a group above, has a label of that
   * name.
   */
  async create(viewer: SignedInViewer, source: PlanningSource, params: NewLabel): Promise<LabelView> {
    const { priority, ...input } = params;
    const label = Label.create(input, this.clock.now());
    const made = await this.labels.create(label, createWriteContext(viewer, source), async ({ id, title }, tx) => {
      await this.refuseTakenTitle(tx, source, { id, title });
      await this.setPriority(tx, source, id, priority);
    });
    return this.toView(viewer, source, made);
  }

  /** Changes a label. Errors: NotFound, also for labels of groups above; Invalid by field; Conflict as on creation. */
  async update(
    viewer: SignedInViewer,
    source: PlanningSource,
    key: LabelKey,
    { new_name: name, priority, ...input }: LabelChange,
  ): Promise<LabelView> {
    const edit = async (label: Label, tx: Tx): Promise<void> => {
      const { title } = label;
      label.change({ ...input, ...(name === undefined ? {} : { name }) }, this.clock.now());
      if (label.title !== title) await this.refuseTakenTitle(tx, source, label);
      await this.setPriority(tx, source, label.id, priority);
    };
    return this.toView(
      viewer,
      source,
      await this.labels.change(labelIdOrName(key), edit, createWriteContext(viewer, source)),
    );
  }

  /**
   * Deletes a label, also from everything that has it. Errors: NotFound, also for labels of groups above; those of
   * `by.unchanged`.
   */
  async remove(key: LabelKey, by: WriteContext): Promise<void> {
    await this.labels.remove(labelIdOrName(key), by);
  }

  /** Subscribes the viewer to a label. Errors: NotFound; NotModified when already subscribed. */
  async subscribe(viewer: SignedInViewer, source: PlanningSource, key: LabelKey): Promise<LabelView> {
    return this.setSubscription(viewer, source, key, subscribe);
  }

  /** Unsubscribes the viewer. Errors: NotFound; NotModified when not subscribed. */
  async unsubscribe(viewer: SignedInViewer, source: PlanningSource, key: LabelKey): Promise<LabelView> {
    return this.setSubscription(viewer, source, key, unsubscribe);
  }

  /** Adds the facts for the viewer to a label. */
  async toView(viewer: Viewer, source: PlanningSource, label: Label): Promise<LabelView> {
    return (await this.facts.listViews(viewer, source, [label]))[0]!;
  }

  private async setSubscription(
    viewer: SignedInViewer,
    source: PlanningSource,
    key: LabelKey,
    change: typeof subscribe,
  ): Promise<LabelView> {
    const label = await this.findLabel(source, key);
    const changed = await this.database.prepared(change, [label.id, viewer.userId]);
    if (changed.length === 0) throw new NotModified();
    return this.toView(viewer, source, label);
  }

  private findLabel(source: PlanningSource, key: LabelKey): Promise<Label> {
    return this.labels.find(labelIdOrName(key), source);
  }

  /** Checks the groups above for the name; the unique indexes cover only one project or group. */
  private async refuseTakenTitle(
    tx: Tx,
    source: PlanningSource,
    { id, title }: Pick<Label, 'id' | 'title'>,
  ): Promise<void> {
    const sameTitle = await labels.on(this.work, tx).listAll({ within: source, where: { title } });
    if (sameTitle.some((one) => one.id !== id)) throw createLabelExistsConflict();
  }

  private async setPriority(tx: Tx, source: PlanningSource, id: number, priority?: number | null): Promise<void> {
    if (source.kind === 'group' || priority === undefined) return;
    if (priority === null) await tx.prepared(unprioritize, [source.id, id]);
    else await tx.prepared(prioritize, [source.id, id, priority]);
  }
}

function labelIdOrName({ label_id: id, name }: LabelKey): number | string {
  return id ?? name ?? '';
}

function createWriteContext(viewer: SignedInViewer, source: PlanningSource): WriteContext {
  return { actorId: viewer.userId, within: source };
}

import { Inject, Injectable } from '@nestjs/common';
import { milestoneCreated, milestoneDeleted, milestoneStateChanged } from '@rookery/contracts';
import { withinGroupSql } from '@rookery/directory';
import { CLOCK, Invalid } from '@rookery/kernel';
import type { Clock, SignedInViewer } from '@rookery/kernel';
import { defineCollection, prepareStatement, Work } from '@rookery/persistence';
import type { WriteContext, Collection, Parent, Tx } from '@rookery/persistence';
import type { PlanningSource } from '../../base/noteables/planning.policy';
import { NoteLimit } from '../../talk/notes/note-limit';
import { Milestone } from './milestone.entity';
import type { MilestoneInput } from './milestone.entity';
import { MilestonesQueries } from './milestones.queries';

const createTakenTitleError = (): Invalid => new Invalid({ title: ['has already been taken'] });

const toMilestoneFacts = ({ id, iid, projectId, groupId }: Milestone) => {
  return { milestone_id: id, milestone_iid: iid, project_id: projectId, group_id: groupId };
};

/**
 * Collection of milestones. Projects and groups show and change only their own; issues can also use those of the groups
 * above.
 */
export const milestones = defineCollection(Milestone, {
  within: { project: 'projectId', group: 'groupId' },
  numbered: 'iid',
  taken: { uq_milestones_project_id_title: createTakenTitleError, uq_milestones_group_id_title: createTakenTitleError },
  created: (row, actorId) => {
    const data = { ...toMilestoneFacts(row), created_at: row.createdAt.toISOString() };
    return milestoneCreated.of({ aggregateId: row.id, actorId, data });
  },
  removed: (row, actorId) => milestoneDeleted.of({ aggregateId: row.id, actorId, data: toMilestoneFacts(row) }),
});

/** $1 root namespaces, $2 titles. Takes the locks in one order, so that concurrent requests do not deadlock. */
const lockTitles = prepareStatement(
  'milestones_reserve',
  `select pg_advisory_xact_lock(key) from (
     select distinct hashtextextended('milestone ' || root || ' ' || title, 0) as key
     from unnest($1::bigint[], $2::text[]) wanted (root, title) order by key) keys`,
);
/** $1 title, $2 project or null, $3 ids from the root namespace down to the group, or to the group of the project. */
const sameTitleAbove = prepareStatement(
  'milestones_namesakes_on_the_way_up',
  `select m.id from milestones m
   where m.title = $1 and (m.project_id = $2::bigint or m.group_id = any($3::bigint[])) limit 2`,
);
/** $1 title, $2 ids from the root namespace down to the group. */
const sameTitleBelow = prepareStatement(
  'milestones_namesakes_below',
  `select m.id from milestones m left join directory_projects p on p.id = m.project_id
   join directory_namespaces n on n.id = coalesce(m.group_id, p.namespace_id)
   where m.title = $1 and ${withinGroupSql({ namespace: 'n', traversalIds: '$2' })} limit 2`,
);

/**
 * Creates, changes and deletes milestones of projects and groups. Returns JSON text. Source: reference work-tracking
 * 9.5.
 */
@Injectable()
export class MilestonesService {
  private readonly milestones: Collection<Milestone>;

  constructor(
    work: Work,
    private readonly queries: MilestonesQueries,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly noteLimit: NoteLimit,
  ) {
    this.milestones = milestones.on(work);
  }

  /**
   * Creates a milestone. Errors: Invalid by field, also for a title that is taken in a group above or, for a group,
   * below it.
   */
  async create(
    viewer: SignedInViewer,
    source: PlanningSource,
    input: MilestoneInput & { readonly title: string },
  ): Promise<string> {
    const milestone = Milestone.create(input, this.clock.now());
    const before = async (tx: Tx): Promise<void> => {
      await reserveMilestoneTitles(tx, [{ root: rootNamespaceId(source), title: milestone.title }]);
      await refuseTakenTitle(tx, source, milestone);
    };
    const { id } = await this.milestones.create(milestone, { ...createWriteContext(viewer, source), before });
    return this.queries.findMilestone(source, id);
  }

  /**
   * Changes a milestone. A change of the state counts as a note. Errors: NotFound, also for milestones of groups above;
   * Invalid as on creation; TooManyRequests.
   */
  async update(viewer: SignedInViewer, source: PlanningSource, id: number, input: MilestoneInput): Promise<string> {
    const title = input.title?.trim();
    const before = async (tx: Tx): Promise<void> => {
      if (title !== undefined) await reserveMilestoneTitles(tx, [{ root: rootNamespaceId(source), title }]);
    };
    const edit = async (milestone: Milestone, tx: Tx): Promise<void> => {
      const { title: old, state: oldState } = milestone;
      milestone.change(input, this.clock.now());
      if (milestone.title !== old) await refuseTakenTitle(tx, source, milestone);
      if (milestone.state === oldState) return;
      // Each change of the state adds an entry to feeds.
      this.noteLimit.countNotes(tx, viewer);
      const { state, updatedAt } = milestone;
      const data = { ...toMilestoneFacts(milestone), state, changed_at: updatedAt.toISOString() };
      tx.emit(milestoneStateChanged.of({ aggregateId: id, actorId: viewer.userId, data }));
    };
    await this.milestones.change(id, edit, { ...createWriteContext(viewer, source), before });
    return this.queries.findMilestone(source, id);
  }

  /**
   * Deletes a milestone, also from everything that has it. Errors: NotFound, also for milestones of groups above; those
   * of `by.unchanged`.
   */
  async remove(id: number, by: WriteContext): Promise<void> {
    await this.milestones.remove(id, by);
  }
}

/** Locks titles below root namespaces: until the transaction ends, no other transaction can use them for a milestone. */
export async function reserveMilestoneTitles(
  tx: Tx,
  wanted: readonly { readonly root: number; readonly title: string }[],
): Promise<void> {
  await tx.prepared(lockTitles, [wanted.map(({ root }) => root), wanted.map(({ title }) => title)]);
}

/** Returns the root namespace of a project or group. */
function rootNamespaceId(source: Parent): number {
  return ancestorIdsOf(source)[0]!;
}

function ancestorIdsOf(source: Parent): readonly number[] {
  return source.kind === 'project' ? source.namespace.traversalIds : source.traversalIds;
}

/**
 * Checks groups above and everything below for the title; the unique indexes cover only one project or group. The title
 * must be reserved.
 */
async function refuseTakenTitle(tx: Tx, source: PlanningSource, { id, title }: Milestone): Promise<void> {
  const ancestorIds = ancestorIdsOf(source);
  const projectId = source.kind === 'project' ? source.id : null;
  const above = await tx.prepared<{ id: number }>(sameTitleAbove, [title, projectId, ancestorIds]);
  const below = source.kind === 'group' ? await tx.prepared<{ id: number }>(sameTitleBelow, [title, ancestorIds]) : [];
  if ([...above, ...below].some((one) => one.id !== id)) throw createTakenTitleError();
}

function createWriteContext(viewer: SignedInViewer, source: PlanningSource): WriteContext {
  return { actorId: viewer.userId, within: source };
}

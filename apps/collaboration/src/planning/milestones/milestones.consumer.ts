import { Controller } from '@nestjs/common';
import { groupMoved, projectDeleted, projectMoved } from '@rookery/contracts';
import type { NoteableDeleted } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { Work } from '@rookery/persistence';
import type { Collection, Tx } from '@rookery/persistence';
import { projectsBelow } from '../../base/noteables/moved-projects';
import { NoteableKinds, noteables } from '../../base/noteables/noteable-kinds';
import { plannedBefore } from '../../base/noteables/planning-place';
import { replaceStrayMilestones } from './assigning/stray-milestones';
import type { Milestone } from './milestone.entity';
import { dropMilestoneEventsIn, dropMilestoneEventsOfThings } from './milestone-removal';
import { milestones } from './milestones.service';

/** What goes with things and projects, and what becomes of milestones when projects move. Source: docs/architecture.md 3. */
@Controller()
export class MilestonesConsumer {
  private readonly milestones: Collection<Milestone>;

  constructor(
    private readonly directory: Directory,
    private readonly kinds: NoteableKinds,
    work: Work,
  ) {
    this.milestones = milestones.on(work);
  }

  @Consume(noteables.deleted, { effect: 'drop-milestone-events' })
  async deleted({ tx, events }: EffectBatch<NoteableDeleted>): Promise<void> {
    const ids = events.map((event) => event.aggregateId);
    await dropMilestoneEventsOfThings(tx, this.kinds.ofEvents(events).type, ids);
  }

  @Consume(projectDeleted, { effect: 'drop-milestones' })
  async projectDeleted({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
    const ids = events.map((event) => event.data.project_id);
    await this.directory.gone(tx, 'project', events, ids);
    await dropMilestoneEventsIn(tx, ids);
    await milestones.drop(tx, 'project', ids);
  }

  @Consume(projectMoved, { effect: 'replace-stray-milestones' })
  async projectMoved({ tx, events }: EffectBatch<typeof projectMoved>): Promise<void> {
    await this.directory.settledFor(tx, events);
    const projects = events.map((event) => event.data.project_id);
    await this.replaceStrays(tx, projects);
  }

  @Consume(groupMoved, { effect: 'replace-stray-milestones' })
  async groupMoved({ tx, events }: EffectBatch<typeof groupMoved>): Promise<void> {
    await this.directory.settledFor(tx, events);
    const groups = events.map((event) => event.data.group_id);
    await this.replaceStrays(tx, await projectsBelow(tx, groups));
  }

  private async replaceStrays(tx: Tx, projectIds: readonly number[]): Promise<void> {
    await plannedBefore(tx, projectIds);
    for (const kind of this.kinds.able('milestones')) {
      await replaceStrayMilestones(tx, kind, this.milestones, projectIds);
    }
  }
}

import { Controller } from '@nestjs/common';
import { groupMoved, projectMoved } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { Work } from '@rookery/persistence';
import type { Collection, Tx } from '@rookery/persistence';
import { projectIdsBelow } from '../../base/noteables/moved-projects';
import { NoteableKinds } from '../../base/noteables/noteable-kinds';
import { waitForTransactionsBeforeProjectMove } from '../../base/noteables/planning-place';
import { replaceUnreachableMilestones } from './assigning/unreachable-milestones';
import type { Milestone } from './milestone.entity';
import { milestones } from './milestones.service';

/** Replaces milestones that a moved project no longer reaches. Source: docs/architecture.md 3. */
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

  @Consume(projectMoved, { effect: 'replace-stray-milestones' })
  async projectMoved({ tx, events }: EffectBatch<typeof projectMoved>): Promise<void> {
    await this.directory.assertCurrentFor(tx, events);
    const projects = events.map((event) => event.data.project_id);
    await this.replaceStrays(tx, projects);
  }

  @Consume(groupMoved, { effect: 'replace-stray-milestones' })
  async groupMoved({ tx, events }: EffectBatch<typeof groupMoved>): Promise<void> {
    await this.directory.assertCurrentFor(tx, events);
    const groups = events.map((event) => event.data.group_id);
    await this.replaceStrays(tx, await projectIdsBelow(tx, groups));
  }

  private async replaceStrays(tx: Tx, projectIds: readonly number[]): Promise<void> {
    await waitForTransactionsBeforeProjectMove(tx, projectIds);
    for (const kind of this.kinds.withAbility('milestones')) {
      await replaceUnreachableMilestones(tx, kind, this.milestones, projectIds);
    }
  }
}

import { Controller } from '@nestjs/common';
import { groupMoved, projectMoved } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { projectIdsBelow } from '../../base/noteables/moved-projects';
import { replaceUnreachableLabels } from './labelling/unreachable-labels';

/** Replaces labels that a moved project no longer reaches. Source: docs/architecture.md 3. */
@Controller()
export class LabelsConsumer {
  constructor(private readonly directory: Directory) {}

  @Consume(projectMoved, { effect: 'replace-stray-labels' })
  async projectMoved({ tx, events }: EffectBatch<typeof projectMoved>): Promise<void> {
    await this.directory.assertCurrentFor(tx, events);
    await replaceUnreachableLabels(
      tx,
      events.map((event) => event.data.project_id),
    );
  }

  @Consume(groupMoved, { effect: 'replace-stray-labels' })
  async groupMoved({ tx, events }: EffectBatch<typeof groupMoved>): Promise<void> {
    await this.directory.assertCurrentFor(tx, events);
    const groups = events.map((event) => event.data.group_id);
    await replaceUnreachableLabels(tx, await projectIdsBelow(tx, groups));
  }
}

import { Controller } from '@nestjs/common';
import { groupMoved, projectDeleted, projectMoved } from '@rookery/contracts';
import type { NoteableDeleted } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { projectsBelow } from '../../base/noteables/moved-projects';
import { NoteableKinds, noteables } from '../../base/noteables/noteable-kinds';
import { dropLabelsOfThings, dropLabelUseIn } from './label-removal';
import { replaceStrayLabels } from './labelling/stray-labels';
import { labels } from './labels.service';

/** What goes with things and projects, and what becomes of labels when projects move. Source: docs/architecture.md 3. */
@Controller()
export class LabelsConsumer {
  constructor(
    private readonly directory: Directory,
    private readonly kinds: NoteableKinds,
  ) {}

  @Consume(noteables.deleted, { effect: 'drop-labels' })
  async deleted({ tx, events }: EffectBatch<NoteableDeleted>): Promise<void> {
    const ids = events.map((event) => event.aggregateId);
    await dropLabelsOfThings(tx, this.kinds.ofEvents(events).type, ids);
  }

  @Consume(projectDeleted, { effect: 'drop-labels' })
  async projectDeleted({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
    const ids = events.map((event) => event.data.project_id);
    await this.directory.gone(tx, 'project', events, ids);
    await dropLabelUseIn(tx, ids);
    await labels.drop(tx, 'project', ids);
  }

  @Consume(projectMoved, { effect: 'replace-stray-labels' })
  async projectMoved({ tx, events }: EffectBatch<typeof projectMoved>): Promise<void> {
    await this.directory.settledFor(tx, events);
    await replaceStrayLabels(
      tx,
      events.map((event) => event.data.project_id),
    );
  }

  @Consume(groupMoved, { effect: 'replace-stray-labels' })
  async groupMoved({ tx, events }: EffectBatch<typeof groupMoved>): Promise<void> {
    await this.directory.settledFor(tx, events);
    const groups = events.map((event) => event.data.group_id);
    await replaceStrayLabels(tx, await projectsBelow(tx, groups));
  }
}

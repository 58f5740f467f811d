import { Controller } from '@nestjs/common';
import { projectDeleted } from '@rookery/contracts';
import type { NoteableDeleted } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { NoteableKinds, noteables } from '../noteables/noteable-kinds';
import { dropResourceEventsIn, dropResourceEventsOfThings } from './resource-event-removal';

/** What is told of things goes with them. Source: docs/architecture.md 3. */
@Controller()
export class ResourceEventsConsumer {
  constructor(
    private readonly directory: Directory,
    private readonly kinds: NoteableKinds,
  ) {}

  @Consume(noteables.deleted, { effect: 'drop-resource-events' })
  async deleted({ tx, events }: EffectBatch<NoteableDeleted>): Promise<void> {
    const ids = events.map((event) => event.aggregateId);
    await dropResourceEventsOfThings(tx, this.kinds.ofEvents(events).type, ids);
  }

  @Consume(projectDeleted, { effect: 'drop-resource-events' })
  async projectDeleted({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
    const ids = events.map((event) => event.data.project_id);
    await this.directory.gone(tx, 'project', events, ids);
    await dropResourceEventsIn(tx, ids);
  }
}

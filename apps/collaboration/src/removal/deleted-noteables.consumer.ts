import { Controller, Inject } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import type { NoteableDeleted } from '@rookery/contracts';
import { groupedByEffect } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import type { AttachedTable } from '@rookery/persistence';
import { NoteableKinds, noteables } from '../base/noteables/noteable-kinds';

/** Controllers that delete attached rows of deleted noteables: one for each effect. Source: docs/architecture.md 3. */
export function createDeletedNoteablesConsumers(attachments: readonly AttachedTable<NoteableKinds>[]): Type[] {
  return [...groupedByEffect(attachments, 'noteable')].map(([effect, ones]) => {
    @Controller()
    class DeletedNoteablesConsumer {
      constructor(@Inject(NoteableKinds) private readonly kinds: NoteableKinds) {}

      @Consume(noteables.deleted, { effect })
      async drop({ tx, events }: EffectBatch<NoteableDeleted>): Promise<void> {
        const { type } = this.kinds.ofEvents(events);
        const rows = events.map(({ aggregateId, data }) => ({ id: aggregateId, projectId: data.project_id }));
        for (const one of ones) await one.dropOfNoteables(tx, { type, rows });
      }
    }
    return DeletedNoteablesConsumer;
  });
}

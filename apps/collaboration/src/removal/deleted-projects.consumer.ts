import { Controller } from '@nestjs/common';
import { projectDeleted } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { dropInternalIds } from '@rookery/persistence';
import { NoteableKinds } from '../base/noteables/noteable-kinds';
import { removeNotesOfProjects } from '../talk/notes/note-removal';

/** Removes the noteables of a deleted project and their notes, kind by kind. Source: docs/architecture.md 3. */
@Controller()
export class DeletedProjectsConsumer {
  constructor(
    private readonly kinds: NoteableKinds,
    private readonly directory: Directory,
  ) {}

  @Consume(projectDeleted, { effect: 'drop-issues' })
  async drop({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
    const projectIds = events.map((event) => event.data.project_id);
    await this.directory.assertDeleted(tx, 'project', events, projectIds);
    for (const kind of this.kinds.ofProjects) {
      await removeNotesOfProjects(tx, kind, projectIds);
      for (const rows of kind.attached.filter((one) => one.isDroppedWith('project')))
        await rows.deleteRows(tx, 'project', projectIds);
      await dropInternalIds(tx, kind.table, projectIds);
    }
  }
}

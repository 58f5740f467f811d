import { Controller } from '@nestjs/common';
import { projectDeleted } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { dropInternalIds, prepared } from '@rookery/persistence';
import { NoteableKinds, perKind } from '../base/noteables/noteable-kinds';
import { removeNotesOfProjects } from '../talk/notes/note-removal';

/** Units: rows. Small enough that no statement nears its time limit, however large the project was. */
const CHUNK = 5000;

const removeThings = perKind(({ table, writes }) =>
  prepared(
    `project_deletion_${table}`,
    `${writes.remove} where i.id in (select id from ${table} where project_id = any($1::bigint[]) limit ${CHUNK})
     returning 1`,
  ),
);

/** What belonged to a project goes with it: things of every kind, and their notes. Source: docs/architecture.md 3. */
@Controller()
export class ProjectDeletionConsumer {
  constructor(
    private readonly kinds: NoteableKinds,
    private readonly directory: Directory,
  ) {}

  @Consume(projectDeleted, { effect: 'drop-issues' })
  async drop({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
    const projectIds = events.map((event) => event.data.project_id);
    await this.directory.gone(tx, 'project', events, projectIds);
    for (const kind of this.kinds.ofProjects) {
      await removeNotesOfProjects(tx, kind, projectIds);
      while ((await tx.prepared(removeThings(kind), [projectIds])).length === CHUNK);
      await dropInternalIds(tx, kind.table, projectIds);
    }
  }
}

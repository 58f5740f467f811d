import { Controller } from '@nestjs/common';
import { projectDeleted } from '@rookery/contracts';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';

/** Units: rows. Small enough that no statement nears its time limit, however large the project was. */
const CHUNK = 5000;

const dropNotes = prepared(
  'project_deletion_notes',
  `delete from notes where id in (
     select n.id from notes n join issues i on n.noteable_id = i.id and n.noteable_type = 'Issue'
     where i.project_id = any($1::bigint[]) limit ${CHUNK})
   returning 1`,
);
const dropIssues = prepared(
  'project_deletion_issues',
  `delete from issues where id in (select id from issues where project_id = any($1::bigint[]) limit ${CHUNK}) returning 1`,
);
const dropCounters = prepared(
  'project_deletion_counters',
  `delete from internal_ids where usage = 'issues' and scope_id = any($1::bigint[])`,
);

/** What belonged to a project goes with it. Source: architecture 4. */
@Controller()
export class ProjectDeletionConsumer {
  @Consume(projectDeleted, { effect: 'drop-issues' })
  async drop({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
    const projectIds = events.map((event) => event.data.project_id);
    await inChunks(() => tx.prepared(dropNotes, [projectIds]));
    await inChunks(() => tx.prepared(dropIssues, [projectIds]));
    await tx.prepared(dropCounters, [projectIds]);
  }
}

async function inChunks(drop: () => ReturnType<Tx['prepared']>): Promise<void> {
  while ((await drop()).length === CHUNK);
}

import { attachedTablesIn, entitiesOf } from '@rookery/persistence';
import { expectAttachmentsToCoverSchema, testDatabase } from '@rookery/testing';
import type { TestDatabase } from '@rookery/testing';
import { Pool } from 'pg';
import { CollaborationModule } from '../../src/collaboration.module';
import { migrations } from '../../src/database';
import { commitKind } from '../../src/work/commit-comments/commit.kind';
import { epicKind } from '../../src/work/epics/epic.kind';
import { issueKind } from '../../src/work/issues/issue.kind';
import { mergeRequestKind } from '../../src/work/merge-requests/merge-request.kind';
import { snippetKind } from '../../src/work/snippets/snippet.kind';

const attached = [
  ...[issueKind, epicKind, mergeRequestKind, snippetKind, commitKind].flatMap((kind) => kind.attached),
  ...attachedTablesIn(CollaborationModule),
];

let database: TestDatabase;
beforeAll(async () => void (database = await testDatabase('collaboration', migrations)));
afterAll(() => database.drop());

test('every reference column is declared, and each removal has an index', async () => {
  const pool = new Pool({ connectionString: database.url, max: 1 });
  try {
    await expectAttachmentsToCoverSchema(pool, attached, {
      entities: entitiesOf(CollaborationModule),
      // Mails are kept only for days, and another index would slow down queueing.
      unindexed: ['removal_mails_actor_id_hand_over', 'removal_place_mails_actor_id_hand_over'],
    });
  } finally {
    await pool.end();
  }
});

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { startEstate } from '../../processes/estate.mjs';
import { sharedTemporaryFolder } from '../../servers/postgres-files.mjs';
import { freePort } from '../../processes/process-records.mjs';
import { DrillClient } from '../client.mjs';
import { prepare, run } from '../failures/restore.mjs';

it('the restore of a database loses no other data, and gives no user access to data of others', async () => {
  const dataDir = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-restore-'));
  const { env } = await prepare();
  const estate = await startEstate({ dataDir, port: await freePort(), env });
  try {
    const verdict = await run(new DrillClient(estate, 'restore'), {}, { spanMs: 6000 });
    assert.equal(verdict.wrong, 0, JSON.stringify(verdict));
  } finally {
    await estate.stop();
    await estate.discard();
  }
});

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { startEstate } from '../../estate/estate.mjs';
import { sharedTemporary } from '../../estate/postgres-files.mjs';
import { freePort } from '../../estate/processes.mjs';
import { Client } from '../client.mjs';
import { prepare, run } from '../failures/restore.mjs';

it('a database that is put back takes nothing else with it, and gives nobody what is not theirs', async () => {
  const dataDir = mkdtempSync(join(sharedTemporary(), 'rookery-restore-'));
  const { env } = await prepare();
  const estate = await startEstate({ dataDir, port: await freePort(), env });
  try {
    const verdict = await run(new Client(estate, 'restore'), {}, { spanMs: 6000 });
    assert.equal(verdict.wrong, 0, JSON.stringify(verdict));
  } finally {
    await estate.stop();
    await estate.discard();
  }
});

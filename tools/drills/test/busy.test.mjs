import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { startEstate } from '../../estate/estate.mjs';
import { sharedTemporary } from '../../estate/postgres-files.mjs';
import { freePort } from '../../estate/processes.mjs';
import { run } from '../busy.mjs';
import { Client } from '../client.mjs';

it('on a machine that others keep busy nobody is refused and nothing is lost, by the defaults', async () => {
  const dataDir = mkdtempSync(join(sharedTemporary(), 'rookery-busy-'));
  const estate = await startEstate({ dataDir, port: await freePort() });
  try {
    const verdict = await run(new Client(estate, 'busy'), {}, { seconds: 10 });
    const { statuses, acknowledged, lost, missing, duplicate } = verdict;
    const refused = Object.keys(statuses).filter((status) => !status.startsWith('2'));
    // How long they took is for the drill, on a machine where nothing else runs besides.
    assert.deepEqual(
      { refused, lost, missing, duplicate },
      { refused: [], lost: 0, missing: 0, duplicate: 0 },
      JSON.stringify(verdict),
    );
    assert.ok(acknowledged > 0);
  } finally {
    await estate.stop();
    await estate.discard();
  }
});

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { startEstate } from '../../processes/estate.mjs';
import { sharedTemporary } from '../../servers/postgres-files.mjs';
import { freePort } from '../../processes/process-records.mjs';
import { run } from '../busy.mjs';
import { Client } from '../client.mjs';

it('on a machine that is busy with other programs, no request is refused and no effect is lost, with default settings', async () => {
  const dataDir = mkdtempSync(join(sharedTemporary(), 'rookery-busy-'));
  const estate = await startEstate({ dataDir, port: await freePort() });
  try {
    const verdict = await run(new Client(estate, 'busy'), {}, { seconds: 10 });
    const { statuses, acknowledged, lost, missing, duplicate } = verdict;
    const refused = Object.keys(statuses).filter((status) => !status.startsWith('2'));
    // The drill checks durations, on a machine without other tests.
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

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { startEstate } from '../../processes/estate.mjs';
import { sharedTemporaryFolder } from '../../servers/postgres-files.mjs';
import { freePort } from '../../processes/process-records.mjs';
import { BURNERS, run } from '../busy.mjs';
import { DrillClient } from '../client.mjs';

it('on a machine that is busy with other programs, no request is refused and no effect is lost, with default settings', async () => {
  const dataDir = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-busy-'));
  const estate = await startEstate({ dataDir, port: await freePort() });
  try {
    // Suites that run at the same time are other programs too: burners only add what is missing to the load.
    const burners = Math.max(0, BURNERS - Math.round(loadavg()[0] ?? 0));
    const verdict = await run(new DrillClient(estate, 'busy'), {}, { seconds: 10, burners });
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

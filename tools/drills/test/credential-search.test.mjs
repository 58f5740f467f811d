/** The search for a credential finds it in files and in arguments of processes, and reports what it could not see. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { until } from '../client.mjs';
import { CredentialSearch } from '../imports/credential-search.mjs';

const folder = mkdtempSync(join(tmpdir(), 'credential-search-'));
after(() => rmSync(folder, { recursive: true }));

// Joined here, so that no process of a reader of this file has it in its arguments.
const SECRET = ['searched', process.pid, 'canary'].join('-');
const MIB = 1024 * 1024;

function createSearch() {
  const client = /** @type {any} */ ({ estate: { databases: {} } });
  return new CredentialSearch(client, { secrets: [SECRET], address: 'host.example:1', folders: [folder] });
}

it('finds a text in files, also between two chunks', async () => {
  const before = Buffer.alloc(MIB - 5, 'x');
  writeFileSync(join(folder, 'long'), Buffer.concat([before, Buffer.from(SECRET), before]));
  writeFileSync(join(folder, 'hexadecimal'), `\\x${Buffer.from(SECRET).toString('hex')}`);
  writeFileSync(join(folder, 'part'), SECRET.slice(1));
  const { places, blind } = await createSearch().run();
  assert.deepEqual(places.toSorted(), ['hexadecimal', 'long']);
  assert.ok(blind.includes('the databases do not have the address of the host'));
});

it(
  'finds a text in the arguments and the environment of a process',
  { skip: process.platform !== 'linux' },
  async () => {
    const words = ['-e', 'process.stdin.resume()', 'host.example:1'];
    const env = { ...process.env, NAME: SECRET };
    const children = [spawn(process.execPath, [...words, SECRET]), spawn(process.execPath, words, { env })];
    const search = createSearch();
    search.watchProcesses();
    try {
      await until('both are seen', () => search.places.size === 2);
    } finally {
      search.stopWatching();
      for (const child of children) child.kill();
    }
    const seen = [...search.places].map((place) => place.split(' ')[0]).toSorted();
    assert.deepEqual(seen, ['cmdline', 'environ']);
    assert.ok(!(await search.run()).blind.includes('no process had the address of the host'));
  },
);

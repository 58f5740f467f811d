/** Copies for a backup whose sources change meanwhile, and backups whose paths lead outside of the data folder. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { writeRecord } from '../../processes/process-records.mjs';
import { discardPostgres, sharedTemporaryFolder } from '../../servers/postgres-files.mjs';
import { BACKUP_FORMAT, digestOf } from '../backup.mjs';
import { copyFiles } from '../checked-copies.mjs';
import { restoreBackup } from '../restored-backup.mjs';

const folder = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-copies-'));
const backup = join(folder, 'backup');
const dataDir = join(folder, 'data');
const outside = join(folder, 'outside');
const OWN = { 'state/secrets.json': '{}', 'postgres/PG_VERSION': '18\n', 'mail/a.eml': 'egg', 'streams/a/b': 'twig' };

beforeEach(() => {
  discardPostgres(dataDir);
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  mkdirSync(outside);
});
after(() => {
  discardPostgres(dataDir);
  rmSync(folder, { recursive: true });
});

/** @param {string} path @param {string} content */
function writeFileAt(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/**
 * Writes the record and the digests of a backup.
 * @param {Record<string, string>} contents  by path as `SHA256SUMS` names it
 */
function writeRecordAndSums(contents) {
  const sums = Object.entries(contents).map(([path, content]) => `${digestOf(content)}  ${path}\n`);
  writeFileAt(join(backup, 'SHA256SUMS'), sums.join(''));
  writeRecord(join(backup, 'backup.json'), { format: BACKUP_FORMAT, cluster: 'c', sums: digestOf(sums.join('')) });
}

/** Writes a backup with these files. @param {Record<string, string>} contents */
function writeBackup(contents) {
  for (const [path, content] of Object.entries(contents)) writeFileAt(`${backup}/${path}`, content);
  writeRecordAndSums(contents);
}

it('a file that was removed leaves no copy, unless a digest is expected', async () => {
  const [from, gone, to] = ['from', 'gone', 'to/copy'].map((name) => join(folder, name));
  assert.ok(from && gone && to);
  writeFileSync(from, 'egg');
  const digests = await copyFiles(
    [
      { from: gone, to: `${to}-of-gone` },
      { from, to },
    ],
    () => {},
  );
  assert.deepEqual([...digests], [[to, digestOf('egg')]]);
  assert.deepEqual(readdirSync(dirname(to)), ['copy']);
  await assert.rejects(
    copyFiles([{ from: gone, to: `${to}-2`, sha256: digestOf('egg') }], () => {}),
    { code: 'ENOENT' },
  );
  assert.deepEqual(readdirSync(dirname(to)), ['copy']);
});

it('a file that is removed during its copy is copied whole', async () => {
  const [from, to] = [join(folder, 'from'), join(folder, 'to')];
  const content = 'egg'.repeat(100_000);
  writeFileSync(from, content);
  const digests = await copyFiles([{ from, to }], () => rmSync(from, { force: true }));
  assert.deepEqual([...digests], [[to, digestOf(content)]]);
  assert.equal(readFileSync(to, 'utf8'), content);
});

describe('a restore', () => {
  it('puts known parts at their places', async () => {
    writeBackup(OWN);
    await restoreBackup(backup, dataDir);
    const places = ['secrets.json', 'mail/a.eml', 'nats/store/a/b'];
    assert.deepEqual(
      places.map((path) => readFileSync(join(dataDir, path), 'utf8')),
      ['{}', 'egg', 'twig'],
    );
  });

  for (const path of [
    'state/../../outside/egg',
    'streams/../../../outside/egg',
    'blobs/../run/supervisor.lock',
    'mail/./../../../outside/egg',
    'mail//egg',
    'state/run/supervisor.lock',
    'state/restored-backup.json',
    'other/egg',
    'constructor/egg',
    'egg',
  ])
    it(`refuses ${path}, and writes nothing`, async () => {
      writeBackup({ ...OWN, [path]: 'crafted' });
      await assert.rejects(restoreBackup(backup, dataDir), /has no regular file|which is no part of a backup/);
      assert.equal(existsSync(dataDir), false);
      assert.deepEqual(
        readdirSync(outside).filter((name) => name !== 'egg'),
        [],
      );
    });

  it('refuses folders that are no part, without a file in them', async () => {
    for (const path of ['state/run', 'other']) {
      rmSync(backup, { recursive: true, force: true });
      writeBackup(OWN);
      mkdirSync(join(backup, path));
      await assert.rejects(restoreBackup(backup, dataDir), {
        message: `${backup} contains ${path}, which is no part of a backup`,
      });
      assert.equal(existsSync(dataDir), false);
    }
  });

  it('refuses symbolic links to files and in folders, and a digest without a file', async () => {
    writeFileAt(join(outside, 'secret'), 'secret');
    const links = { 'mail/link.eml': join(outside, 'secret'), 'mail/link/secret': outside, 'mail/none.eml': null };
    for (const [path, target] of Object.entries(links)) {
      rmSync(backup, { recursive: true, force: true });
      writeBackup(OWN);
      if (target) symlinkSync(target, join(backup, path.split('/').slice(0, 2).join('/')));
      writeRecordAndSums({ ...OWN, [path]: 'secret' });
      await assert.rejects(restoreBackup(backup, dataDir), { message: `${backup} has no regular file ${path}` });
      assert.equal(existsSync(dataDir), false);
    }
  });
});

/**
 * Restoring a backup into an empty data folder. Each file is compared with its digest. The next `npm start` on the folder
 * begins another history of the directory, because clients and outside systems may have seen later versions and ids.
 * Source: ADR 0210.
 *
 * @import { BackupRecord } from './backup.mjs'
 * @import { Report } from './checked-copies.mjs'
 */
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRecord, writeRecord } from '../processes/process-records.mjs';
import { createPostgresFolder, postgresUser } from '../servers/postgres-files.mjs';
import { BACKUP_FORMAT, digestOf, PARTS, STATE_FILES } from './backup.mjs';
import { copyFiles, CopyProgressMeter, treeOf } from './checked-copies.mjs';

/** Mark of a restore that did not finish. An estate does not start on such a folder. */
const unfinishedRestoreMarkPath = (/** @type {string} */ dataDir) => join(dataDir, 'restoring-backup.json');
/** Mark of a folder whose directory needs another history before the services start. */
const restoredMarkPath = (/** @type {string} */ dataDir) => join(dataDir, 'restored-backup.json');

/**
 * Restores a backup. Resolves to its record. Errors: an incomplete or damaged backup, a path that no backup contains, a
 * data folder with content.
 * @param {string} backup
 * @param {string} dataDir
 * @param {Report} [report]
 * @returns {Promise<BackupRecord>}
 */
export async function restoreBackup(backup, dataDir, report = () => {}) {
  const { record, sums } = readBackup(backup);
  const { files, folders } = treeOf(backup);
  refuseForeignPaths(backup, { folders, files: files.map(({ path }) => path), wanted: sums.map(([, path]) => path) });
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0)
    throw new Error(`${dataDir} is not empty: a backup is restored into an empty data folder only`);
  // As `npm start` makes it: root's estate runs PostgreSQL as another user, who must be able to enter the folder.
  mkdirSync(dataDir, { recursive: true });
  writeRecord(unfinishedRestoreMarkPath(dataDir), { from: backup });
  const user = postgresUser();
  const home = createPostgresFolder(dataDir, user);
  /** @param {string} path */
  const placeOf = (path) => {
    const [part = '', ...rest] = path.split('/');
    if (part === 'postgres') return join(home, 'data', ...rest);
    if (part === 'state') return join(dataDir, ...rest);
    return join(dataDir, PARTS[/** @type {keyof typeof PARTS} */ (part)], ...rest);
  };
  const meter = new CopyProgressMeter(report);
  meter.expect(files);
  for (const path of folders.filter((name) => name !== 'state'))
    mkdirSync(placeOf(path), { recursive: true, mode: 0o700 });
  const copies = sums.map(([sha256, path]) => ({ from: join(backup, path), to: placeOf(path), sha256 }));
  await copyFiles(copies, meter.count);
  writeFileSync(join(home, 'initialized'), `${record.cluster}\n`);
  giveFolderTo(home, user);
  writeRecord(restoredMarkPath(dataDir), { takenAt: record.takenAt });
  rmSync(unfinishedRestoreMarkPath(dataDir));
  return record;
}

/**
 * Reads and checks the record of a backup and its digests. `sums` are pairs of digest and path.
 * @param {string} backup
 * @returns {{ record: BackupRecord, sums: [string, string][] }}
 */
function readBackup(backup) {
  /** @type {BackupRecord | null} */
  const record = readRecord(join(backup, 'backup.json'));
  if (!record) throw new Error(`${backup} holds no complete backup`);
  if (record.format !== BACKUP_FORMAT) throw new Error(`${backup} has format ${record.format}, which is not known`);
  const text = readFileSync(join(backup, 'SHA256SUMS'), 'utf8');
  if (digestOf(text) !== record.sums) throw new Error(`${join(backup, 'SHA256SUMS')} is damaged`);
  const sums = [...text.matchAll(/^([0-9a-f]{64}) {2}(.+)$/gm)].map(
    ([, digest = '', path = '']) => /** @type {[string, string]} */ ([digest, path]),
  );
  return { record, sums };
}

/**
 * Refuses a backup whose paths would be restored outside of their place in the data folder. The tree contains regular
 * files in real folders only, so a wanted path with a symbolic link, or a segment that is empty, `.` or `..`, is not in it.
 * Errors: a plain Error with the first such path.
 * @param {string} backup
 * @param {{ folders: string[], files: string[], wanted: string[] }} paths  relative to the backup
 */
function refuseForeignPaths(backup, { folders, files, wanted }) {
  const parts = ['postgres', ...Object.keys(PARTS)];
  const known = new Set(['state', ...parts, ...STATE_FILES.map((name) => `state/${name}`)]);
  const isForeign = (/** @type {string} */ path) =>
    !known.has(path) && !parts.some((part) => path.startsWith(`${part}/`));
  const present = new Set(files);
  for (const path of wanted) if (!present.has(path)) throw new Error(`${backup} has no regular file ${path}`);
  const foreign = [...folders, ...wanted].find(isForeign);
  if (foreign !== undefined) throw new Error(`${backup} contains ${foreign}, which is no part of a backup`);
}

/**
 * Gives the folder of PostgreSQL to the user that runs it.
 * @param {string} home
 * @param {import('../servers/postgres-files.mjs').User | null} user
 */
function giveFolderTo(home, user) {
  chmodSync(join(home, 'data'), 0o700);
  if (!user) return;
  const { files, folders } = treeOf(home);
  for (const path of ['', ...folders, ...files.map((file) => file.path)])
    chownSync(join(home, path), user.uid, user.gid);
}

/**
 * Refuses a folder on which a restore was interrupted. Errors: a plain Error.
 * @param {string} dataDir
 */
export function refuseUnfinishedRestore(dataDir) {
  if (existsSync(unfinishedRestoreMarkPath(dataDir)))
    throw new Error(`A restore of a backup into ${dataDir} was interrupted: delete the folder and restore again`);
}

/**
 * Runs `begin` once after a restore, before the services start. Resolves to whether it ran.
 * @param {string} dataDir
 * @param {() => Promise<void>} begin
 */
export async function runOnceAfterRestore(dataDir, begin) {
  if (!existsSync(restoredMarkPath(dataDir))) return false;
  await begin();
  rmSync(restoredMarkPath(dataDir));
  return true;
}

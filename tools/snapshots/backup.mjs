/**
 * Backup of a running estate: databases, streams with their consumers, repositories, files of packages, caught e-mails and
 * secrets, all of one moment. Large parts are copied while the estate works. It is paused only while streams are copied,
 * hard links to repositories and files are made, and PostgreSQL ends its backup. Source: ADR 0210.
 *
 *   <backup>/backup.json   written last: format, moment, numbers, and the digest of SHA256SUMS
 *   <backup>/SHA256SUMS    digests of all files except these two, as `sha256sum --check` reads them
 *   <backup>/postgres/ streams/ repositories/ blobs/ mail/ state/
 *
 * @typedef {{ format: 1, takenAt: string, pausedMs: number, cluster: string, files: number, bytes: number, sums: string, omitted: string[] }} BackupRecord
 * @typedef {Omit<import('./snapshots.mjs').SnapshotEstate, 'postgres'> & {
 *   postgres: import('../servers/postgres.mjs').PostgresServer | null, snapshots: import('./snapshots.mjs').Snapshots,
 *   env: import('../processes/environment.mjs').Environment }} BackupEstate
 * @import { Report } from './checked-copies.mjs'
 */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { isGiven } from '../processes/environment.mjs';
import { writeRecord } from '../processes/process-records.mjs';
import { copyFiles, CopyProgressMeter, treeOf } from './checked-copies.mjs';
import { PostgresBackup } from './postgres-backup.mjs';
import { copyFolder, linkMailFiles, linkFolder, CommandRefused } from './snapshots.mjs';

export const BACKUP_FORMAT = 1;
/** Records and secrets of a data folder that belong to its state. */
export const STATE_FILES = ['secrets.json', 'migrated.json', 'bootstrapped.json'];
/** Parts of a data folder and their places in it. */
export const PARTS = { streams: 'nats/store', repositories: 'repositories', blobs: 'blobs', mail: 'mail' };
/** Places that the operator named, which are backed up by other means. */
const OUTSIDE = { blobs: 'BLOBS_URL', repositories: 'ROOKERY_REPOSITORIES' };

/**
 * Takes a backup. Resolves to its record. Errors: Refused, for a folder with content or servers that are not embedded. The
 * folder of a backup that failed has no `backup.json`.
 * @param {BackupEstate} estate
 * @param {string} folder  absolute path
 * @param {Report} [report]
 * @returns {Promise<BackupRecord>}
 */
export async function takeBackup(estate, folder, report = () => {}) {
  const { postgres, nats } = estate;
  if (!postgres || !nats || !estate.snapshots.isPossible)
    throw new CommandRefused('Only an estate with embedded PostgreSQL and NATS is backed up by this command');
  if (!isAbsolute(folder)) throw new CommandRefused('The folder of a backup is an absolute path');
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new CommandRefused(`${folder} is not empty`);
  mkdirSync(join(folder, 'postgres/pg_wal'), { recursive: true, mode: 0o700 });
  const stage = join(estate.dataDir, 'run', `backup-${randomBytes(4).toString('hex')}`);
  const database = new PostgresBackup(postgres, join(folder, 'postgres'));
  try {
    return await copyBackupFiles(estate, { folder, stage, database, nats, report });
  } finally {
    await database.close();
    rmSync(stage, { recursive: true, force: true });
  }
}

/** Longest wait for a busy process to pause; after it the process is ended and started again. Units: ms. */
const PAUSE_LIMIT = { withinMs: 10_000 };

/**
 * @param {BackupEstate} estate
 * @param {{ folder: string, stage: string, database: PostgresBackup, report: Report,
 *   nats: NonNullable<BackupEstate['nats']> }} options
 */
async function copyBackupFiles(estate, { folder, stage, database, nats, report }) {
  const meter = new CopyProgressMeter(report);
  await database.begin();
  const live = database.tree();
  meter.expect(live.files);
  for (const path of live.folders) mkdirSync(join(folder, 'postgres', path), { recursive: true, mode: 0o700 });
  const digests = await copyFiles(
    live.files.map(({ path }) => ({
      from: join(database.server.place.data, path),
      to: join(folder, 'postgres', path),
    })),
    meter.count,
  );
  const omitted = Object.entries(OUTSIDE).flatMap(([part, name]) => (isGiven(estate.env, name) ? [part] : []));
  let takenAt = '';
  const pausedAt = performance.now();
  await estate.atRest(async () => {
    await nats.stop();
    try {
      await stageDataFolderParts(estate, stage, omitted);
      await database.end();
      takenAt = new Date().toISOString();
    } finally {
      await nats.start();
    }
  }, PAUSE_LIMIT);
  const pausedMs = Math.round(performance.now() - pausedAt);
  for (const [path, digest] of await database.copyLog(meter.count)) digests.set(path, digest);
  const staged = treeOf(stage);
  meter.expect(staged.files);
  for (const path of staged.folders) mkdirSync(join(folder, path), { recursive: true, mode: 0o700 });
  const copies = staged.files.map(({ path }) => ({ from: join(stage, path), to: join(folder, path) }));
  const label = join(folder, 'postgres/backup_label');
  for (const [path, digest] of await copyFiles(copies, meter.count)) digests.set(path, digest);
  return writeBackupRecordAndDigests(folder, digests.set(label, digestOf(readFileSync(label))), {
    takenAt,
    pausedMs,
    cluster: estate.cluster,
    omitted,
  });
}

/**
 * Puts the parts of the data folder that are files aside. Streams change in place, so they are copied. Git and the blob
 * store never change a file in place, so hard links keep the content of this moment.
 * @param {BackupEstate} estate
 * @param {string} stage
 * @param {string[]} omitted
 */
async function stageDataFolderParts({ dataDir, mailDir, env }, stage, omitted) {
  mkdirSync(join(stage, 'state'), { recursive: true, mode: 0o700 });
  await copyFolder(join(dataDir, PARTS.streams), join(stage, 'streams'));
  for (const part of /** @type {const} */ (['repositories', 'blobs']))
    if (!omitted.includes(part)) linkFolder(join(dataDir, PARTS[part]), join(stage, part));
  if (!isGiven(env, 'SMTP_URL')) linkMailFiles(mailDir, join(stage, 'mail'));
  await copyFiles(
    STATE_FILES.map((name) => ({ from: join(dataDir, name), to: join(stage, 'state', name) })),
    () => {},
  );
}

/**
 * @param {string} folder
 * @param {Map<string, string>} digests
 * @param {Pick<BackupRecord, 'takenAt' | 'pausedMs' | 'cluster' | 'omitted'>} facts
 * @returns {Promise<BackupRecord>}
 */
async function writeBackupRecordAndDigests(folder, digests, facts) {
  const { files } = treeOf(folder);
  const lines = [...digests].map(([path, digest]) => `${digest}  ${relative(folder, path)}\n`).sort();
  if (lines.length !== files.length)
    throw new Error(`the backup has ${files.length} files and ${lines.length} digests`);
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''), { mode: 0o600 });
  // The record promises a complete backup, so all files are on the disk before it is written.
  await promisify(execFile)('sync', process.platform === 'linux' ? ['-f', folder] : []);
  /** @type {BackupRecord} */
  const record = {
    format: BACKUP_FORMAT,
    ...facts,
    files: files.length,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    sums: digestOf(lines.join('')),
  };
  writeRecord(join(folder, 'backup.json'), record);
  return record;
}

/** @param {string | Buffer} content */
export function digestOf(content) {
  return createHash('sha256').update(content).digest('hex');
}

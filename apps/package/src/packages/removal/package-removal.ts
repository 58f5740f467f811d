import { Inject, Injectable } from '@nestjs/common';
import { packageDeleted } from '@rookery/contracts';
import { Jobs } from '@rookery/jobs';
import type { Clock } from '@rookery/kernel';
import { CLOCK, NotFound } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { LISTED_STATUSES, literalListSql } from '../package-types';
import type { PackageType } from '../package-types';
import { raiseExistingPackageIndexGeneration } from '../indexing/package-index';
import type { PackageNameKey } from '../indexing/package-index';
import { destroyPackages, measureStorage } from '../package-jobs';

/** A package that is about to be deleted, locked. */
export interface LockedPackage {
  readonly id: number;
  readonly project_id: number;
  readonly name: string;
  readonly package_type: PackageType;
  readonly updated_at: Date;
}

/** Conditions of a deletion. `check` may refuse the locked package, and `unchanged` a row that changed later. */
export interface Deletion {
  readonly projectId: number;
  readonly actorId: number | null;
  check(found: LockedPackage, tx: Tx): Promise<void> | void;
  /** Receives the time of the last change of the deleted package or file. */
  unchanged?(updatedAt: Date): void;
}

const LOCK = statement<{ id: number; project: number }, LockedPackage>(
  'packages_lock',
  `select id, project_id, name, package_type, updated_at from packages
   where id = :id::bigint and project_id = :project::bigint and status in (${literalListSql([...LISTED_STATUSES, 'hidden'])})
   for update`,
);
const MARK_PACKAGE = statement<{ id: number; now: Date }, never>(
  'packages_mark_deleted',
  `with files as (update package_files set is_pending_destruction = true, updated_at = :now::timestamptz
     where package_id = :id::bigint and not is_pending_destruction)
   update packages set status = 'pending_destruction', updated_at = :now::timestamptz where id = :id::bigint`,
);
const LOCK_FILE = statement<{ id: number; package: number }, { updated_at: Date }>(
  'package_files_lock',
  `select updated_at from package_files
   where id = :id::bigint and package_id = :package::bigint and not is_pending_destruction for update`,
);
const MARK_FILES = statement<{ ids: readonly number[]; now: Date }, never>(
  'package_files_mark_several_deleted',
  `update package_files set is_pending_destruction = true, updated_at = :now::timestamptz
   where id = any(:ids::bigint[]) and not is_pending_destruction`,
);
const HAS_FILES = statement<{ package: number }, { has_files: boolean }>(
  'package_files_left',
  `select exists (select 1 from package_files
     where package_id = :package::bigint and not is_pending_destruction) as has_files`,
);

const MARK_ALL = statement<{ ids: readonly number[]; now: Date }, { id: number }>(
  'packages_mark_all_deleted',
  `with files as (update package_files set is_pending_destruction = true, updated_at = :now::timestamptz
     where package_id = any(:ids::bigint[]) and not is_pending_destruction)
   update packages set status = 'pending_destruction', updated_at = :now::timestamptz
   where id = any(:ids::bigint[]) and status <> 'pending_destruction' returning id`,
);

/**
 * Deletes packages and files. They disappear from every answer at once; a job removes the rows, and the sweep of the blob
 * store the contents. Source: reference packages-and-admin 3.3, 3.5.
 */
@Injectable()
export class PackageRemoval {
  constructor(
    private readonly work: Work,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly jobs: Jobs,
  ) {}

  /** Errors: NotFound; those of `check` and `unchanged`. */
  removePackage(id: number, deletion: Deletion): Promise<void> {
    return this.work.run(async (tx) => {
      const found = await lockAndCheckPackage(tx, id, deletion);
      deletion.unchanged?.(found.updated_at);
      await this.markPackageDeleted(tx, found, deletion);
    });
  }

  /** Deletes a file, and its package with the last file. Errors: NotFound; those of `check` and `unchanged`. */
  removeFile(id: number, packageId: number, deletion: Deletion): Promise<void> {
    return this.work.run(async (tx) => {
      const found = await lockAndCheckPackage(tx, packageId, deletion);
      const [file] = await tx.run(LOCK_FILE, { id, package: packageId });
      if (!file) throw new NotFound();
      deletion.unchanged?.(file.updated_at);
      await tx.run(MARK_FILES, { ids: [id], now: this.clock.now() });
      const [left] = await tx.run(HAS_FILES, { package: packageId });
      if (!left!.has_files) return this.markPackageDeleted(tx, found, deletion);
      await raiseExistingPackageIndexGeneration(tx, toPackageNameKey(found), this.clock.now());
      await this.requestCleanupJobs(tx, deletion.projectId);
    });
  }

  /** Deletes files of packages that the caller has locked; the packages stay. */
  async removeFiles(tx: Tx, projectId: number, ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    await tx.run(MARK_FILES, { ids, now: this.clock.now() });
    await this.requestCleanupJobs(tx, projectId);
  }

  /** Deletes versions of one package, which the caller has locked by its generation. */
  async removeVersions(tx: Tx, named: PackageNameKey, ids: readonly number[], actorId: number | null): Promise<void> {
    for (const { id } of await tx.run(MARK_ALL, { ids, now: this.clock.now() })) {
      const data = { package_id: id, project_id: named.projectId, package_type: named.type };
      tx.emit(packageDeleted.of({ aggregateId: id, actorId, data }));
    }
    await this.requestCleanupJobs(tx, named.projectId);
  }

  private async markPackageDeleted(tx: Tx, found: LockedPackage, { actorId }: Deletion): Promise<void> {
    await raiseExistingPackageIndexGeneration(tx, toPackageNameKey(found), this.clock.now());
    await tx.run(MARK_PACKAGE, { id: found.id, now: this.clock.now() });
    const data = { package_id: found.id, project_id: found.project_id, package_type: found.package_type };
    tx.emit(packageDeleted.of({ aggregateId: found.id, actorId, data }));
    await this.requestCleanupJobs(tx, found.project_id);
  }

  private async requestCleanupJobs(tx: Tx, projectId: number): Promise<void> {
    await this.jobs.enqueue(tx, destroyPackages, {});
    await this.jobs.enqueue(tx, measureStorage, { project_id: projectId });
  }
}

async function lockAndCheckPackage(tx: Tx, id: number, { projectId, check }: Deletion): Promise<LockedPackage> {
  const [found] = await tx.run(LOCK, { id, project: projectId });
  if (!found) throw new NotFound();
  await check(found, tx);
  return found;
}

function toPackageNameKey({ project_id: projectId, package_type: type, name }: LockedPackage): PackageNameKey {
  return { projectId, type, name };
}

import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { packagePublished } from '@rookery/contracts';
import { Jobs } from '@rookery/jobs';
import type { Clock } from '@rookery/kernel';
import { CLOCK, Unavailable } from '@rookery/kernel';
import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { PackageFileRow } from '../listing/packages.queries';
import type { StoredFile } from '../package-files';
import { destroyPackages, measureStorage } from '../package-jobs';
import { nameKeyOf } from '../package-types';
import type { PackageStatus, PackageType } from '../package-types';
import { StorageQuota } from './storage-quota';

/** A package to publish. `version` is null for a package without versions. */
export interface PublishedPackage {
  readonly project: ProjectScope;
  readonly creatorId: number | null;
  readonly type: PackageType;
  readonly name: string;
  readonly version: string | null;
  /** Form of the name by which packages are equal. Absent: that of `nameKeyOf`. */
  readonly nameKey?: string;
  /** Sets the status of a new or existing package; an omitted status keeps it. */
  readonly status?: Extract<PackageStatus, 'default' | 'hidden'> | undefined;
}

/** An uploaded file, ready to be listed. */
export interface PublishedFile extends PublishedPackage {
  readonly fileName: string;
  readonly content: StoredFile;
  /** Deletes older files with the same name. Without it they stay, and downloads give the newest. */
  readonly isReplacing?: boolean;
  /** Credential that may repeat the upload until its answer is known to be written. None without it. */
  readonly repeatableBy?: number | null;
}

interface ExistingPackage {
  readonly id: number;
  readonly status: PackageStatus;
}

const KEY = `project_id = :project::bigint and package_type = :type and name_key = :key
  and coalesce(version, '') = coalesce(:version::text, '') and status <> 'pending_destruction'`;

const CREATE = statement<
  {
    project: number;
    type: string;
    name: string;
    key: string;
    version: string | null;
    status: string;
    creator: number | null;
    now: Date;
  },
  ExistingPackage
>(
  'packages_create',
  `insert into packages (project_id, package_type, name, name_key, version, status, creator_id, created_at, updated_at)
   values (:project::bigint, :type, :name, :key, :version::text, :status, :creator::bigint, :now::timestamptz, :now::timestamptz)
   on conflict (project_id, package_type, name_key, coalesce(version, '')) where status <> 'pending_destruction'
   do nothing returning id, status`,
);
/** The lock waits for a deletion that has begun; a deleted package is then not found. */
const FIND = statement<{ project: number; type: string; key: string; version: string | null }, ExistingPackage>(
  'packages_find',
  `select id, status from packages where ${KEY} for share`,
);
const SET_STATUS = statement<{ id: number; status: string; now: Date }, never>(
  'packages_set_status',
  `update packages set status = :status, updated_at = :now::timestamptz where id = :id::bigint`,
);
const ADD_FILE = statement<
  {
    package: number;
    project: number;
    name: string;
    size: number;
    sha256: string;
    sha1: string;
    md5: string;
    token: number | null;
    now: Date;
  },
  PackageFileRow
>(
  'package_files_add',
  `insert into package_files (package_id, project_id, file_name, size, sha256, sha1, md5, unanswered_token_id, created_at,
     updated_at)
   values (:package::bigint, :project::bigint, :name, :size::bigint, :sha256, :sha1, :md5, :token::bigint,
     :now::timestamptz, :now::timestamptz)
   returning id, package_id, file_name, size, sha256, sha1, md5, created_at, updated_at`,
);

/** Deletes the older files with the name of a file. */
const REPLACE = statement<{ id: number; package: number; name: string; now: Date }, { id: number }>(
  'package_files_replace',
  `update package_files set is_pending_destruction = true, updated_at = :now::timestamptz
   where id in (
     select id from package_files
     where package_id = :package::bigint and md5(file_name) = md5(:name) and file_name = :name and id < :id::bigint
       and not is_pending_destruction
     order by id for update)
   returning id`,
);

/** Adds uploaded files to packages. Source: reference packages-and-admin 4. */
@Injectable()
export class PackagePublishing {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly jobs: Jobs,
    private readonly quota: StorageQuota,
  ) {}

  /**
   * Adds a file to a package, which the first file creates. Errors: Forbidden beyond a limit of storage; Unavailable if the
   * package is deleted again and again at the same time.
   */
  async publishFile(tx: Tx, file: PublishedFile): Promise<PackageFileRow> {
    await this.quota.enforceQuota(tx, file.project, file.content.size);
    const found = await this.findOrCreatePackage(tx, file);
    const now = this.clock.now();
    if (file.status !== undefined && file.status !== found.status && canUploadsChangeStatus(found.status))
      await tx.run(SET_STATUS, { id: found.id, status: file.status, now });
    const { size, sha256, sha1, md5 } = file.content;
    const [row] = await tx.run(ADD_FILE, {
      ...{ package: found.id, project: file.project.id, name: file.fileName },
      ...{ size, sha256, sha1, md5, token: file.repeatableBy ?? null, now },
    });
    if (file.isReplacing) await this.replaceOlderFiles(tx, row!, now);
    await this.jobs.enqueue(tx, measureStorage, { project_id: file.project.id });
    return row!;
  }

  /** Returns the id of a package whose files are not stored, and creates it first if it does not exist. Errors: Unavailable. */
  async publishWithoutFile(tx: Tx, named: PublishedPackage): Promise<number> {
    return (await this.findOrCreatePackage(tx, named)).id;
  }

  private async replaceOlderFiles(tx: Tx, { id, package_id, file_name }: PackageFileRow, now: Date): Promise<void> {
    const replaced = await tx.run(REPLACE, { id, package: package_id, name: file_name, now });
    if (replaced.length > 0) await this.jobs.enqueue(tx, destroyPackages, {});
  }

  private async findOrCreatePackage(tx: Tx, file: PublishedPackage): Promise<ExistingPackage> {
    const { type, name, version, creatorId: creator } = file;
    const project = file.project.id;
    const key = { project, type, key: file.nameKey ?? nameKeyOf(type, name), version };
    // A concurrent deletion can make both miss once.
    for (let attempt = 0; attempt < 3; attempt++) {
      const status = file.status ?? 'default';
      const [created] = await tx.run(CREATE, { ...key, name, status, creator, now: this.clock.now() });
      if (created) {
        const data = { package_id: created.id, project_id: project, package_type: type, creator_id: creator };
        tx.emit(packagePublished.of({ aggregateId: created.id, actorId: creator, data }));
        return created;
      }
      const [existing] = await tx.run(FIND, key);
      if (existing) return existing;
    }
    throw new Unavailable('database busy');
  }
}

/** Uploads change only between these two statuses. */
function canUploadsChangeStatus(status: PackageStatus): boolean {
  return status === 'default' || status === 'hidden';
}

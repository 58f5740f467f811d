import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import type { SqlReader } from '@rookery/persistence';
import { nameKeyOf } from '../../packages/package-types';
import type { EarlierUpload } from '../../packages/publishing/upload-answer-tracker';
import { PackageRemoval } from '../../packages/removal/package-removal';
import { PackageProtections } from '../../protection-rules/protections';
import { parseNugetVersion } from './nuget-version';

/** A stored version. `file_id` and the fields of `EarlierUpload` are null without a file of this name. */
export interface ExistingVersion extends EarlierUpload {
  readonly package_id: number;
  readonly name: string;
  readonly version: string;
  readonly file_id: number | null;
}

export type VersionKey = { readonly project: number; readonly name: string; readonly version: string };

const FIND = statement<VersionKey & { file: string }, ExistingVersion>(
  'nuget_find_version',
  `select p.id as package_id, p.name, p.version, f.id as file_id, f.sha256, f.unanswered_token_id
   from nuget_versions v
   join packages p on p.id = v.package_id and p.status <> 'pending_destruction'
   left join package_files f on f.package_id = p.id and md5(f.file_name) = md5(:file) and f.file_name = :file
     and not f.is_pending_destruction
   where v.project_id = :project::bigint and v.name_key = :name and v.version_key = :version
   order by p.id, f.id desc limit 1`,
);
/** Removes versions of NuGet packages. */
@Injectable()
export class NugetRemovals {
  constructor(
    private readonly database: Database,
    private readonly removal: PackageRemoval,
    private readonly protections: PackageProtections,
  ) {}

  /** Errors: NotFound; Forbidden for a name that a rule protects. */
  async removeVersion(project: ProjectScope, viewer: SignedInViewer, name: string, version: string): Promise<void> {
    const key = parseNugetVersion(version)?.key;
    const asked = { project: project.id, name: nameKeyOf('nuget', name), version: key ?? '' };
    const found = key === undefined ? undefined : await this.findVersion(this.database, asked, '');
    if (!found) throw new NotFound('Package');
    await this.removal.removePackage(found.package_id, {
      projectId: project.id,
      actorId: viewer.userId,
      check: (row) => this.protections.refuseDelete(project, viewer, 'nuget', row.name),
    });
  }

  /** The version, with its newest file of this name. */
  async findVersion(reads: SqlReader, key: VersionKey, file: string): Promise<ExistingVersion | undefined> {
    return (await reads.run(FIND, { ...key, file }))[0];
  }
}

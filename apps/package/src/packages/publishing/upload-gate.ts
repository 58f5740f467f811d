import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { InstanceSettings } from '@rookery/instance';
import type { PlanLimitName } from '@rookery/instance';
import { Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { PackageProtections } from '../../protection-rules/protections';
import { MAX_FILE_BYTES } from '../package-files';
import { StorageQuota } from './storage-quota';

/** Size limits of files, by the type of their package. */
const FILE_LIMITS = {
  conan: 'conan_max_file_size',
  generic: 'generic_packages_max_file_size',
  helm: 'helm_max_file_size',
  maven: 'maven_max_file_size',
  npm: 'npm_max_file_size',
  nuget: 'nuget_max_file_size',
  pypi: 'pypi_max_file_size',
  terraform_module: 'terraform_module_max_file_size',
} as const satisfies Readonly<Record<string, PlanLimitName>>;
type UploadType = keyof typeof FILE_LIMITS;

/** Decides about an upload before its body is read. */
@Injectable()
export class PackageUploadGate {
  constructor(
    private readonly instance: InstanceSettings,
    private readonly protections: PackageProtections,
    private readonly quota: StorageQuota,
  ) {}

  /** Returns the size limit of a file by the plan of the project. Units: bytes. */
  fileLimit({ namespace }: ProjectScope, type: UploadType): number {
    return this.instance.planLimit(FILE_LIMITS[type], namespace.plan) || MAX_FILE_BYTES;
  }

  /**
   * Returns the size limit of an upload whose body is the file. `declaredSize` is null if unknown. Units: bytes.
   * Errors: Forbidden for a protected name and beyond a limit of storage; Refused `File is too large`.
   */
  async admitUpload(
    project: ProjectScope,
    viewer: SignedInViewer,
    { type, name }: { readonly type: UploadType; readonly name: string },
    declaredSize: number | null,
  ): Promise<number> {
    await this.protections.refusePush(project, viewer, type, name);
    const limit = this.fileLimit(project, type);
    if (declaredSize !== null && declaredSize > limit) throw new Refused('File is too large');
    await this.refuseBeyondStorage(project, declaredSize ?? 0);
    return limit;
  }

  /** Units: bytes that the upload adds at least. Errors: Forbidden beyond a limit of storage. */
  refuseBeyondStorage(project: ProjectScope, size: number): Promise<void> {
    return this.quota.admitUpload(project, size);
  }
}

import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { PackageFiles } from '../../packages/package-files';
import { DuplicateFilePolicy } from '../../packages/publishing/duplicate-files';
import { PackageUploadGate } from '../../packages/publishing/upload-gate';
import { TerraformReleases } from './terraform-releases';
import { moduleName } from './terraform.queries';
import type { TerraformModuleName } from './terraform.queries';

/** A version of a module, as its address names it. */
export interface TerraformVersion extends TerraformModuleName {
  readonly version: string;
}

/** An archive that arrives. `declaredSize` is null if unknown. Units: bytes. */
export interface TerraformUpload {
  readonly body: Readable & { readonly declaredSize: number | null };
  /** Resolves with whether the client was sent the whole answer. */
  readonly answered: Promise<boolean>;
}

/** Uploads of Terraform modules. Source: reference packages-and-admin 4.10. */
@Injectable()
export class TerraformService {
  constructor(
    private readonly gate: PackageUploadGate,
    private readonly duplicates: DuplicateFilePolicy,
    private readonly files: PackageFiles,
    private readonly releases: TerraformReleases,
  ) {}

  /**
   * Publishes a version. The content of the archive is not read. Errors: Forbidden for a version that exists, a name that
   * another project has, a protected name and beyond a limit of storage; Refused for a file that is too large; those of
   * the body.
   */
  async uploadModule(
    project: ProjectScope,
    viewer: SignedInViewer,
    { version, ...module }: TerraformVersion,
    { body, answered }: TerraformUpload,
  ): Promise<void> {
    const name = moduleName(module);
    const type = 'terraform_module' as const;
    const maxBytes = await this.gate.admitUpload(project, viewer, { type, name }, body.declaredSize);
    const isShareable = await this.duplicates.areDuplicatesAllowed(project, { type, name, version });
    const release = { project, viewer, name, version, isShareable };
    await this.releases.refuseEarly(release);
    const content = await this.files.storeFile(body, maxBytes);
    await this.releases.publishRelease(release, content, answered);
  }
}

import { Flag, Text } from '@rookery/api-v4';

const NAMESPACE = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const NAME = /^[-a-z0-9]+$/;
/** SemVer without a leading `v`. */
const VERSION =
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/** A module of a project. Source: reference packages-and-admin 4.10. */
class IdentifyTerraformModuleOfProject {
  @Text({ in: 'path', max: 127, pattern: NAME, about: 'Name of the module.' }) name: string;
  @Text({ in: 'path', max: 127, pattern: NAME, about: 'System that the module is for, such as `aws`.' }) system: string;
}

export class UploadTerraformModule extends IdentifyTerraformModuleOfProject {
  @Text({ in: 'path', max: 255, pattern: VERSION, about: 'Version (SemVer) without `v`.' }) version: string;
}

export class ShowLatestTerraformModule extends IdentifyTerraformModuleOfProject {
  @Flag({ optional: true, about: 'Answers 204 with the address of the archive.' }) 'terraform-get'?: boolean;
}

export class ShowTerraformModule extends ShowLatestTerraformModule {
  @Text({ in: 'path', max: 255, pattern: VERSION, about: 'Version (SemVer) without `v`.' }) version: string;
}

export class IdentifyTerraformModule extends IdentifyTerraformModuleOfProject {
  @Text({ in: 'path', max: 255, pattern: NAMESPACE, about: 'Path of the top-level group or user.' }) namespace: string;
}

export class IdentifyTerraformVersion extends IdentifyTerraformModule {
  @Text({ in: 'path', max: 255, pattern: VERSION, about: 'Version (SemVer) without `v`.' }) version: string;
}

export class ShowTerraformFile extends IdentifyTerraformVersion {
  @Text({ optional: true, max: 200, about: 'Right to this file, from the address in `X-Terraform-Get`.' })
  token?: string;
}

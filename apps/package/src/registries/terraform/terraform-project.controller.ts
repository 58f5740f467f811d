import { Controller } from '@nestjs/common';
import {
  AlternativeAnswer,
  createdMessage,
  Endpoint,
  orNoContentWithHeaders,
  streamedFile,
  streamedBody,
} from '@rookery/api-v4';
import type { Call, FileAnswer, ProjectScope, StreamedCall } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { packageDownload } from '../../packages/package-download.presenter';
import { MAX_FILE_BYTES, PackageFiles } from '../../packages/package-files';
import { basicRegistry, publishesPackages, readsPackages } from '../../packages/packages.permission';
import { GET_HEADER } from './terraform-instance.controller';
import { ShowLatestTerraformModule, ShowTerraformModule, UploadTerraformModule } from './terraform.dto';
import { TerraformQueries } from './terraform.queries';
import { TerraformService } from './terraform.service';

const MODULE = '/projects/:id/packages/terraform/modules/:name/:system';
const registry = { ...basicRegistry, source: 'reference packages-and-admin 4.10' } as const;
const reads = {
  ...registry,
  may: readsPackages,
  answers: orNoContentWithHeaders(streamedFile(), GET_HEADER),
  fails: [404],
} as const;

@Controller()
export class TerraformProjectController {
  constructor(
    private readonly uploads: TerraformService,
    private readonly modules: TerraformQueries,
    private readonly files: PackageFiles,
    private readonly links: Links,
  ) {}

  @Endpoint('GET', MODULE, {
    ...reads,
    about: 'Downloads the latest version of a Terraform module of a project.',
    params: ShowLatestTerraformModule,
  })
  async downloadLatest({ within, params }: Call<ShowLatestTerraformModule, ProjectScope>) {
    return this.archiveAnswer(within, params, await this.modules.latestOfProject(within.id, params));
  }

  @Endpoint('GET', `${MODULE}/:version`, {
    ...reads,
    about: 'Downloads a version of a Terraform module of a project.',
    params: ShowTerraformModule,
  })
  download({ within, params }: Call<ShowTerraformModule, ProjectScope>) {
    return this.archiveAnswer(within, params, params.version);
  }

  @Endpoint('PUT', `${MODULE}/:version/file`, {
    ...registry,
    may: publishesPackages,
    about: 'Publishes a version of a Terraform module.',
    params: UploadTerraformModule,
    body: streamedBody({ maxBytes: MAX_FILE_BYTES }),
    answers: createdMessage(),
    fails: [400],
  })
  async upload(call: StreamedCall<UploadTerraformModule, ProjectScope, SignedInViewer>): Promise<void> {
    const { name, system, version } = call.params;
    await this.uploads.uploadModule(call.within, call.viewer, { name, system, version }, call);
  }

  /** The archive, or its address for clients that ask for it. */
  private async archiveAnswer(
    { id }: ProjectScope,
    params: ShowLatestTerraformModule,
    version: string,
  ): Promise<FileAnswer | AlternativeAnswer> {
    const file = await this.modules.fileOfProject(id, params, version);
    if (params['terraform-get'] !== true) return packageDownload(this.files, file, file.file_name);
    const path = [params.name, params.system, version].map(encodeURIComponent).join('/');
    const url = this.links.apiUrl(`projects/${id}/packages/terraform/modules/${path}?archive=tgz`);
    return new AlternativeAnswer(null, { 'x-terraform-get': url });
  }
}

import { Controller } from '@nestjs/common';
import { anyone, Endpoint, noContentWithHeaders, json, redirect, streamedFile } from '@rookery/api-v4';
import type { AnswerHeaders, Call, FileAnswer } from '@rookery/api-v4';
import type { Viewer } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { packageDownload } from '../../packages/package-download.presenter';
import { PackageFiles } from '../../packages/package-files';
import { TerraformFileTokens } from './terraform-file-tokens';
import { challengeAnonymousIfNotFound, invalidCredential } from './terraform.permission';
import { IdentifyTerraformModule, IdentifyTerraformVersion, ShowTerraformFile } from './terraform.dto';
import { DETAILS, detailsDocument, DISCOVERY, latestRow, VERSIONS, versionsDocument } from './terraform.presenter';
import { noTerraformVersionRefusal, TerraformQueries } from './terraform.queries';
import type { TerraformAddress, TerraformVersionRow } from './terraform.queries';

const MODULES = '/packages/terraform/modules/v1';
const MODULE = `${MODULES}/:namespace/:name/:system`;
/** Statements leave out modules that the caller may not read. */
const reads = {
  source: 'reference packages-and-admin 4.10',
  may: anyone(),
  refusals: { hasReasonPhrase: true },
  fails: [401, 404],
} as const;
/** Address of an archive, which clients fetch without their credential. */
export const GET_HEADER = { 'x-terraform-get': 'Address of the archive.' } as const;

/** The module registry protocol of Terraform. */
@Controller()
export class TerraformInstanceController {
  constructor(
    private readonly modules: TerraformQueries,
    private readonly tokens: TerraformFileTokens,
    private readonly files: PackageFiles,
    private readonly links: Links,
  ) {}

  @Endpoint('GET', '//.well-known/terraform.json', {
    source: 'reference packages-and-admin 4.10',
    may: anyone(),
    about: 'Names the services that Terraform finds on this host.',
    answers: json<object>(DISCOVERY),
    tokenScopes: 'any',
  })
  discover(): object {
    return { 'modules.v1': this.registryPath('') };
  }

  @Endpoint('GET', `${MODULE}/versions`, {
    ...reads,
    about: 'Lists the versions of a Terraform module.',
    params: IdentifyTerraformModule,
    answers: json<object>(VERSIONS),
  })
  async listVersions({ params, viewer }: Call<IdentifyTerraformModule>): Promise<object> {
    const rows = await this.listReadableVersions(params, viewer);
    return versionsDocument(params, rows, this.projectUrl(latestRow(rows)));
  }

  @Endpoint('GET', MODULE, {
    ...reads,
    about: 'Describes the latest version of a Terraform module.',
    params: IdentifyTerraformModule,
    answers: json<object>(DETAILS),
  })
  async show({ params, viewer }: Call<IdentifyTerraformModule>): Promise<object> {
    const rows = await this.listReadableVersions(params, viewer);
    return this.toDetails(params, latestRow(rows), rows);
  }

  @Endpoint('GET', `${MODULE}/:version`, {
    ...reads,
    about: 'Describes a version of a Terraform module.',
    params: IdentifyTerraformVersion,
    answers: json<object>(DETAILS),
  })
  async showVersion({ params, viewer }: Call<IdentifyTerraformVersion>): Promise<object> {
    const rows = await this.listReadableVersions(params, viewer);
    const found = rows.find(({ version }) => version === params.version);
    if (!found) throw noTerraformVersionRefusal(params);
    return this.toDetails(params, found, rows);
  }

  @Endpoint('GET', `${MODULE}/download`, {
    ...reads,
    about: 'Redirects to the address of the latest version of a Terraform module.',
    params: IdentifyTerraformModule,
    answers: redirect(),
  })
  async redirectToLatest({ params, viewer }: Call<IdentifyTerraformModule>): Promise<string> {
    const { version } = latestRow(await this.listReadableVersions(params, viewer));
    return new URL(this.registryPath(moduleUrlPath(params, version, 'download')), this.links.apiUrl('')).href;
  }

  @Endpoint('GET', `${MODULE}/:version/download`, {
    ...reads,
    about:
      'Names the address of a version of a Terraform module. It can be read for five minutes without a credential.',
    params: IdentifyTerraformVersion,
    answers: noContentWithHeaders(GET_HEADER),
  })
  async locate({ params, viewer }: Call<IdentifyTerraformVersion>): Promise<AnswerHeaders> {
    const { id: fileId } = await challengeAnonymousIfNotFound(
      viewer,
      this.modules.findFile(params, params.version, viewer),
    );
    const path = this.registryPath(moduleUrlPath(params, params.version, 'file'));
    return { 'x-terraform-get': `${path}?token=${this.tokens.createToken({ fileId, viewer })}&archive=tgz` };
  }

  @Endpoint('GET', `${MODULE}/:version/file`, {
    ...reads,
    about: 'Downloads a version of a Terraform module.',
    params: ShowTerraformFile,
    answers: streamedFile(),
  })
  async download({ params, viewer }: Call<ShowTerraformFile>): Promise<FileAnswer> {
    const right = params.token === undefined ? null : this.requireDownloadRight(params.token, viewer);
    const reader = right === null ? viewer : await this.modules.asNow(right.viewer);
    const file = await challengeAnonymousIfNotFound(reader, this.modules.findFile(params, params.version, reader));
    if (right !== null && right.fileId !== file.id) throw invalidCredential();
    return packageDownload(this.files, file, file.file_name);
  }

  private listReadableVersions(address: TerraformAddress, viewer: Viewer): Promise<readonly TerraformVersionRow[]> {
    return challengeAnonymousIfNotFound(viewer, this.modules.listVersions(address, viewer));
  }

  /** Reads the token of a download link. Errors: Unauthorized for one that gives the viewer no right to a file. */
  private requireDownloadRight(token: string, viewer: Viewer) {
    const right = this.tokens.readToken(token, viewer);
    if (right === null) throw invalidCredential();
    return right;
  }

  private toDetails(address: TerraformAddress, row: TerraformVersionRow, rows: readonly TerraformVersionRow[]): object {
    const versions = rows.map(({ version }) => version);
    return detailsDocument(address, row.version, { versions, source: this.projectUrl(row) });
  }

  private projectUrl({ project_path: path }: TerraformVersionRow): string {
    return this.links.webUrl(path);
  }

  /** URL path of a route, including the path of the external URL. */
  private registryPath(below: string): string {
    return new URL(this.links.apiUrl(`${MODULES.slice(1)}/${below}`)).pathname;
  }
}

function moduleUrlPath({ namespace, name, system }: TerraformAddress, version: string, lastSegment: string): string {
  return [namespace, name, system, version, lastSegment].map(encodeURIComponent).join('/');
}

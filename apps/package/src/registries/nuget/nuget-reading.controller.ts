import { Controller } from '@nestjs/common';
import { anyone, Endpoint, json, streamedFile } from '@rookery/api-v4';
import type { Call, FileAnswer, JsonText } from '@rookery/api-v4';
import { NotFound } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { packageDownload } from '../../packages/package-download.presenter';
import { PackageFiles } from '../../packages/package-files';
import { nameKeyOf } from '../../packages/package-types';
import { basicGroupRegistry, basicRegistry, readsPackages } from '../../packages/packages.permission';
import type { NugetPlace } from './nuget-places';
import { renderNugetFileName } from './nuget-releases';
import { parseNugetVersion } from './nuget-version';
import {
  ListNugetNames,
  ListNugetPackages,
  IdentifyNugetFile,
  IdentifyNugetVersion,
  ShowNugetPackage,
  ShowNugetService,
} from './nuget.dto';
import {
  AUTOCOMPLETE,
  CONTAINER,
  LEAF,
  registrationLeaf,
  REGISTRATION,
  registrationDocument,
  SEARCH,
  searchResults,
  SERVICE_INDEX,
  nugetServiceIndex,
} from './nuget.presenter';
import type { NugetUrls } from './nuget.presenter';
import { NugetQueries } from './nuget.queries';
import { NuspecReader } from './nuspec-reader';

const SOURCE = 'reference packages-and-admin 4.9';
const PREFIXES = { project: '/projects/:id/packages/nuget', group: '/groups/:id/-/packages/nuget' } as const;

/** Routes that read NuGet packages, below a project or a group. */
function createNugetReadingController(kind: 'project' | 'group') {
  const base = PREFIXES[kind];
  const registry = kind === 'project' ? { ...basicRegistry, may: readsPackages } : basicGroupRegistry;
  const reads = { ...(registry as typeof basicGroupRegistry), source: SOURCE } as const;

  @Controller()
  class NugetReadingController {
    constructor(
      private readonly nuget: NugetQueries,
      private readonly files: PackageFiles,
      private readonly nuspecs: NuspecReader,
      private readonly links: Links,
    ) {}

    @Endpoint('GET', `${base}/index.json`, {
      source: SOURCE,
      // Clients read it before they know that credentials are needed.
      may: anyone(),
      about: `Lists the addresses of a NuGet registry (${kind}).`,
      params: ShowNugetService,
      answers: json<object>(SERVICE_INDEX),
      aliases: [`${base}/index`],
    })
    showService({ params }: Call<ShowNugetService>): object {
      return nugetServiceIndex(this.links.apiUrl(base.slice(1).replace(':id', encodeURIComponent(params.id))), kind);
    }

    @Endpoint('GET', `${base}/query`, {
      ...reads,
      about: `Searches NuGet packages by name (${kind}).`,
      params: ListNugetPackages,
      answers: json<object>(SEARCH),
    })
    async search({ within, viewer, params }: Call<ListNugetPackages, NugetPlace>): Promise<object> {
      const [total, packages] = await this.nuget.searchPackages(within, viewer, params);
      return searchResults(this.nugetUrlsOf(within), total, packages);
    }

    @Endpoint('GET', `${base}/autocomplete`, {
      ...reads,
      about: `Completes names of NuGet packages, or lists the versions of one (${kind}).`,
      params: ListNugetNames,
      answers: json<object>(AUTOCOMPLETE),
    })
    async complete({ within, viewer, params }: Call<ListNugetNames, NugetPlace>): Promise<object> {
      const { package_name: name, ...asked } = params;
      if (name === undefined) {
        const [total, packages] = await this.nuget.searchPackages(within, viewer, asked);
        return { totalHits: total, data: packages.map(({ newest }) => newest.name) };
      }
      const versions = await this.nuget.versionsOfName(within, viewer, name, asked.prerelease);
      return { totalHits: versions.length, data: versions.map(({ version }) => version) };
    }

    @Endpoint('GET', `${base}/metadata/:package_name/index.json`, {
      ...reads,
      about: `Describes the versions of a NuGet package (${kind}).`,
      params: ShowNugetPackage,
      answers: json<JsonText>(REGISTRATION),
      aliases: [`${base}/metadata/:package_name/index`],
      fails: [404],
    })
    async show({ within, viewer, params }: Call<ShowNugetPackage, NugetPlace>): Promise<JsonText> {
      return registrationDocument(
        this.nugetUrlsOf(within),
        await this.nuget.listVersions(within, viewer, params.package_name),
      );
    }

    @Endpoint('GET', `${base}/metadata/:package_name/:package_version`, {
      ...reads,
      about: `Describes a version of a NuGet package (${kind}).`,
      params: IdentifyNugetVersion,
      answers: json<object>(LEAF),
      fails: [404],
    })
    async showVersion({ within, viewer, params }: Call<IdentifyNugetVersion, NugetPlace>): Promise<object> {
      const key = parseNugetVersion(params.package_version.replace(/\.json$/, ''))?.key;
      if (key === undefined) throw new NotFound('Package');
      return registrationLeaf(
        this.nugetUrlsOf(within),
        await this.nuget.findVersion(within, viewer, params.package_name, key),
      );
    }

    @Endpoint('GET', `${base}/download/:package_name/index.json`, {
      ...reads,
      about: `Lists the versions of a NuGet package (${kind}).`,
      params: ShowNugetPackage,
      answers: json<object>(CONTAINER),
      aliases: [`${base}/download/:package_name/index`],
      fails: [404],
    })
    async listVersions({ within, viewer, params }: Call<ShowNugetPackage, NugetPlace>): Promise<object> {
      const rows = await this.nuget.versionsOfName(within, viewer, params.package_name, true);
      if (rows.length === 0) throw new NotFound('Package');
      return { versions: rows.map((row) => row.version_key) };
    }

    @Endpoint('GET', `${base}/download/:package_name/:package_version/:file_name`, {
      ...reads,
      about: `Downloads a NuGet package, its symbols or its description (${kind}).`,
      params: IdentifyNugetFile,
      answers: streamedFile('application/octet-stream', {
        'application/xml': { type: 'string', description: 'A nuspec.' },
      }),
      fails: [404],
    })
    async download({ within, viewer, params }: Call<IdentifyNugetFile, NugetPlace>): Promise<FileAnswer> {
      const name = nameKeyOf('nuget', params.package_name);
      const key = parseNugetVersion(params.package_version)?.key;
      const asked = params.file_name.toLowerCase();
      if (key === undefined) throw new NotFound();
      if (asked === `${name}.nuspec`) return this.downloadNuspec(within, viewer, name, key);
      const extension = ['nupkg', 'snupkg'].find(
        (one) => asked === `${name}.${params.package_version.toLowerCase()}.${one}`,
      );
      if (extension === undefined) throw new NotFound();
      const found = await this.nuget.findFile(within, viewer, name, key, renderNugetFileName(name, key, extension));
      return packageDownload(this.files, found, found.file_name);
    }

    private async downloadNuspec(...[within, viewer, name, key]: [NugetPlace, Call['viewer'], string, string]) {
      const found = await this.nuget.findFile(within, viewer, name, key, renderNugetFileName(name, key, 'nupkg'));
      const content = await this.nuspecs.readNuspec(found);
      const common = { lastModified: found.created_at, version: `${found.sha256}-nuspec`, filename: `${name}.nuspec` };
      return { stream: content, mediaType: 'application/xml', length: content.length, ...common };
    }

    private nugetUrlsOf({ id }: NugetPlace): NugetUrls {
      const ofProject = (project: number): string => this.links.apiUrl(`projects/${project}/packages/nuget`);
      return { base: this.links.apiUrl(base.slice(1).replace(':id', String(id))), ofProject };
    }
  }

  return NugetReadingController;
}

export const NugetReadingOfProjectsController = createNugetReadingController('project');
export const NugetReadingOfGroupsController = createNugetReadingController('group');

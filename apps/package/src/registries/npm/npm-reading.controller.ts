import { Controller } from '@nestjs/common';
import {
  Endpoint,
  negotiatedFile,
  json,
  JsonText,
  noContent,
  signedIn,
  projectOrGroup,
  streamedFile,
  streamedBody,
} from '@rookery/api-v4';
import type { Call, FileAnswer, StreamedCall } from '@rookery/api-v4';
import { NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { packageDownload } from '../../packages/package-download.presenter';
import { PackageFiles } from '../../packages/package-files';
import { NpmTagsService } from './maintenance/npm-tags.service';
import { parseNpmTarget, parseNpmTarballVersion } from './npm-names';
import {
  IdentifyNpmPackage,
  IdentifyNpmTag,
  IdentifyNpmTarball,
  IdentifyScopedNpmTarball,
  ShowNpmPackage,
  ShowNpmPackageOfParent,
} from './npm.dto';
import { npmRefusals, readsNpmPackages } from './npm.permission';
import type { NpmScope } from './npm.permission';
import { npmDocumentAnswer, chooseNpmForm, npmManifestAnswer, SHORT_TYPE } from './npm.presenter';
import { TAGS } from './npm.schema';
import { npmPlaceOf } from './reading/npm-place';
import type { NpmPlace } from './reading/npm-place';
import { NpmQueries } from './reading/npm.queries';
import { Packuments } from './reading/packuments';

const SOURCE = 'reference packages-and-admin 4.4';
const MAX_TAG_BYTES = 4096;

/** A registry. `base` is its path below `/api/v4`. */
export const NPM_REGISTRIES = {
  project: { base: '/projects/:id/packages/npm', below: { within: projectOrGroup('project') }, resource: 'Project' },
  group: {
    base: '/groups/:id/-/packages/npm',
    below: { within: projectOrGroup('group', 'id', 'copy') },
    resource: 'Group',
  },
  instance: { base: '/packages/npm', below: {}, resource: 'Project' },
} as const;
export type NpmRegistryKind = keyof typeof NPM_REGISTRIES;

type ReadCall<P> = Call<P, NpmScope>;

/** Metadata, tarballs and tags: the same routes below projects, below groups and for the instance. */
function createNpmReadingController(kind: NpmRegistryKind) {
  const { base, below, resource } = NPM_REGISTRIES[kind];
  const shared = { ...below, source: SOURCE, refusals: npmRefusals(resource) } as object as {
    readonly source: string;
    readonly refusals: ReturnType<typeof npmRefusals>;
  };
  const tags = `${base}/-/package/*package_name/dist-tags`;

  @Controller()
  class NpmReadingController {
    constructor(
      readonly packuments: Packuments,
      readonly queries: NpmQueries,
      readonly files: PackageFiles,
      readonly tags: NpmTagsService,
    ) {}

    @Endpoint('GET', `${base}/*package_name`, {
      ...shared,
      about: `Returns the metadata of an npm package, or the manifest of a version (${kind}).`,
      may: readsNpmPackages,
      params: kind === 'instance' ? ShowNpmPackage : ShowNpmPackageOfParent,
      answers: negotiatedFile('application/json', SHORT_TYPE),
      fails: [304, 404],
    })
    async show(call: ReadCall<ShowNpmPackage>): Promise<FileAnswer> {
      const { viewer, params, knownVersions: known } = call;
      const target = parseNpmTarget(params.package_name);
      if (target === null) throw new NotFound();
      const place = toNpmPlace(call);
      if (target.kind === 'version')
        return npmManifestAnswer(await this.packuments.findManifest(place, viewer, target.name, target.versionOrTag));
      const form = chooseNpmForm(params.accept ?? '');
      return npmDocumentAnswer(await this.packuments.findPackument(place, viewer, target.name, { form, known }));
    }

    @Endpoint('GET', `${base}/:package_name/-/*file_name`, {
      ...shared,
      about: `Downloads a tarball of an npm package (${kind}).`,
      may: readsNpmPackages,
      params: IdentifyNpmTarball,
      answers: streamedFile(),
      fails: [404],
    })
    download(call: ReadCall<IdentifyNpmTarball>): Promise<FileAnswer> {
      return this.downloadTarball(call, call.params.package_name);
    }

    @Endpoint('GET', `${base}/:package_scope/:package_name/-/*file_name`, {
      ...shared,
      about: `Downloads a tarball of an npm package with a scope (${kind}).`,
      may: readsNpmPackages,
      params: IdentifyScopedNpmTarball,
      answers: streamedFile(),
      fails: [404],
    })
    downloadScoped(call: ReadCall<IdentifyScopedNpmTarball>): Promise<FileAnswer> {
      return this.downloadTarball(call, `${call.params.package_scope}/${call.params.package_name}`);
    }

    @Endpoint('GET', tags, {
      ...shared,
      about: `Lists the tags of an npm package (${kind}).`,
      may: readsNpmPackages,
      params: IdentifyNpmPackage,
      answers: json<JsonText>(TAGS),
      fails: [404],
    })
    async listTags(call: ReadCall<IdentifyNpmPackage>): Promise<JsonText> {
      const found = await this.packuments.listTags(toNpmPlace(call), call.viewer, call.params.package_name);
      const pairs = [...found].map(([tag, version]) => `${JSON.stringify(tag)}:${JSON.stringify(version)}`);
      return new JsonText(`{${pairs.join(',')}}`);
    }

    @Endpoint('PUT', `${tags}/:tag`, {
      ...shared,
      about: `Lets a tag of an npm package name a version (${kind}). The body is the version as a JSON text.`,
      may: signedIn(),
      params: IdentifyNpmTag,
      body: streamedBody({ maxBytes: MAX_TAG_BYTES }),
      answers: noContent(),
      fails: [403, 404],
    })
    async setTag(call: StreamedCall<IdentifyNpmTag, NpmScope, SignedInViewer>): Promise<void> {
      const { package_name: name, tag } = call.params;
      await this.tags.setTag(call.viewer, { place: toNpmPlace(call), name, tag }, await readVersionFromBody(call.body));
    }

    @Endpoint('DELETE', `${tags}/:tag`, {
      ...shared,
      about: `Removes a tag of an npm package (${kind}).`,
      may: signedIn(),
      params: IdentifyNpmTag,
      answers: noContent(),
      fails: [400, 403, 404],
    })
    async removeTag(call: Call<IdentifyNpmTag, NpmScope, SignedInViewer>): Promise<void> {
      const { package_name: name, tag } = call.params;
      await this.tags.remove(call.viewer, { place: toNpmPlace(call), name, tag });
    }

    private async downloadTarball(call: ReadCall<{ readonly file_name: string }>, name: string) {
      const { viewer, params } = call;
      const version = parseNpmTarballVersion(name, params.file_name);
      if (version === null) throw new NotFound('Package');
      const sources = await this.queries.listSources(toNpmPlace(call), viewer, name);
      const projects = sources.map(({ project_id }) => project_id);
      const row = await this.queries.findTarball(projects, name, version);
      return packageDownload(this.files, row, params.file_name.split('/').at(-1)!);
    }
  }

  return NpmReadingController;
}

export const NpmReadingOfProjectsController = createNpmReadingController('project');
export const NpmReadingOfGroupsController = createNpmReadingController('group');
export const NpmReadingOfInstanceController = createNpmReadingController('instance');

/** Only documents show the reference of the parent in their URLs. */
function toNpmPlace({ within, params }: Pick<Call<object, NpmScope>, 'within' | 'params'>): NpmPlace {
  return npmPlaceOf(within, (params as { readonly id?: string }).id);
}

/** Reads a version that is sent as a JSON text. Errors: Refused for anything else. */
async function readVersionFromBody(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of body) parts.push(part);
  let version: unknown;
  try {
    version = JSON.parse(Buffer.concat(parts).toString());
  } catch {
    throw new Refused('Invalid json', { verbatim: true });
  }
  if (typeof version !== 'string' || version === '') throw new Refused('Version is empty.', { verbatim: true });
  return version;
}

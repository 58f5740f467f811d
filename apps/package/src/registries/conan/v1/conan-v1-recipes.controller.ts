import { Controller } from '@nestjs/common';
import { emptyOk, Endpoint, json, streamedBody } from '@rookery/api-v4';
import type { Call, ProjectScope, StreamedCall } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { publishesPackages, readsPackages, removesPackages } from '../../../packages/packages.permission';
import { BINARY_FILES, FIRST_REVISION, RECIPE_FILES } from '../conan-reference';
import { ListConanBinaries, IdentifyConanRecipe, toConanReference } from '../conan.dto';
import { recipePath, conanRecipeRouteOptions } from '../conan.permission';
import type { ConanRegistryKind } from '../conan.permission';
import { BINARIES, binariesDocument } from '../conan.presenter';
import { ConanQueries } from '../conan.queries';
import { ConanRemovals } from '../publishing/conan-removals';
import { ConanService } from '../publishing/conan.service';
import { readAnnouncedConanFiles } from './announced-files';
import { toConanV1Revision, IdentifyConanV1Binary, RemoveConanV1Binaries } from './conan-v1.dto';
import { conanManifestUrlDocument, SNAPSHOT, conanSnapshotDocument, URLS, urlsDocument } from './conan-v1.presenter';
import type { ConanPlace } from './conan-v1.presenter';

/** A recipe, or with an id one of its binary packages. */
type IdentifyConanV1Part = IdentifyConanRecipe & Partial<Pick<IdentifyConanV1Binary, 'conan_package_reference'>>;

const PARTS = {
  recipe: { path: '', noun: 'a Conan recipe', params: IdentifyConanRecipe, files: RECIPE_FILES },
  binary: {
    path: '/packages/:conan_package_reference',
    noun: 'a binary package of Conan',
    params: IdentifyConanV1Binary,
    files: BINARY_FILES,
  },
} as const;
/** Bound of announced sizes. Units: bytes. */
const MAX_BODY_BYTES = 4096;

/** Digests and addresses of files (version 1): the same routes for recipes and binary packages, in both registries. */
function createConanV1DigestsAndUrlsController(kind: ConanRegistryKind, part: keyof typeof PARTS) {
  const { path, noun, files } = PARTS[part];
  const params: new () => IdentifyConanV1Part = PARTS[part].params;
  const base = `${recipePath(kind, 'v1')}${path}`;
  const shared = conanRecipeRouteOptions(kind);
  const reads = { ...shared, may: readsPackages, params, fails: [404] } as const;

  @Controller()
  class ConanV1PartsController {
    constructor(
      readonly conan: ConanQueries,
      readonly uploads: ConanService,
      readonly links: Links,
    ) {}

    @Endpoint('GET', base, {
      ...reads,
      about: `Returns the MD5 digests of the files of ${noun} without revisions (${kind}).`,
      answers: json<object>(SNAPSHOT),
    })
    async snapshot(call: Call<IdentifyConanV1Part, ProjectScope>): Promise<object> {
      return conanSnapshotDocument(await this.filesOf(toConanPlace(call)));
    }

    @Endpoint('GET', `${base}/digest`, {
      ...reads,
      about: `Returns the address of the manifest of ${noun} without revisions (${kind}).`,
      answers: json<object>(URLS),
    })
    async digest(call: Call<IdentifyConanV1Part, ProjectScope>): Promise<object> {
      await this.filesOf(toConanPlace(call));
      return conanManifestUrlDocument(this.links, toConanPlace(call));
    }

    @Endpoint('GET', `${base}/download_urls`, {
      ...reads,
      about: `Returns the addresses of the files of ${noun} without revisions (${kind}).`,
      answers: json<object>(URLS),
    })
    async downloadUrls(call: Call<IdentifyConanV1Part, ProjectScope>): Promise<object> {
      const found = await this.filesOf(toConanPlace(call));
      const names = found.map(({ file_name }) => file_name);
      return urlsDocument(this.links, toConanPlace(call), names);
    }

    @Endpoint('POST', `${base}/upload_urls`, {
      ...shared,
      may: publishesPackages,
      about: `Returns addresses to upload files of ${noun} to (${kind}). The body has sizes in bytes by the name of the file.`,
      params,
      body: streamedBody({ maxBytes: MAX_BODY_BYTES }),
      answers: json<object>(URLS),
      fails: [400],
    })
    async uploadUrls(call: StreamedCall<IdentifyConanV1Part, ProjectScope, SignedInViewer>): Promise<object> {
      const place = toConanPlace(call);
      const announced = await readAnnouncedConanFiles(call.body, files);
      await this.uploads.admitUpload(call.within, call.viewer, place.reference, announced.largest);
      return urlsDocument(this.links, place, announced.names);
    }

    private filesOf({ project, reference, revision }: ConanPlace) {
      return this.conan.listFiles(project, reference, revision);
    }
  }

  function toConanPlace({
    within: project,
    params: named,
  }: Pick<Call<IdentifyConanV1Part, ProjectScope>, 'within' | 'params'>): ConanPlace {
    return { kind, project, reference: toConanReference(named), revision: toConanV1Revision(named) };
  }
  return ConanV1PartsController;
}

/** Search and deletion (version 1): the same routes below projects and for the instance. */
function createConanV1RecipesController(kind: ConanRegistryKind) {
  const recipe = recipePath(kind, 'v1');
  const shared = conanRecipeRouteOptions(kind);
  const removes = { ...shared, may: removesPackages, answers: emptyOk(), fails: [404] } as const;

  @Controller()
  class ConanV1RecipesController {
    constructor(
      readonly conan: ConanQueries,
      readonly removals: ConanRemovals,
    ) {}

    @Endpoint('GET', `${recipe}/search`, {
      ...shared,
      may: readsPackages,
      about: `Lists the binary packages of a Conan recipe without revisions (${kind}).`,
      params: ListConanBinaries,
      answers: json<object>(BINARIES),
      fails: [404],
    })
    async search({ within, params }: Call<ListConanBinaries, ProjectScope>): Promise<object> {
      const { list_only } = params;
      const rows = await this.conan.listBinaries(within, toConanReference(params), FIRST_REVISION, list_only);
      return binariesDocument(rows, list_only);
    }

    @Endpoint('DELETE', recipe, {
      ...removes,
      about: `Deletes a Conan recipe with all revisions and binary packages (${kind}, version 1).`,
      params: IdentifyConanRecipe,
    })
    remove({ within, viewer, params }: Call<IdentifyConanRecipe, ProjectScope, SignedInViewer>): Promise<void> {
      return this.removals.removeRecipe(within, viewer, toConanReference(params));
    }

    @Endpoint('POST', `${recipe}/packages/delete`, {
      ...removes,
      about: `Deletes binary packages of a Conan recipe without revisions (${kind}).`,
      params: RemoveConanV1Binaries,
    })
    removeBinaries(call: Call<RemoveConanV1Binaries, ProjectScope, SignedInViewer>): Promise<void> {
      const { within, viewer, params } = call;
      const { package_ids: ids = [] } = params;
      const part = { recipeRevision: FIRST_REVISION, isOfBinaries: true, ...(ids.length > 0 ? { binaries: ids } : {}) };
      return this.removals.removePart(within, viewer, toConanReference(params), part);
    }
  }
  return ConanV1RecipesController;
}

export const CONAN_V1_RECIPE_CONTROLLERS = (['project', 'instance'] as const).flatMap((kind) => [
  createConanV1DigestsAndUrlsController(kind, 'recipe'),
  createConanV1DigestsAndUrlsController(kind, 'binary'),
  createConanV1RecipesController(kind),
]);

import { Controller } from '@nestjs/common';
import { emptyOk, Endpoint, json, streamedFile, streamedBody } from '@rookery/api-v4';
import type { Call, FileAnswer, ProjectScope, StreamedCall } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { packageDownload } from '../../packages/package-download.presenter';
import { MAX_FILE_BYTES, PackageFiles } from '../../packages/package-files';
import { publishesPackages, readsPackages, removesPackages } from '../../packages/packages.permission';
import {
  ListConanBinaries,
  ListConanBinariesOfRevision,
  IdentifyConanRecipe,
  IdentifyConanRecipeFile,
  IdentifyConanRecipeRevision,
  toRecipeRevision,
  toConanReference,
  UploadConanRecipeFile,
} from './conan.dto';
import { recipePath, conanRecipeRouteOptions } from './conan.permission';
import type { ConanRegistryKind } from './conan.permission';
import {
  BINARIES,
  binariesDocument,
  FILES,
  conanFilesDocument,
  REVISION,
  revisionDocument,
  REVISIONS,
  revisionsDocument,
} from './conan.presenter';
import { ConanQueries } from './conan.queries';
import { ConanRemovals } from './publishing/conan-removals';
import { ConanService } from './publishing/conan.service';

/** Recipes with revisions (version 2): the same routes below projects and for the instance. */
function createConanRecipesController(kind: ConanRegistryKind) {
  const recipe = recipePath(kind, 'v2');
  const revision = `${recipe}/revisions/:recipe_revision`;
  const shared = conanRecipeRouteOptions(kind);
  const reads = { ...shared, may: readsPackages, fails: [404] } as const;
  const removes = { ...shared, may: removesPackages, answers: emptyOk(), fails: [404] } as const;

  @Controller()
  class ConanRecipesController {
    constructor(
      readonly conan: ConanQueries,
      readonly uploads: ConanService,
      readonly removals: ConanRemovals,
      readonly files: PackageFiles,
    ) {}

    @Endpoint('GET', `${recipe}/latest`, {
      ...reads,
      about: `Returns the newest revision of a Conan recipe (${kind}).`,
      params: IdentifyConanRecipe,
      answers: json<object>(REVISION),
    })
    async latest({ within, params }: Call<IdentifyConanRecipe, ProjectScope>): Promise<object> {
      const asked = { protocol: 'v2', count: 1 } as const;
      const [newest] = await this.conan.recipeRevisions(within, toConanReference(params), asked);
      return revisionDocument(newest!);
    }

    @Endpoint('GET', `${recipe}/revisions`, {
      ...reads,
      about: `Lists the revisions of a Conan recipe (${kind}).`,
      params: IdentifyConanRecipe,
      answers: json<object>(REVISIONS),
    })
    async revisions({ within, params }: Call<IdentifyConanRecipe, ProjectScope>): Promise<object> {
      return revisionsDocument(await this.conan.recipeRevisions(within, toConanReference(params), { protocol: 'v2' }));
    }

    @Endpoint('GET', `${recipe}/search`, {
      ...reads,
      about: `Lists the binary packages of the newest revision of a Conan recipe (${kind}).`,
      params: ListConanBinaries,
      answers: json<object>(BINARIES),
    })
    async searchLatest({ within, params }: Call<ListConanBinaries, ProjectScope>): Promise<object> {
      const reference = toConanReference(params);
      const [newest] = await this.conan.recipeRevisions(within, reference, { protocol: 'v2', count: 1 });
      const { list_only } = params;
      return binariesDocument(
        await this.conan.listBinariesOfRecipe(within, reference, newest!.revision, list_only),
        list_only,
      );
    }

    @Endpoint('GET', `${revision}/search`, {
      ...reads,
      about: `Lists the binary packages of a revision of a Conan recipe (${kind}).`,
      params: ListConanBinariesOfRevision,
      answers: json<object>(BINARIES),
    })
    async search({ within, params }: Call<ListConanBinariesOfRevision, ProjectScope>): Promise<object> {
      const { recipe_revision, list_only } = params;
      const rows = await this.conan.listBinaries(within, toConanReference(params), recipe_revision, list_only);
      return binariesDocument(rows, list_only);
    }

    @Endpoint('GET', `${revision}/files`, {
      ...reads,
      about: `Lists the files of a revision of a Conan recipe (${kind}).`,
      params: IdentifyConanRecipeRevision,
      answers: json<object>(FILES),
    })
    async listFiles({ within, params }: Call<IdentifyConanRecipeRevision, ProjectScope>): Promise<object> {
      return conanFilesDocument(await this.conan.listFiles(within, toConanReference(params), toRecipeRevision(params)));
    }

    @Endpoint('GET', `${revision}/files/*file_name`, {
      ...reads,
      about: `Downloads a file of a Conan recipe (${kind}).`,
      params: IdentifyConanRecipeFile,
      answers: streamedFile(),
    })
    async download({ within, params }: Call<IdentifyConanRecipeFile, ProjectScope>): Promise<FileAnswer> {
      const name = params.file_name;
      const row = await this.conan.findFile(within, toConanReference(params), toRecipeRevision(params), name);
      return packageDownload(this.files, row, name);
    }

    @Endpoint('PUT', `${revision}/files/*file_name`, {
      ...shared,
      may: publishesPackages,
      about: `Uploads a file of a Conan recipe (${kind}). The manifest completes the revision.`,
      params: UploadConanRecipeFile,
      body: streamedBody({ maxBytes: MAX_FILE_BYTES }),
      answers: emptyOk(),
      fails: [400, 404, 409],
    })
    upload(call: StreamedCall<UploadConanRecipeFile, ProjectScope, SignedInViewer>): Promise<void> {
      const { within: project, viewer, params, body } = call;
      return this.uploads.uploadFile(
        {
          ...{ project, viewer, reference: toConanReference(params), revision: toRecipeRevision(params) },
          fileName: params.file_name,
        },
        { body, sha1: params.x_checksum_sha1, isQuestion: params.x_checksum_deploy === true },
      );
    }

    @Endpoint('DELETE', recipe, {
      ...removes,
      about: `Deletes a Conan recipe with all revisions and binary packages (${kind}).`,
      params: IdentifyConanRecipe,
    })
    remove({ within, viewer, params }: Call<IdentifyConanRecipe, ProjectScope, SignedInViewer>): Promise<void> {
      return this.removals.removeRecipe(within, viewer, toConanReference(params));
    }

    @Endpoint('DELETE', revision, {
      ...removes,
      about: `Deletes a revision of a Conan recipe with its binary packages (${kind}).`,
      params: IdentifyConanRecipeRevision,
    })
    removeRevision(call: Call<IdentifyConanRecipeRevision, ProjectScope, SignedInViewer>): Promise<void> {
      const { within, viewer, params } = call;
      const part = { recipeRevision: params.recipe_revision, isOfBinaries: false };
      return this.removals.removePart(within, viewer, toConanReference(params), part);
    }
  }
  return ConanRecipesController;
}

export const ConanRecipesOfProjectsController = createConanRecipesController('project');
export const ConanRecipesOfInstanceController = createConanRecipesController('instance');

import { Controller } from '@nestjs/common';
import { emptyOk, Endpoint, json, streamedFile, streamedBody } from '@rookery/api-v4';
import type { Call, FileAnswer, ProjectScope, StreamedCall } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { packageDownload } from '../../packages/package-download.presenter';
import { MAX_FILE_BYTES, PackageFiles } from '../../packages/package-files';
import { publishesPackages, readsPackages, removesPackages } from '../../packages/packages.permission';
import {
  toBinaryName,
  toBinaryRevision,
  IdentifyConanBinary,
  IdentifyConanBinaryFile,
  IdentifyConanBinaryRevision,
  IdentifyConanRecipeRevision,
  toConanReference,
  UploadConanBinaryFile,
} from './conan.dto';
import { recipePath, conanRecipeRouteOptions } from './conan.permission';
import type { ConanRegistryKind } from './conan.permission';
import { FILES, conanFilesDocument, REVISION, revisionDocument, REVISIONS, revisionsDocument } from './conan.presenter';
import { ConanQueries } from './conan.queries';
import { ConanRemovals } from './publishing/conan-removals';
import { ConanService } from './publishing/conan.service';

/** Binary packages with revisions (version 2): the same routes below projects and for the instance. */
function createConanBinariesController(kind: ConanRegistryKind) {
  const binaries = `${recipePath(kind, 'v2')}/revisions/:recipe_revision/packages`;
  const binary = `${binaries}/:conan_package_reference`;
  const revision = `${binary}/revisions/:package_revision`;
  const shared = conanRecipeRouteOptions(kind);
  const reads = { ...shared, may: readsPackages, fails: [404] } as const;
  const removes = { ...shared, may: removesPackages, answers: emptyOk(), fails: [404] } as const;

  @Controller()
  class ConanBinariesController {
    constructor(
      readonly conan: ConanQueries,
      readonly uploads: ConanService,
      readonly removals: ConanRemovals,
      readonly files: PackageFiles,
    ) {}

    @Endpoint('GET', `${binary}/latest`, {
      ...reads,
      about: `Returns the newest revision of a binary package of Conan (${kind}).`,
      params: IdentifyConanBinary,
      answers: json<object>(REVISION),
    })
    async latest({ within, params }: Call<IdentifyConanBinary, ProjectScope>): Promise<object> {
      const [newest] = await this.conan.binaryRevisions(within, toConanReference(params), toBinaryName(params), 1);
      return revisionDocument(newest!);
    }

    @Endpoint('GET', `${binary}/revisions`, {
      ...reads,
      about: `Lists the revisions of a binary package of Conan (${kind}).`,
      params: IdentifyConanBinary,
      answers: json<object>(REVISIONS),
    })
    async revisions({ within, params }: Call<IdentifyConanBinary, ProjectScope>): Promise<object> {
      return revisionsDocument(
        await this.conan.binaryRevisions(within, toConanReference(params), toBinaryName(params)),
      );
    }

    @Endpoint('GET', `${revision}/files`, {
      ...reads,
      about: `Lists the files of a revision of a binary package of Conan (${kind}).`,
      params: IdentifyConanBinaryRevision,
      answers: json<object>(FILES),
    })
    async listFiles({ within, params }: Call<IdentifyConanBinaryRevision, ProjectScope>): Promise<object> {
      return conanFilesDocument(await this.conan.listFiles(within, toConanReference(params), toBinaryRevision(params)));
    }

    @Endpoint('GET', `${revision}/files/*file_name`, {
      ...reads,
      about: `Downloads a file of a binary package of Conan (${kind}).`,
      params: IdentifyConanBinaryFile,
      answers: streamedFile(),
    })
    async download({ within, params }: Call<IdentifyConanBinaryFile, ProjectScope>): Promise<FileAnswer> {
      const name = params.file_name;
      const row = await this.conan.findFile(within, toConanReference(params), toBinaryRevision(params), name);
      return packageDownload(this.files, row, name);
    }

    @Endpoint('PUT', `${revision}/files/*file_name`, {
      ...shared,
      may: publishesPackages,
      about: `Uploads a file of a binary package of Conan (${kind}). The manifest completes the revision.`,
      params: UploadConanBinaryFile,
      body: streamedBody({ maxBytes: MAX_FILE_BYTES }),
      answers: emptyOk(),
      fails: [400, 404, 409],
    })
    upload(call: StreamedCall<UploadConanBinaryFile, ProjectScope, SignedInViewer>): Promise<void> {
      const { within: project, viewer, params, body } = call;
      return this.uploads.uploadFile(
        {
          ...{ project, viewer, reference: toConanReference(params), revision: toBinaryRevision(params) },
          fileName: params.file_name,
        },
        { body, sha1: params.x_checksum_sha1, isQuestion: params.x_checksum_deploy === true },
      );
    }

    @Endpoint('DELETE', binaries, {
      ...removes,
      about: `Deletes all binary packages of a revision of a Conan recipe (${kind}).`,
      params: IdentifyConanRecipeRevision,
    })
    removeAll(call: Call<IdentifyConanRecipeRevision, ProjectScope, SignedInViewer>): Promise<void> {
      const { within, viewer, params } = call;
      const part = { recipeRevision: params.recipe_revision, isOfBinaries: true };
      return this.removals.removePart(within, viewer, toConanReference(params), part);
    }

    @Endpoint('DELETE', binary, {
      ...removes,
      about: `Deletes a binary package of Conan with all its revisions (${kind}).`,
      params: IdentifyConanBinary,
    })
    remove({ within, viewer, params }: Call<IdentifyConanBinary, ProjectScope, SignedInViewer>): Promise<void> {
      const { recipeRevision, binaryReference } = toBinaryName(params);
      const part = { recipeRevision, isOfBinaries: true, binaries: [binaryReference] };
      return this.removals.removePart(within, viewer, toConanReference(params), part);
    }

    @Endpoint('DELETE', revision, {
      ...removes,
      about: `Deletes a revision of a binary package of Conan (${kind}).`,
      params: IdentifyConanBinaryRevision,
    })
    removeRevision(call: Call<IdentifyConanBinaryRevision, ProjectScope, SignedInViewer>): Promise<void> {
      const { within, viewer, params } = call;
      const { recipeRevision, binaryReference, binaryRevision } = toBinaryRevision(params);
      const part = { recipeRevision, isOfBinaries: true, binaries: [binaryReference], binaryRevision };
      return this.removals.removePart(within, viewer, toConanReference(params), part);
    }
  }
  return ConanBinariesController;
}

export const ConanBinariesOfProjectsController = createConanBinariesController('project');
export const ConanBinariesOfInstanceController = createConanBinariesController('instance');

import { Controller } from '@nestjs/common';
import { emptyOk, Endpoint, streamedFile, streamedBody } from '@rookery/api-v4';
import type { Call, FileAnswer, ProjectScope, StreamedCall } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { packageDownload } from '../../../packages/package-download.presenter';
import { MAX_FILE_BYTES, PackageFiles } from '../../../packages/package-files';
import { publishesPackages, readsPackages } from '../../../packages/packages.permission';
import { toConanReference } from '../conan.dto';
import { CONAN_REGISTRIES, conanRecipeRouteOptions } from '../conan.permission';
import type { ConanRegistryKind } from '../conan.permission';
import { ConanQueries } from '../conan.queries';
import { ConanService } from '../publishing/conan.service';
import {
  toConanV1Revision,
  IdentifyConanV1BinaryFile,
  IdentifyConanV1RecipeFile,
  UploadConanV1BinaryFile,
  UploadConanV1RecipeFile,
} from './conan-v1.dto';

type IdentifyConanV1File = IdentifyConanV1RecipeFile | IdentifyConanV1BinaryFile;
type UploadConanV1File = UploadConanV1RecipeFile | UploadConanV1BinaryFile;

/** Files without revisions (version 1): the same routes below projects and for the instance. */
function createConanV1FilesController(kind: ConanRegistryKind) {
  const recipe = `${CONAN_REGISTRIES[kind].base}/v1/files/:package_name/:package_version/:package_username/:package_channel`;
  const revision = `${recipe}/:recipe_revision`;
  const ofRecipe = `${revision}/export/:file_name`;
  const ofBinary = `${revision}/package/:conan_package_reference/:package_revision/:file_name`;
  const shared = conanRecipeRouteOptions(kind);
  const reads = { ...shared, may: readsPackages, answers: streamedFile(), fails: [404] } as const;
  const publishes = {
    ...shared,
    may: publishesPackages,
    body: streamedBody({ maxBytes: MAX_FILE_BYTES }),
    answers: emptyOk(),
    fails: [400, 404],
  } as const;

  @Controller()
  class ConanV1FilesController {
    constructor(
      readonly conan: ConanQueries,
      readonly uploads: ConanService,
      readonly files: PackageFiles,
    ) {}

    @Endpoint('GET', ofRecipe, {
      ...reads,
      about: `Downloads a file of a Conan recipe without revisions (${kind}).`,
      params: IdentifyConanV1RecipeFile,
    })
    download(call: Call<IdentifyConanV1RecipeFile, ProjectScope>): Promise<FileAnswer> {
      return this.downloadFile(call);
    }

    @Endpoint('GET', ofBinary, {
      ...reads,
      about: `Downloads a file of a binary package of Conan without revisions (${kind}).`,
      params: IdentifyConanV1BinaryFile,
    })
    downloadOfBinary(call: Call<IdentifyConanV1BinaryFile, ProjectScope>): Promise<FileAnswer> {
      return this.downloadFile(call);
    }

    @Endpoint('PUT', ofRecipe, {
      ...publishes,
      about: `Uploads a file of a Conan recipe without revisions (${kind}).`,
      params: UploadConanV1RecipeFile,
    })
    upload(call: StreamedCall<UploadConanV1RecipeFile, ProjectScope, SignedInViewer>): Promise<void> {
      return this.storeFile(call);
    }

    @Endpoint('PUT', ofBinary, {
      ...publishes,
      about: `Uploads a file of a binary package of Conan without revisions (${kind}).`,
      params: UploadConanV1BinaryFile,
    })
    uploadOfBinary(call: StreamedCall<UploadConanV1BinaryFile, ProjectScope, SignedInViewer>): Promise<void> {
      return this.storeFile(call);
    }

    private async downloadFile({ within, params }: Call<IdentifyConanV1File, ProjectScope>): Promise<FileAnswer> {
      const name = params.file_name;
      const row = await this.conan.findFile(within, toConanReference(params), toConanV1Revision(params), name);
      return packageDownload(this.files, row, name);
    }

    private storeFile(call: StreamedCall<UploadConanV1File, ProjectScope, SignedInViewer>): Promise<void> {
      const { within: project, viewer, params, body } = call;
      const revision = toConanV1Revision(params);
      return this.uploads.uploadFile(
        { project, viewer, reference: toConanReference(params), revision, fileName: params.file_name },
        { body, sha1: params.x_checksum_sha1, isQuestion: params.x_checksum_deploy === true },
      );
    }
  }
  return ConanV1FilesController;
}

export const ConanV1FilesOfProjectsController = createConanV1FilesController('project');
export const ConanV1FilesOfInstanceController = createConanV1FilesController('instance');

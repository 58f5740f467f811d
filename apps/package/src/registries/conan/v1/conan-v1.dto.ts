import { Flag, ListOf, Text } from '@rookery/api-v4';
import { FIRST_REVISION } from '../conan-reference';
import type { ConanRevisionName } from '../conan-reference';
import { BINARY_FILE, BINARY_ID, DEPLOY, IdentifyConanRecipe, RECIPE_FILE, SHA1 } from '../conan.dto';

const REVISION = { in: 'path', max: 40, pattern: /^0$/, about: 'Always `0`.' } as const;

/** Parameters of version 1 of the protocol, which has no revisions. Source: reference packages-and-admin 4.13. */
export class IdentifyConanV1Binary extends IdentifyConanRecipe {
  @Text(BINARY_ID) conan_package_reference: string;
}

export class RemoveConanV1Binaries extends IdentifyConanRecipe {
  @ListOf('text', { optional: true, about: 'Ids of binary packages. Without any, all are deleted.' })
  package_ids?: readonly string[];
}

export class IdentifyConanV1RecipeFile extends IdentifyConanRecipe {
  @Text(REVISION) recipe_revision: string;
  @Text(RECIPE_FILE) file_name: string;
}

export class IdentifyConanV1BinaryFile extends IdentifyConanV1Binary {
  @Text(REVISION) recipe_revision: string;
  @Text(REVISION) package_revision: string;
  @Text(BINARY_FILE) file_name: string;
}

export class UploadConanV1RecipeFile extends IdentifyConanV1RecipeFile {
  @Text(SHA1) x_checksum_sha1?: string;
  @Flag(DEPLOY) x_checksum_deploy?: boolean;
}

export class UploadConanV1BinaryFile extends IdentifyConanV1BinaryFile {
  @Text(SHA1) x_checksum_sha1?: string;
  @Flag(DEPLOY) x_checksum_deploy?: boolean;
}

/** Returns the only revision of a recipe, or of a binary package. */
export function toConanV1Revision(
  params: IdentifyConanRecipe & { readonly conan_package_reference?: string },
): ConanRevisionName {
  const { conan_package_reference: binary } = params;
  const binaryRevision = binary === undefined ? '' : FIRST_REVISION;
  return { recipeRevision: FIRST_REVISION, binaryReference: binary ?? '', binaryRevision };
}

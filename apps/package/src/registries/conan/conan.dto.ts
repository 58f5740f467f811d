import { Flag, Text } from '@rookery/api-v4';
import { BINARY_FILES, RECIPE_FILES } from './conan-reference';
import type { ConanReference, ConanRevisionName } from './conan-reference';

const NAME = /^[a-zA-Z0-9_][a-zA-Z0-9_+.-]{1,49}$/;
const NAME_OR_BLANK = /^(?:_|[a-zA-Z0-9_][a-zA-Z0-9_+.-]{1,49})$/;
const REVISION = /^(?:[0-9a-f]{32}|[0-9a-f]{40})$/;
const REFERENCE = /^[A-Za-z0-9]{1,128}$/;
const patternOfNames = (names: readonly string[]): RegExp =>
  new RegExp(`^(?:${names.map((name) => name.replaceAll('.', '\\.')).join('|')})$`);

// Parameters that both versions of the Conan protocol have.

/** Name of a file of a recipe. */
export const RECIPE_FILE = {
  in: 'path',
  max: 255,
  pattern: patternOfNames(RECIPE_FILES),
  about: 'Name of the file.',
} as const;
export const BINARY_FILE = {
  in: 'path',
  max: 255,
  pattern: patternOfNames(BINARY_FILES),
  about: 'Name of the file.',
} as const;
export const BINARY_ID = { in: 'path', max: 128, pattern: REFERENCE, about: 'Id of the binary package.' } as const;
export const SHA1 = {
  in: 'header',
  header: 'x-checksum-sha1',
  optional: true,
  pattern: /^[0-9a-fA-F]{40}$/,
  about: 'Digest that the file must have.',
} as const;
export const DEPLOY = {
  in: 'header',
  header: 'x-checksum-deploy',
  optional: true,
  about: 'Asks whether the file is there by its digest alone, which is always answered with 404.',
} as const;

/** A recipe. Source: reference packages-and-admin 4.13. */
export class IdentifyConanRecipe {
  @Text({ in: 'path', max: 50, pattern: NAME, about: 'Name of the recipe.' }) package_name: string;
  @Text({ in: 'path', max: 50, pattern: NAME, about: 'Version of the recipe.' }) package_version: string;
  @Text({
    in: 'path',
    max: 50,
    pattern: NAME_OR_BLANK,
    about: 'User of the recipe; `_` together with the channel for none.',
  })
  package_username: string;
  @Text({
    in: 'path',
    max: 50,
    pattern: NAME_OR_BLANK,
    about: 'Channel of the recipe; `_` together with the user for none.',
  })
  package_channel: string;
}

export class ListConanRecipes {
  @Text({
    optional: true,
    max: 255,
    about: 'Reference, or the beginning of one up to a separator. `*` is any text.',
  })
  q?: string;
  @Flag({ default: true, about: 'Whether upper and lower case are equal.' }) ignorecase: boolean;
}

export class ListConanBinaries extends IdentifyConanRecipe {
  @Flag({ default: false, about: 'Leaves out the descriptions.' }) list_only: boolean;
}

export class IdentifyConanRecipeRevision extends IdentifyConanRecipe {
  @Text({ in: 'path', max: 40, pattern: REVISION, about: 'Revision of the recipe.' }) recipe_revision: string;
}

export class ListConanBinariesOfRevision extends IdentifyConanRecipeRevision {
  @Flag({ default: false, about: 'Leaves out the descriptions.' }) list_only: boolean;
}

export class IdentifyConanRecipeFile extends IdentifyConanRecipeRevision {
  @Text(RECIPE_FILE) file_name: string;
}

export class IdentifyConanBinary extends IdentifyConanRecipeRevision {
  @Text(BINARY_ID) conan_package_reference: string;
}

export class IdentifyConanBinaryRevision extends IdentifyConanBinary {
  @Text({ in: 'path', max: 40, pattern: REVISION, about: 'Revision of the binary package.' }) package_revision: string;
}

export class IdentifyConanBinaryFile extends IdentifyConanBinaryRevision {
  @Text(BINARY_FILE) file_name: string;
}

export class UploadConanRecipeFile extends IdentifyConanRecipeFile {
  @Text(SHA1) x_checksum_sha1?: string;
  @Flag(DEPLOY) x_checksum_deploy?: boolean;
}

export class UploadConanBinaryFile extends IdentifyConanBinaryFile {
  @Text(SHA1) x_checksum_sha1?: string;
  @Flag(DEPLOY) x_checksum_deploy?: boolean;
}

export function toConanReference(params: IdentifyConanRecipe): ConanReference {
  return {
    ...{ name: params.package_name, version: params.package_version },
    ...{ user: params.package_username, channel: params.package_channel },
  };
}

export function toRecipeRevision({ recipe_revision }: IdentifyConanRecipeRevision): ConanRevisionName {
  return { recipeRevision: recipe_revision, binaryReference: '', binaryRevision: '' };
}

export function toBinaryName(params: IdentifyConanBinary): Omit<ConanRevisionName, 'binaryRevision'> {
  return { recipeRevision: params.recipe_revision, binaryReference: params.conan_package_reference };
}

export function toBinaryRevision(params: IdentifyConanBinaryRevision): ConanRevisionName {
  return { ...toBinaryName(params), binaryRevision: params.package_revision };
}

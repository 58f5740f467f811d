import { Refused } from '@rookery/kernel';

/** Names of recipes, revisions and files. Source: reference packages-and-admin 4.13. */

/** A recipe. `user` and `channel` are both `_` for a recipe without them. */
export interface ConanReference {
  readonly name: string;
  readonly version: string;
  readonly user: string;
  readonly channel: string;
}

/** A revision of a recipe, or of a binary package. The last two fields are empty for the recipe itself. */
export interface ConanRevisionName {
  readonly recipeRevision: string;
  readonly binaryReference: string;
  readonly binaryRevision: string;
}

/** The revision of everything that version 1 of the protocol uploads. */
export const FIRST_REVISION = '0';
/** The file that clients upload last, which completes a revision. */
export const MANIFEST = 'conanmanifest.txt';
/** The description of a binary package. It is empty for a package without settings and options. */
export const INFO = 'conaninfo.txt';
export const RECIPE_FILES = ['conanfile.py', MANIFEST, 'conan_export.tgz', 'conan_sources.tgz'] as const;
export const BINARY_FILES = [INFO, MANIFEST, 'conan_package.tgz'] as const;

const BLANK = '_';

/** Errors: Refused if only one of user and channel is blank. */
export function refuseHalfBlank({ user, channel }: ConanReference): void {
  if ((user === BLANK) === (channel === BLANK)) return;
  const field = user === BLANK ? 'username' : 'channel';
  throw new Refused(`Validation failed: Package ${field} can't be solely blank`, { verbatim: true });
}

/** Form of a recipe's name by which packages are equal. The version is a column of its own. */
export function conanKeyOf({ name, user, channel }: ConanReference): string {
  return `${name}@${user}/${channel}`;
}

/** Returns the reference as clients write it. `key` is a result of `conanKeyOf`. */
export function renderConanReference(name: string, version: string, key: string): string {
  const place = key.slice(name.length);
  return place === `@${BLANK}/${BLANK}` ? `${name}/${version}` : `${name}/${version}${place}`;
}

import type { JsonSchema, ProjectScope } from '@rookery/api-v4';
import type { Links } from '@rookery/platform';
import type { PackageFileRow } from '../../../packages/listing/packages.queries';
import { MANIFEST } from '../conan-reference';
import type { ConanReference, ConanRevisionName } from '../conan-reference';
import type { ConanRegistryKind } from '../conan.permission';

/** Documents of version 1 of the protocol. Source: reference packages-and-admin 4.13. */

const textsByFileSchema = (description: string): JsonSchema => ({
  ...{ type: 'object', additionalProperties: { type: 'string' }, description },
});
export const SNAPSHOT = textsByFileSchema('MD5 digests by the name of the file.');
export const URLS = textsByFileSchema('Addresses by the name of the file.');

/** A revision in a registry. */
export interface ConanPlace {
  readonly kind: ConanRegistryKind;
  readonly project: ProjectScope;
  readonly reference: ConanReference;
  readonly revision: ConanRevisionName;
}

export function conanSnapshotDocument(files: readonly PackageFileRow[]): object {
  return Object.fromEntries(files.map(({ file_name, md5 }) => [file_name, md5]));
}

/** The address of the manifest alone. */
export function conanManifestUrlDocument(links: Links, place: ConanPlace): object {
  return urlsDocument(links, place, [MANIFEST]);
}

/** Addresses of files, which clients request with their token. */
export function urlsDocument(links: Links, place: ConanPlace, files: readonly string[]): object {
  const { kind, project, reference, revision } = place;
  const { recipeRevision, binaryReference, binaryRevision } = revision;
  const registry = kind === 'project' ? `projects/${project.id}/packages/conan` : 'packages/conan';
  const part = binaryReference === '' ? ['export'] : ['package', binaryReference, binaryRevision];
  const { name, version, user, channel } = reference;
  const path = [name, version, user, channel, recipeRevision, ...part].map(encodeURIComponent).join('/');
  return Object.fromEntries(files.map((file) => [file, links.apiUrl(`${registry}/v1/files/${path}/${file}`)]));
}

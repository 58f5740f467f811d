import type { JsonSchema } from '@rookery/api-v4';
import type { PackageFileRow } from '../../packages/listing/packages.queries';
import { parseConanInfo } from './conan-info';
import { renderConanReference } from './conan-reference';
import type { ConanBinaryRow, ConanRevisionRow, ConanRecipeMatch } from './conan.queries';

/** Documents of the protocol of Conan. Source: reference packages-and-admin 4.13. */

const recordSchema = (properties: JsonSchema, required = Object.keys(properties)): JsonSchema => ({
  ...{ type: 'object', properties, required, additionalProperties: false },
});
const textSchema = (description: string): JsonSchema => ({ type: 'string', description });
const listSchema = (items: JsonSchema, description: string): JsonSchema => ({ type: 'array', items, description });
const mapSchema = (additionalProperties: JsonSchema, description: string): JsonSchema => ({
  ...{ type: 'object', additionalProperties, description },
});

export const REVISION = recordSchema({
  revision: textSchema('The revision.'),
  time: textSchema('Time of its manifest, such as `2026-01-02T03:04:05.678+0000`.'),
});
export const REVISIONS = recordSchema({ revisions: listSchema(REVISION, 'Newest first.') });
export const FILES = recordSchema({ files: mapSchema(recordSchema({}), 'An empty object for each file, by name.') });
export const RECIPES = recordSchema({ results: listSchema({ type: 'string' }, 'References of recipes.') });
const INFO = {
  content: textSchema('The description as it was uploaded.'),
  settings: mapSchema({ type: 'string' }, 'Settings by name.'),
  options: mapSchema({ type: 'string' }, 'Options by name.'),
  requires: listSchema({ type: 'string' }, 'Requirements.'),
  full_requires: listSchema({ type: 'string' }, 'Requirements with the ids of their binary packages.'),
  recipe_hash: { type: ['string', 'null'], description: 'Digest of the recipe, from older clients.' },
};
export const BINARIES = mapSchema(recordSchema(INFO, []), 'Descriptions of binary packages, by id.');

export function revisionDocument({ revision, time }: ConanRevisionRow): object {
  return { revision, time: time.toISOString().replace('Z', '+0000') };
}

export function revisionsDocument(rows: readonly ConanRevisionRow[]): object {
  return { revisions: rows.map(revisionDocument) };
}

export function conanFilesDocument(files: readonly PackageFileRow[]): object {
  return { files: Object.fromEntries(files.map(({ file_name }) => [file_name, {}])) };
}

export function recipesDocument(found: readonly ConanRecipeMatch[]): object {
  return { results: found.map(({ name, version, key }) => renderConanReference(name, version, key)) };
}

/** Maps binary packages to their descriptions. The descriptions are empty if `isListOnly` is true. */
export function binariesDocument(rows: readonly ConanBinaryRow[], isListOnly: boolean): object {
  const described = (info: string | null): object => ({ content: info ?? '', ...parseConanInfo(info ?? '') });
  return Object.fromEntries(rows.map(({ reference, info }) => [reference, isListOnly ? {} : described(info)]));
}

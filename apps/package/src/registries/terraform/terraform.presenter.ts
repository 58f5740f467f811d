import type { JsonSchema } from '@rookery/api-v4';
import { findLatestTerraformVersion } from './terraform.queries';
import type { TerraformAddress, TerraformVersionRow } from './terraform.queries';

/** Documents of the module registry protocol. Source: reference packages-and-admin 4.10. */

const recordSchema = (properties: JsonSchema): JsonSchema => ({
  ...{ type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
});
const textSchema = (description: string): JsonSchema => ({ type: 'string', description });
const listSchema = (items: JsonSchema, description: string): JsonSchema => ({ type: 'array', items, description });
/** Archives are not read. */
const emptyListSchema = (description: string): JsonSchema => ({
  ...listSchema({ type: 'object' }, description),
  maxItems: 0,
});
const source = textSchema('Web address of the project.');
const submodules = emptyListSchema('Always empty.');
const dependencies = emptyListSchema('Always empty.');
const version = textSchema('Version (SemVer).');

/** The answer to service discovery. */
export const DISCOVERY = recordSchema({ 'modules.v1': textSchema('Path of the registry of modules.') });

export const VERSIONS = recordSchema({
  modules: listSchema(
    recordSchema({
      versions: listSchema(
        recordSchema({
          ...{ version, submodules },
          root: {
            ...recordSchema({
              dependencies,
              providers: listSchema(
                recordSchema({ name: textSchema('The system.'), version: textSchema('Always empty.') }),
                'The system as a provider.',
              ),
            }),
            description: 'The module itself.',
          },
        }),
        'All versions.',
      ),
      source,
    }),
    'The module.',
  ),
});

export const DETAILS = recordSchema({
  ...{ name: textSchema('Name of the module.'), provider: textSchema('System of the module.') },
  providers: listSchema({ type: 'string' }, 'The system.'),
  root: { ...recordSchema({ dependencies }), description: 'The module itself.' },
  ...{ source, submodules, version, versions: listSchema({ type: 'string' }, 'All versions.') },
});

/** `source` is the web URL of the project. */
export function versionsDocument({ system }: TerraformAddress, rows: readonly TerraformVersionRow[], source: string) {
  const root = { dependencies: [], providers: [{ name: system, version: '' }] };
  return { modules: [{ versions: rows.map(({ version }) => ({ version, submodules: [], root })), source }] };
}

/** Returns the details of a version. `versions` has all versions of the module. */
export function detailsDocument(
  { name, system }: TerraformAddress,
  version: string,
  { versions, source }: { readonly versions: readonly string[]; readonly source: string },
) {
  return {
    ...{ name, provider: system, providers: [system], root: { dependencies: [] }, source },
    ...{ submodules: [], version, versions },
  };
}

/** Returns the row of the latest version. `rows` must not be empty. */
export function latestRow(rows: readonly TerraformVersionRow[]): TerraformVersionRow {
  const latest = findLatestTerraformVersion(rows.map(({ version }) => version));
  return rows.find(({ version }) => version === latest)!;
}

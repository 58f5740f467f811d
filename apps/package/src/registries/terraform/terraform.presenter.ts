import type { JsonSchema } from '@rookery/api-v4';
import { findLatestVersion } from './terraform.queries';
import type { TerraformAddress, TerraformVersionRow } from './terraform.queries';

/** Documents of the module registry protocol. Source: reference packages-and-admin 4.10. */

const record = (properties: JsonSchema): JsonSchema => ({
  ...{ type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
});
const text = (description: string): JsonSchema => ({ type: 'string', description });
const listSchema = (items: JsonSchema, description: string): JsonSchema => ({ type: 'array', items, description });
/** Archives are not read. */
const nothing = (description: string): JsonSchema => ({ ...listSchema({ type: 'object' }, description), maxItems: 0 });
const source = text('Web address of the project.');
const submodules = nothing('Always empty.');
const dependencies = nothing('Always empty.');
const version = text('Version (SemVer).');

/** The answer to service discovery. */
export const DISCOVERY = record({ 'modules.v1': text('Path of the registry of modules.') });

export const VERSIONS = record({
  modules: listSchema(
    record({
      versions: listSchema(
        record({
          ...{ version, submodules },
          root: {
            ...record({
              dependencies,
              providers: listSchema(
                record({ name: text('The system.'), version: text('Always empty.') }),
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

export const DETAILS = record({
  ...{ name: text('Name of the module.'), provider: text('System of the module.') },
  providers: listSchema({ type: 'string' }, 'The system.'),
  root: { ...record({ dependencies }), description: 'The module itself.' },
  ...{ source, submodules, version, versions: listSchema({ type: 'string' }, 'All versions.') },
});

/** `source` is the web URL of the project. */
export function versionsDocument({ system }: TerraformAddress, rows: readonly TerraformVersionRow[], source: string) {
  const root = { dependencies: [], providers: [{ name: system, version: '' }] };
  return { modules: [{ versions: rows.map(({ version }) => ({ version, submodules: [], root })), source }] };
}

/** Shape: `versions` are all of the module. */
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

/** The row of the latest version. Shape: at least one row. */
export function latestRow(rows: readonly TerraformVersionRow[]): TerraformVersionRow {
  const latest = findLatestVersion(rows.map(({ version }) => version));
  return rows.find(({ version }) => version === latest)!;
}

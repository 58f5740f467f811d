import type { Links } from '@rookery/platform';
import { isComposerBranchVersion } from './composer-json';
import { MAX_NAMES } from './composer.queries';
import type { ComposerVersionRow } from './composer.queries';

/** Documents of a Composer repository. Source: reference packages-and-admin 4.11. */

/** The root document of a repository. `base` is the path of the repository, without the host. */
export function composerRepositoryDocument(base: string, names: readonly string[]): object {
  const listed = names.length > MAX_NAMES ? {} : { 'available-packages': names };
  return { packages: [], 'metadata-url': `${base}/p2/%package%.json`, ...listed };
}

/**
 * Returns the JSON of the versions of a package: those of tags, or those of branches. Returns null without such
 * versions.
 */
export function composerPackageDocument(
  links: Links,
  name: string,
  rows: readonly ComposerVersionRow[],
  kind: 'tags' | 'branches',
): string | null {
  const shown = rows.filter(({ version }) => isComposerBranchVersion(version) === (kind === 'branches'));
  if (shown.length === 0) return null;
  const versions = Object.fromEntries(shown.map((row) => [row.version, versionDocument(links, name, row)]));
  return JSON.stringify({ packages: { [name]: versions } });
}

function versionDocument(links: Links, name: string, row: ComposerVersionRow): object {
  const { id: uid, version, target_sha: reference } = row;
  const archive = links.apiUrl(`projects/${row.project_id}/packages/composer/archives/${name}.zip?sha=${reference}`);
  return {
    ...(JSON.parse(row.description) as object),
    // Clients would trust the author's own value in the place of the version.
    ...{ name, version, version_normalized: undefined, uid },
    // Archives are made when they are fetched, and another release of git may write other bytes.
    dist: { type: 'zip', url: archive, reference, shasum: '' },
    source: { type: 'git', url: `${links.webUrl(row.project_path)}.git`, reference },
  };
}

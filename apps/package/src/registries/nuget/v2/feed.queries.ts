import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { NotFound } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { nameKeyOf } from '../../../packages/package-types';
import { sortDistinctNugetVersions, NugetQueries } from '../nuget.queries';
import type { NugetRow, VersionOfName } from '../nuget.queries';
import { parseNugetVersion } from '../nuget-version';
import type { FeedFilter } from './feed-filter';

/** A version with the file that clients download. Units: `size` in bytes. */
interface FeedRow extends NugetRow {
  readonly is_prerelease: boolean;
  readonly sha256: string;
  readonly size: number;
}

/** A version of a feed. */
export interface FeedEntry extends FeedRow {
  readonly isLatest: boolean;
  readonly isLatestRelease: boolean;
}

/** A page of versions, and the number of all. */
export interface FeedPage {
  readonly total: number;
  readonly entries: readonly FeedEntry[];
}

/** A request for versions. `q` is a part of names. */
export interface FeedSearch extends FeedFilter {
  readonly q: string;
  readonly prerelease: boolean;
  /** The newest version first, instead of the order of names. */
  readonly isNewestFirst: boolean;
  readonly skip: number;
  readonly top: number;
}

/** Most names whose versions one search reads if it asks neither for names nor for the newest versions. */
const MAX_NAMES = 100;

const ROWS = statement<{ ids: readonly number[] }, FeedRow>(
  'nuget_feed_rows',
  `select p.id as package_id, p.project_id, v.name_key, p.name, p.version, v.version_key, p.created_at, v.nuspec,
     v.is_prerelease, f.sha256, f.size
   from nuget_versions v
   join packages p on p.id = v.package_id
   join lateral (
     select sha256, size from package_files
     where package_id = p.id and md5(file_name) = md5(v.name_key || '.' || v.version_key || '.nupkg')
       and file_name = v.name_key || '.' || v.version_key || '.nupkg' and not is_pending_destruction
     order by id desc limit 1) f on true
   where v.package_id = any(:ids::bigint[])`,
);

type MarkedVersion = VersionOfName & { readonly isLatest: boolean; readonly isLatestRelease: boolean };

/** Versions of NuGet packages of a project for the older protocol. Source: reference packages-and-admin 4.9. */
@Injectable()
export class FeedQueries {
  constructor(
    private readonly database: Database,
    private readonly nuget: NugetQueries,
  ) {}

  /** Versions by name, of each name the oldest first. */
  async searchFeed(project: ProjectScope, viewer: Viewer, asked: FeedSearch): Promise<FeedPage> {
    const isPaged = asked.names === null && asked.latest !== null;
    const found = await this.searchNames(project, viewer, asked, isPaged);
    const byName = (await this.listVersions(project, viewer, found.names)).filter((one) => matchesSearch(one, asked));
    const versions = asked.isNewestFirst ? byName.reverse() : byName;
    const end = asked.skip + asked.top;
    return {
      total: isPaged ? found.total : versions.length,
      entries: await this.describeVersions(isPaged ? versions : versions.slice(asked.skip, end)),
    };
  }

  /** Errors: NotFound. */
  async show(project: ProjectScope, viewer: Viewer, name: string, version: string): Promise<FeedEntry> {
    const key = parseNugetVersion(version)?.key;
    const versions = await this.listVersions(project, viewer, [nameKeyOf('nuget', name)]);
    const [found] = await this.describeVersions(versions.filter((one) => one.version_key === key));
    if (!found) throw new NotFound('Package');
    return found;
  }

  /** The rows of these packages with their newest files, in any order. */
  findRows(ids: readonly number[]): Promise<FeedRow[]> {
    return this.database.run(ROWS, { ids });
  }

  private async searchNames(
    project: ProjectScope,
    viewer: Viewer,
    { q, skip, top, latest, names, prerelease }: FeedSearch,
    isPaged: boolean,
  ): Promise<{ readonly total: number; readonly names: readonly string[] }> {
    if (names !== null) {
      const keys = [...new Set(names.map((name) => nameKeyOf('nuget', name)))].sort();
      return { total: keys.length, names: keys };
    }
    const isAny = latest === null ? prerelease : latest === 'of all';
    const page = isPaged ? { skip, take: top } : { skip: 0, take: MAX_NAMES };
    const [found] = await this.nuget.searchNames(project, viewer, { q, ...page, prerelease: isAny });
    return found ?? { total: 0, names: [] };
  }

  private async listVersions(
    project: ProjectScope,
    viewer: Viewer,
    names: readonly string[],
  ): Promise<MarkedVersion[]> {
    if (names.length === 0) return [];
    const rows = await this.nuget.listVersionsOfNames(project, viewer, names, true);
    return names.flatMap((name) => markLatest(sortDistinctNugetVersions(rows.filter((row) => row.name_key === name))));
  }

  private async describeVersions(versions: readonly MarkedVersion[]): Promise<readonly FeedEntry[]> {
    const rows = versions.length === 0 ? [] : await this.findRows(versions.map((one) => one.package_id));
    const byId = new Map(rows.map((row) => [row.package_id, row]));
    return versions.flatMap(({ package_id, isLatest, isLatestRelease }) => {
      const row = byId.get(package_id);
      return row ? [{ ...row, isLatest, isLatestRelease }] : [];
    });
  }
}

/** Marks the newest version and the newest release. `versions` are those of one package, the oldest first. */
function markLatest(versions: readonly VersionOfName[]): MarkedVersion[] {
  const release = versions.findLast((one) => !isPrerelease(one));
  return versions.map((one) => ({ ...one, isLatest: one === versions.at(-1), isLatestRelease: one === release }));
}

function matchesSearch(candidate: MarkedVersion, { latest, version, prerelease }: FeedSearch): boolean {
  if (version !== null && parseNugetVersion(version)?.key !== candidate.version_key) return false;
  if (latest !== null) return latest === 'of all' ? candidate.isLatest : candidate.isLatestRelease;
  return prerelease || !isPrerelease(candidate);
}

const isPrerelease = ({ version_key: key }: VersionOfName): boolean => parseNugetVersion(key)!.labels.length > 0;

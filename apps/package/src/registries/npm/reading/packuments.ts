import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { NotFound } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { SemVer } from 'semver';
import { stripNpmScope, stripBuildMetadata } from '../npm-names';
import { PackumentCache } from './packument-cache';
import { batchManifestIds } from './manifest-parts';
import type { SizedManifest } from './manifest-parts';
import type { NpmPlace } from './npm-place';
import { NpmQueries } from './npm.queries';
import type { NpmForm, NpmManifestRow, NpmSource, NpmVersionRow } from './npm.queries';

/**
 * A JSON document for clients. `revision` distinguishes its contents; `open` is the text itself if it was written
 * lately, and null if the client has it.
 */
export interface NpmDocument {
  readonly form: NpmForm;
  readonly revision: string;
  readonly open: (() => Readable) | Buffer | null;
}

/** All versions of a name at a place. `versions` begins with the oldest one. `tags` always has `latest`. */
interface PackumentVersions {
  readonly name: string;
  readonly sources: readonly NpmSource[];
  readonly versions: ReadonlyMap<string, NpmVersionRow>;
  readonly tags: ReadonlyMap<string, string>;
}

/** Fields of the newest version that describe the package. */
const DESCRIBING = ['description', 'maintainers', 'repository', 'homepage', 'bugs', 'license', 'keywords', 'author'];

/**
 * Metadata documents of packages. A document is written while it is read from the database, and a client that has its
 * revision gets none. Source: reference packages-and-admin 4.4.
 */
@Injectable()
export class Packuments {
  private readonly cache = new PackumentCache();

  constructor(
    private readonly queries: NpmQueries,
    private readonly links: Links,
  ) {}

  /** The document of a package. `known` are revisions that the client has. Errors: NotFound. */
  async findPackument(
    place: NpmPlace,
    viewer: Viewer,
    name: string,
    { form, known }: { readonly form: NpmForm; readonly known: ReadonlySet<string> },
  ): Promise<NpmDocument> {
    const sources = await this.queries.listSources(place, viewer, name);
    const revision = computeJsonDigest([form, place.prefix, name, sources]);
    if (known.has(revision)) return { form, revision, open: null };
    const written = this.cache.findDocument(revision);
    if (written) return { form, revision, open: written };
    const named = await this.listVersions(sources, name);
    const open = () => Readable.from(this.cache.keepTexts(revision, this.writePackument(place, named, form)));
    return { form, revision, open };
  }

  /** The manifest of one version. Errors: NotFound. */
  async findManifest(place: NpmPlace, viewer: Viewer, name: string, versionOrTag: string): Promise<string> {
    const named = await this.listVersions(await this.queries.listSources(place, viewer, name), name);
    const found = named.versions.get(named.tags.get(versionOrTag) ?? versionOrTag);
    const row = found ? await this.queries.findManifest(found.id) : undefined;
    if (!row) throw new NotFound('Package');
    return renderVersion({ name, version: found!.version }, row, {
      form: 'full',
      files: this.tarballUrlPrefix(place, name),
    });
  }

  /** Tags of a package by name, with `latest`. Errors: NotFound. */
  async listTags(place: NpmPlace, viewer: Viewer, name: string): Promise<ReadonlyMap<string, string>> {
    return (await this.listVersions(await this.queries.listSources(place, viewer, name), name)).tags;
  }

  /** Merges several projects: the newest package decides about a version, and the last change about a tag. */
  private async listVersions(sources: readonly NpmSource[], name: string): Promise<PackumentVersions> {
    const projects = sources.map(({ project_id }) => project_id);
    const [rows, tagRows] = await Promise.all([
      this.queries.listVersions(projects, name),
      this.queries.listTags(projects, name),
    ]);
    if (rows.length === 0) throw new NotFound('Package');
    const versions = new Map<string, NpmVersionRow>();
    for (const row of rows) {
      versions.delete(row.version);
      versions.set(row.version, row);
    }
    const tags = new Map(tagRows.map((tag) => [tag.name, tag.version]));
    if (!tags.has('latest')) tags.set('latest', highestVersionPreferringStable([...versions.keys()]));
    return { name, sources, versions, tags };
  }

  private async *writePackument(place: NpmPlace, named: PackumentVersions, form: NpmForm): AsyncGenerator<string> {
    const { name, versions } = named;
    const versionsById = new Map([...versions.values()].map(({ id, version }) => [id, version]));
    const shape = { form, files: this.tarballUrlPrefix(place, name) };
    const chunks = this.manifestChunks([...versionsById.keys()], form);
    const head = form === 'full' ? this.renderFullHead(named) : renderShortHead(named);
    let [text, chunk] = await Promise.all([head, chunks.next()]);
    let separator = '';
    while (!chunk.done) {
      for (const row of chunk.value) {
        const version = versionsById.get(row.id)!;
        text += `${separator}"${version}":${renderVersion({ name, version }, row, shape)}`;
        separator = ',';
      }
      yield text;
      text = '';
      chunk = await chunks.next();
    }
    yield `${text}}}`;
  }

  /** Reads one part while the one before is sent, so that two are held in memory. */
  private async *manifestChunks(ids: readonly number[], form: NpmForm): AsyncGenerator<readonly NpmManifestRow[]> {
    // Short manifests are small.
    const [first, ...others] = batchManifestIds(
      form === 'full' ? await this.queries.readManifestSizes(ids) : ids.map(toUnsizedManifest),
    );
    if (first === undefined) return;
    const read = (part: readonly number[]): Promise<NpmManifestRow[]> => this.queries.listManifests(form, part);
    let next = read(first);
    for (const part of others) {
      const rows = await next;
      next = read(part);
      // A failure is met when the part is waited for.
      next.catch(() => undefined);
      yield rows;
    }
    yield await next;
  }

  private async renderFullHead(named: PackumentVersions): Promise<string> {
    const { name, sources, versions, tags } = named;
    const latest = versions.get(tags.get('latest')!);
    const row = latest ? await this.queries.findManifest(latest.id) : undefined;
    const manifest = row ? (JSON.parse(row.manifest) as Record<string, unknown>) : {};
    const described = DESCRIBING.filter((field) => manifest[field] !== undefined && manifest[field] !== null);
    const readme = row?.readme === null || row === undefined ? [] : [renderJsonPair('readme', row.readme)];
    const head = [
      ...[
        renderJsonPair('_id', name),
        renderJsonPair('_rev', renderRevision(sources)),
        renderJsonPair('name', name),
        renderDistTags(tags),
        renderVersionTimes(named),
      ],
      ...[...described.map((field) => renderJsonPair(field, manifest[field])), ...readme],
    ];
    return `{${head.join(',')},"versions":{`;
  }

  /** The URL of tarballs up to the version, as JSON without its quotes. */
  private tarballUrlPrefix(place: NpmPlace, name: string): string {
    return JSON.stringify(this.links.apiUrl(`${place.prefix}/${name}/-/${stripNpmScope(name)}-`)).slice(1, -1);
  }
}

/** Options of the text of a version. `files` is a result of `tarballUrlPrefix`. */
interface VersionTextOptions {
  readonly form: NpmForm;
  readonly files: string;
}

/**
 * The stored object with the fields that depend on the place and on later changes. Names, versions and digests have no
 * characters that JSON escapes.
 */
function renderVersion(
  { name, version }: { readonly name: string; readonly version: string },
  { manifest, integrity, shasum, deprecation }: NpmManifestRow,
  { form, files }: VersionTextOptions,
): string {
  const id = form === 'full' ? `"_id":"${name}@${version}",` : '';
  const deprecated = deprecation === null ? '' : `${renderJsonPair('deprecated', deprecation)},`;
  const tarball = `${files}${stripBuildMetadata(version)}.tgz`;
  const dist = `"dist":{"integrity":"${integrity}","shasum":"${shasum}","tarball":"${tarball}"}`;
  return `${manifest.slice(0, -1)},${id}${deprecated}${dist}}`;
}

/** Returns a text without slashes, by which clients name the state of a package that they change. */
export function renderRevision(sources: readonly Pick<NpmSource, 'project_id' | 'generation'>[]): string {
  const generation = Math.max(...sources.map((source) => source.generation));
  return `${generation}-${computeJsonDigest(sources.map((source) => [source.project_id, source.generation])).slice(0, 32)}`;
}

function toUnsizedManifest(id: number): SizedManifest {
  return { id, size: 0 };
}

function computeJsonDigest(facts: unknown): string {
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex');
}

function renderShortHead(named: PackumentVersions): string {
  const head = [
    renderJsonPair('name', named.name),
    renderJsonPair('modified', lastModified(named)),
    renderDistTags(named.tags),
    renderVersionTimes(named),
  ];
  return `{${head.join(',')},"versions":{`;
}

function renderDistTags(tags: ReadonlyMap<string, string>): string {
  return `"dist-tags":${renderJsonObjectOfTexts(tags)}`;
}

/** Times of all versions. Clients that wait for a version to age leave out a package without them. */
function renderVersionTimes(named: PackumentVersions): string {
  let created = Infinity;
  let text = '';
  for (const { version, createdAt } of named.versions.values()) {
    created = Math.min(created, createdAt);
    text += `,"${version}":"${new Date(createdAt).toISOString()}"`;
  }
  return `"time":{"created":"${new Date(created).toISOString()}","modified":"${lastModified(named)}"${text}}`;
}

/** A version may be created a moment after the change was noted. */
function lastModified({ sources, versions }: PackumentVersions): string {
  let latest = Math.max(...sources.map(({ changed_at }) => changed_at.getTime()));
  for (const { createdAt } of versions.values()) latest = Math.max(latest, createdAt);
  return new Date(latest).toISOString();
}

/** The highest version without a prerelease, else the highest one. Each is parsed once. */
function highestVersionPreferringStable(versions: readonly string[]): string {
  const parsed = versions.map((version) => new SemVer(version));
  const stable = parsed.filter(({ prerelease }) => prerelease.length === 0);
  return (stable.length > 0 ? stable : parsed).reduce((most, one) => (one.compare(most) > 0 ? one : most)).raw;
}

/** Written as text, because a name such as `__proto__` is not a key of an object. */
function renderJsonObjectOfTexts(entries: ReadonlyMap<string, string>): string {
  return `{${[...entries].map(([name, value]) => renderJsonPair(name, value)).join(',')}}`;
}

function renderJsonPair(name: string, value: unknown): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)}`;
}

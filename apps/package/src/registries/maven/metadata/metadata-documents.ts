import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { PackageFiles } from '../../../packages/package-files';
import { isSnapshotMetadata } from '../maven-path';
import type { MavenDigest, MavenFilePath } from '../maven-path';
import { MavenQueries } from '../maven.queries';
import type { MavenPlace, PluginRow, VersionRow } from '../maven.queries';
import { parseMavenMetadata, renderMavenMetadata } from './metadata-xml';
import type { MavenMetadata } from './metadata-xml';
import { renderMavenSnapshotFileName } from './snapshot-files';
import { sortMavenVersions } from './version-order';

/** Largest uploaded metadata document. Units: bytes. */
export const MAX_METADATA_BYTES = 1024 ** 2;

/** A metadata document as it is served. */
export interface MetadataDocument {
  readonly bytes: Buffer;
  /** Null for a document that lists plugins only. */
  readonly lastModified: Date | null;
}

const EMPTY: MavenMetadata = {
  ...{ groupId: '', artifactId: '', version: '', latest: '', release: '', lastUpdated: '' },
  ...{ versions: [], snapshot: null, snapshotVersions: [], plugins: [] },
};

/**
 * Makes the `maven-metadata.xml` documents. Those of artifacts and groups come from the stored versions and plugins, so
 * that parallel uploads lose none and deleted versions disappear. Those of snapshots are served as uploaded, without
 * builds whose files were deleted. The same contents give the same bytes. Source: reference packages-and-admin 4.6.
 */
@Injectable()
export class MetadataDocuments {
  constructor(
    private readonly maven: MavenQueries,
    private readonly files: PackageFiles,
  ) {}

  /** Null if there is nothing to list. Errors: as `PackageFiles.readFile`. */
  findDocument(place: MavenPlace, path: MavenFilePath): Promise<MetadataDocument | null> {
    return isSnapshotMetadata(path) ? this.findSnapshotDocument(place, path) : this.generateDocument(place, path.name);
  }

  private async findSnapshotDocument(place: MavenPlace, path: MavenFilePath): Promise<MetadataDocument | null> {
    const row = await this.maven.snapshotMetadata(place, path);
    if (row === null) return null;
    const bytes = await this.files.readFile(row, MAX_METADATA_BYTES);
    const missing = new Set(row.missing);
    return {
      bytes: missing.size === 0 ? bytes : removeMissingSnapshotFiles(bytes, missing),
      lastModified: row.created_at,
    };
  }

  private async generateDocument(place: MavenPlace, name: string): Promise<MetadataDocument | null> {
    const [versions, plugins] = [await this.maven.listVersions(place, name), await this.maven.listPlugins(place, name)];
    if (versions.length === 0 && plugins.length === 0) return null;
    const newest = versions.map((row) => row.uploaded_at).reduce(laterDate, new Date(0));
    const text = renderMavenMetadata({
      ...createMavenArtifactMetadata(name, versions, newest),
      plugins: plugins.map(toPlugin),
    });
    return { bytes: Buffer.from(text), lastModified: versions.length === 0 ? null : newest };
  }
}

/** Digest of a served document, in hexadecimal. */
export function digestDocument({ bytes }: MetadataDocument, digest: MavenDigest): string {
  return createHash(digest).update(bytes).digest('hex');
}

/**
 * Returns the metadata of an artifact. `rows` begins with the last published version. A version may occur in several
 * projects.
 */
function createMavenArtifactMetadata(name: string, rows: readonly VersionRow[], newest: Date): MavenMetadata {
  if (rows.length === 0) return EMPTY;
  const at = name.lastIndexOf('/');
  return {
    ...EMPTY,
    groupId: name.slice(0, Math.max(0, at)).replaceAll('/', '.'),
    artifactId: name.slice(at + 1),
    latest: rows[0]!.version,
    release: rows.find(({ version }) => !version.endsWith('-SNAPSHOT'))?.version ?? '',
    versions: sortMavenVersions([...new Set(rows.map(({ version }) => version).reverse())]),
    lastUpdated: newest.toISOString().replace(/\D/g, '').slice(0, 14),
  };
}

function toPlugin({ artifact_id, prefix, name }: PluginRow): MavenMetadata['plugins'][number] {
  return { name, prefix, artifactId: artifact_id };
}

function removeMissingSnapshotFiles(bytes: Buffer, missing: ReadonlySet<string>): Buffer {
  const metadata = parseMavenMetadata(bytes);
  const kept = metadata.snapshotVersions.filter(
    (one) => !missing.has(renderMavenSnapshotFileName(metadata.artifactId, one)),
  );
  return Buffer.from(renderMavenMetadata({ ...metadata, snapshotVersions: kept }));
}

function laterDate(a: Date, b: Date): Date {
  return a > b ? a : b;
}

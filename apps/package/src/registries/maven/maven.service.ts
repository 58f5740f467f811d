import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Conflict, NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { PackageFiles } from '../../packages/package-files';
import { PackageUploadGate } from '../../packages/publishing/upload-gate';
import { MAX_METADATA_BYTES } from './metadata/metadata-documents';
import { parseMavenMetadata } from './metadata/metadata-xml';
import type { MavenMetadata } from './metadata/metadata-xml';
import { MavenPublishing } from './maven-publishing';
import { METADATA_FILE, refuseUnstorable } from './maven-path';
import type { MavenAddress, MavenDigest } from './maven-path';
import { MavenQueries } from './maven.queries';

/** A body that arrives. `sha512` is known at its end. Units: `declaredSize` in bytes, null if unknown. */
export interface MavenUpload {
  readonly source: Readable;
  readonly declaredSize: number | null;
  /** Resolves with whether the client was sent the whole answer. */
  readonly answered: Promise<boolean>;
  sha512(): string;
}

/** Result of an upload: a stored file, a digest that was compared, or a digest that is not compared. */
export type UploadResult = 'stored' | 'compared' | 'ignored';

/** Largest uploaded digest. Units: bytes. */
const MAX_DIGEST_BYTES = 1024;
const DIGEST_LENGTHS: Readonly<Record<MavenDigest, number>> = { md5: 32, sha1: 40, sha256: 64, sha512: 128 };

/** Uploads to Maven repositories. Source: reference packages-and-admin 4.6. */
@Injectable()
export class MavenService {
  constructor(
    private readonly files: PackageFiles,
    private readonly publishing: MavenPublishing,
    private readonly maven: MavenQueries,
    private readonly gate: PackageUploadGate,
  ) {}

  /**
   * Stores a file, or compares a digest with the file that it belongs to.
   * Errors: Refused for an unusable path, a file that is too large or a duplicate, and metadata that cannot be read;
   * Forbidden for a protected name and beyond a limit of storage; NotFound for a digest without its file; Conflict for a digest that differs; those of the source.
   */
  async uploadFile(
    project: ProjectScope,
    viewer: SignedInViewer,
    address: MavenAddress,
    upload: MavenUpload,
  ): Promise<UploadResult> {
    refuseUnstorable(address);
    if (address.digest !== null) return this.compareChecksum(project, address, address.digest, upload);
    const isMetadata = address.fileName === METADATA_FILE;
    const maxBytes = await this.gate.admitUpload(
      project,
      viewer,
      { type: 'maven', name: address.name },
      upload.declaredSize,
    );
    if (isMetadata) await this.storeMetadata(project, viewer, address, upload);
    else await this.storeFile(project, viewer, address, upload, maxBytes);
    return 'stored';
  }

  private async storeFile(
    project: ProjectScope,
    viewer: SignedInViewer,
    address: MavenAddress,
    upload: MavenUpload,
    maxBytes: number,
  ): Promise<void> {
    await this.publishing.refuseEarly(project, viewer, address);
    const content = await this.files.storeFile(upload.source, maxBytes);
    const file = { content, sha512: upload.sha512(), metadata: null };
    await this.publishing.publishFile(project, viewer, address, file, upload.answered);
  }

  private async storeMetadata(
    project: ProjectScope,
    viewer: SignedInViewer,
    address: MavenAddress,
    upload: MavenUpload,
  ): Promise<void> {
    const bytes = await readUpload(upload, MAX_METADATA_BYTES);
    const metadata: MavenMetadata = parseMavenMetadata(bytes);
    const content = await this.files.storeFile(Readable.from([bytes]), MAX_METADATA_BYTES);
    const file = { content, sha512: createHash('sha512').update(bytes).digest('hex'), metadata };
    await this.publishing.publishFile(project, viewer, address, file, upload.answered);
  }

  /**
   * Compares an uploaded digest with that of the stored file. An MD5 is ignored, because refusing a wrong one would
   * fail builds. A digest of metadata is ignored, because Rookery generates the metadata.
   * Returns `compared` for each SHA-1, for which clients expect an answer of its own. Errors: NotFound, Conflict.
   */
  private async compareChecksum(
    { id }: ProjectScope,
    address: MavenAddress,
    digest: MavenDigest,
    upload: MavenUpload,
  ): Promise<UploadResult> {
    const result = digest === 'sha1' ? 'compared' : 'ignored';
    const text = (await readUpload(upload, MAX_DIGEST_BYTES)).toString('latin1');
    if (digest === 'md5' || address.fileName === METADATA_FILE) return result;
    const file = await this.maven.findNewest({ kind: 'project', id }, address);
    if (file === null) throw new NotFound();
    const expected = file[digest];
    if (expected !== null && findHexDigestInText(text, DIGEST_LENGTHS[digest]) !== expected) throw new Conflict();
    return result;
  }
}

/** Digest files may also name the file, before or after the digest. */
function findHexDigestInText(text: string, length: number): string | null {
  const found = new RegExp(`(?<![0-9a-f])[0-9a-f]{${length}}(?![0-9a-f])`, 'i').exec(text);
  return found === null ? null : found[0].toLowerCase();
}

/** Errors: Refused `File is too large`; those of the source. */
async function readUpload({ source, declaredSize }: MavenUpload, maxBytes: number): Promise<Buffer> {
  if (declaredSize !== null && declaredSize > maxBytes) throw new Refused('File is too large');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new Refused('File is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

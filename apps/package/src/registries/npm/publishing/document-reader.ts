import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Readable } from 'node:stream';
import { Refused } from '@rookery/kernel';
import type { StoredFile } from '../../../packages/package-files';
import { Base64Decoder } from './base64-decoder';
import { NpmPublishDocumentScanner } from './document-scanner';
import type { AttachmentPart, ScannedDocument } from './document-scanner';

/** A tarball of a document. `sha512` is in base64. */
export interface StoredTarball {
  readonly content: StoredFile;
  readonly sha512: string;
}

/** A publish document whose tarballs are stored. `tarballs` maps the names of attachments. */
export interface PublishDocument extends ScannedDocument {
  readonly tarballs: ReadonlyMap<string, StoredTarball>;
}

/** Stores bytes while they arrive. */
export type StoreTarball = (source: Readable) => Promise<StoredFile>;

/**
 * Reads a publish document and stores its tarballs while they arrive. Other attachments, such as provenance bundles,
 * are skipped. Without `store`, tarballs are skipped as well. Units: bytes of the whole document.
 * Errors: Refused; those of the body and of the store.
 */
export async function readNpmPublishDocument(
  body: Readable,
  store: StoreTarball | null,
  maxBytes: number,
): Promise<PublishDocument> {
  const scanner = new NpmPublishDocumentScanner();
  const attachments = new AttachmentUploads(store);
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new Refused('File is too large.', { verbatim: true });
      for (const part of scanner.scanChunk(chunk)) await attachments.takePart(part);
    }
    return { ...scanner.finish(), tarballs: attachments.stored };
  } finally {
    attachments.abortCurrent();
  }
}

/** One tarball on its way into the store. */
class TarballUpload {
  private readonly decoder = new Base64Decoder();
  private readonly sha512 = createHash('sha512');
  private readonly bytes = new PassThrough();
  private readonly storing: Promise<StoredFile>;

  constructor(
    readonly name: string,
    store: StoreTarball,
  ) {
    this.bytes.on('error', () => undefined);
    this.storing = store(this.bytes);
    // A failure is met by the next write or by the end.
    this.storing.catch(() => undefined);
  }

  async writeBytes(bytes: Buffer): Promise<void> {
    this.sha512.update(bytes);
    try {
      if (!this.bytes.write(bytes)) await Promise.race([once(this.bytes, 'drain'), this.storing]);
    } catch {
      // The store says why it reads no further.
      await this.storing;
    }
    if (this.bytes.destroyed) await this.storing;
  }

  writeBase64(text: string): Promise<void> {
    return this.writeBytes(this.decoder.write(text));
  }

  async end(): Promise<StoredTarball> {
    await this.writeBytes(this.decoder.end());
    this.bytes.end();
    return { content: await this.storing, sha512: this.sha512.digest('base64') };
  }

  destroy(): void {
    this.bytes.destroy(new Error('the document ended'));
  }
}

/** The attachments of one document, one after another. */
class AttachmentUploads {
  readonly stored = new Map<string, StoredTarball>();
  private current: TarballUpload | null = null;

  constructor(private readonly store: StoreTarball | null) {}

  async takePart(part: AttachmentPart): Promise<void> {
    if (part.kind === 'begin') {
      if (this.store && part.name.endsWith('.tgz')) this.current = new TarballUpload(part.name, this.store);
    } else if (part.kind === 'data') await this.current?.writeBase64(part.text);
    else if (this.current) {
      const { name } = this.current;
      this.stored.set(name, await this.current.end());
      this.current = null;
    }
  }

  /** Stops storing the current tarball after its npm document was refused or ended early. */
  abortCurrent(): void {
    this.current?.destroy();
  }
}

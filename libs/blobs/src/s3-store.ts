import { Readable } from 'node:stream';
import type { CompletedPart, GetObjectCommandOutput, ListMultipartUploadsCommandOutput } from '@aws-sdk/client-s3';
import { BlobError } from './blob-error';
import type { BlobStore, ByteRange, OpenObject, StoredObject } from './blob-store';
import type { S3Place } from './blobs-url';
import { loadS3 } from './s3-client';
import type { S3, S3Credentials } from './s3-client';
import { isMissingObjectError, toBlobError } from './s3-failures';

const MIB = 1024 * 1024;
const MIN_PART_BYTES = 5 * MIB;
const MAX_PARTS = 10_000;
/** Parts of one upload that are held in memory at a time. */
const PARTS_IN_FLIGHT = 2;

export interface S3Limits {
  /** Larger objects are copied in parts of this size, so that no request takes long. S3 itself allows 5 GiB. */
  readonly copyBytes: number;
  /** Longest time until the head of an answer arrives, the sending of a part included. A request has three attempts. */
  readonly requestMs: number;
}
const LIMITS: S3Limits = { copyBytes: 256 * MIB, requestMs: 20_000 };

/**
 * Objects in a bucket. The digest of a file is known after its last byte only, so its content goes to a temporary name
 * and the server copies it to the final one. Source: ADR 0182.
 */
export class S3Store implements BlobStore {
  private loaded: Promise<S3> | undefined;

  constructor(
    private readonly place: S3Place,
    private readonly credentials: S3Credentials | null,
    private readonly limits: S3Limits = LIMITS,
  ) {}

  /** Writes a small object with one request. A larger one is sent in parts, which are discarded on failure. */
  write(name: string, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<void> {
    return this.withS3Client(async ({ client, Upload }) => {
      const body = Readable.from(content, { objectMode: false });
      // The upload reads the error from the iteration.
      body.on('error', () => undefined);
      try {
        const upload = new Upload({
          client,
          params: { ...this.objectLocation(name), Body: body },
          partSize: Math.max(MIN_PART_BYTES, Math.ceil(maxBytes / MAX_PARTS)),
          queueSize: PARTS_IN_FLIGHT,
          leavePartsOnError: false,
        });
        await upload.done();
      } finally {
        body.destroy();
      }
    });
  }

  copy(from: string, to: string, size: number): Promise<void> {
    return this.withS3Client(async (s3) => {
      if (size > this.limits.copyBytes) return this.copyInParts(s3, from, to, size);
      await s3.client.send(new s3.CopyObjectCommand({ ...this.objectLocation(to), CopySource: this.copySource(from) }));
    });
  }

  stat(name: string): Promise<StoredObject | null> {
    return this.withS3Client(async ({ client, HeadObjectCommand }) => {
      try {
        const head = await client.send(new HeadObjectCommand(this.objectLocation(name)));
        return { name, size: head.ContentLength ?? 0, modifiedAt: head.LastModified ?? new Date(0) };
      } catch (error) {
        if (isMissingObjectError(error)) return null;
        throw error;
      }
    });
  }

  open(name: string, range: ByteRange | null): Promise<OpenObject> {
    return this.withS3Client(async ({ client, GetObjectCommand }) => {
      const Range = range && `bytes=${range.start}-${range.end ?? ''}`;
      const input = { ...this.objectLocation(name), ...(Range ? { Range } : {}) };
      const answer = await client.send(new GetObjectCommand(input)).catch((error: unknown) => {
        if (isMissingObjectError(error))
          throw new BlobError('not found', 'There is no file with this key.', { cause: error });
        throw error;
      });
      const body = answer.Body as Readable;
      try {
        return { body, size: wholeObjectSize(answer, range) };
      } catch (error) {
        body.destroy();
        throw error;
      }
    });
  }

  remove(name: string): Promise<void> {
    return this.withS3Client(async ({ client, DeleteObjectCommand }) => {
      await client.send(new DeleteObjectCommand(this.objectLocation(name)));
    });
  }

  async *list(folder: string, start = ''): AsyncGenerator<StoredObject> {
    const { Bucket, Key: Prefix } = this.objectLocation(`${folder}/${start}`);
    let next: string | undefined;
    do {
      const page = await this.withS3Client(({ client, ListObjectsV2Command }) =>
        client.send(new ListObjectsV2Command({ Bucket, Prefix, ...(next ? { ContinuationToken: next } : {}) })),
      );
      for (const { Key = '', Size = 0, LastModified } of page.Contents ?? []) {
        if (LastModified) yield { name: Key.slice(this.place.prefix.length), size: Size, modifiedAt: LastModified };
      }
      next = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (next);
  }

  /** Aborts uploads in parts whose process died: their parts are not listed as objects, but cost as much. */
  async discardUnfinished(before: Date): Promise<number> {
    let discarded = 0;
    for await (const { Key, UploadId, Initiated } of this.listUnfinishedUploads()) {
      if (!Key || !UploadId || !Initiated || Initiated >= before) continue;
      await this.withS3Client(({ client, AbortMultipartUploadCommand }) =>
        client.send(new AbortMultipartUploadCommand({ Bucket: this.place.bucket, Key, UploadId })),
      );
      discarded += 1;
    }
    return discarded;
  }

  private async *listUnfinishedUploads(): AsyncGenerator<
    NonNullable<ListMultipartUploadsCommandOutput['Uploads']>[number]
  > {
    let at: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
    for (;;) {
      const input = { Bucket: this.place.bucket, Prefix: this.place.prefix, ...at };
      const page = await this.withS3Client(({ client, ListMultipartUploadsCommand }) =>
        client.send(new ListMultipartUploadsCommand(input)),
      );
      yield* page.Uploads ?? [];
      if (!page.IsTruncated) return;
      at = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
    }
  }

  private async copyInParts(s3: S3, from: string, to: string, size: number): Promise<void> {
    const { client } = s3;
    const { UploadId } = await client.send(new s3.CreateMultipartUploadCommand(this.objectLocation(to)));
    const upload = { ...this.objectLocation(to), UploadId };
    try {
      const Parts: CompletedPart[] = [];
      const bytes = Math.max(this.limits.copyBytes, Math.ceil(size / MAX_PARTS));
      for (let start = 0; start < size; start += bytes) {
        const end = Math.min(start + bytes, size) - 1;
        const PartNumber = Parts.length + 1;
        const source = { CopySource: this.copySource(from), CopySourceRange: `bytes=${start}-${end}` };
        const copied = await client.send(new s3.UploadPartCopyCommand({ ...upload, ...source, PartNumber }));
        Parts.push({ PartNumber, ETag: copied.CopyPartResult?.ETag });
      }
      await client.send(new s3.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
    } catch (error) {
      // The sweep discards it if this fails.
      await client.send(new s3.AbortMultipartUploadCommand(upload)).catch(() => undefined);
      throw error;
    }
  }

  private objectLocation(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.place.bucket, Key: `${this.place.prefix}${name}` };
  }

  private copySource(name: string): string {
    return `${this.place.bucket}/${encodeURI(this.objectLocation(name).Key)}`;
  }

  /** Runs requests with the library, loaded on first use. */
  private async withS3Client<T>(work: (s3: S3) => Promise<T>): Promise<T> {
    this.loaded ??= loadS3(this.place, this.credentials, this.limits.requestMs);
    try {
      return await work(await this.loaded);
    } catch (error) {
      throw toBlobError(error);
    }
  }
}

/** Size of the whole object. Errors: BlobError `range` for an empty object, `unavailable` when another range is answered. */
function wholeObjectSize({ ContentLength, ContentRange }: GetObjectCommandOutput, range: ByteRange | null): number {
  if (range === null) return ContentLength ?? 0;
  const [, start, end, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(ContentRange ?? '') ?? [];
  if (ContentLength === 0 || size === '0') throw new BlobError('range', 'An empty file has no range.');
  const isAsked = Number(start) === range.start && Number(end) === Math.min(range.end ?? Infinity, Number(size) - 1);
  if (!isAsked) throw new BlobError('unavailable', 'The S3 server answers another range than the one asked for.');
  return Number(size);
}

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { readObject, streamBlob } from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';
import { NotFound, Unavailable } from '@rookery/kernel';
import { currentWaiter } from '@rookery/platform';
import { LRUCache } from 'lru-cache';
import { convertGitFailures } from '../../repositories/git-failures';

/** Part of a blob. Units: bytes from the beginning, `end` included. */
interface BlobRange {
  readonly start: number;
  readonly end: number;
}

/** Content of a blob. `small` holds the whole content. It is null for a blob that is only streamed. Units: bytes. */
export interface BlobContent {
  readonly id: string;
  readonly size: number;
  /** SHA-256 in hexadecimal. */
  readonly sha256: string;
  /** UTF-8 without NUL, as far as the beginning shows. */
  readonly isText: boolean;
  readonly small: Buffer | null;
  /** Opens the bytes or a range of them. `gone` ends the wait for a process, and the process. */
  open(range?: BlobRange | null, gone?: AbortSignal): Promise<Readable>;
}

type BlobFacts = Pick<BlobContent, 'sha256' | 'isText'>;

/** Blobs up to this size are held in memory while they are sent. Units: bytes. */
const SMALL_BYTES = 1024 * 1024;
/** Beginning of a file that decides whether it is text. Units: bytes. */
const TEXT_PROBE_BYTES = 8 * 1024;
const MAX_KNOWN = 20_000;

/** Reads blobs with the facts that answers name. Facts of large blobs cost a read of the whole blob, so they are kept. */
@Injectable()
export class BlobContents {
  private readonly known = new LRUCache<string, BlobFacts>({ max: MAX_KNOWN });

  /** Reads a blob whose id and size are known. Errors: NotFound if it disappeared. */
  async readBlob(
    repository: Repository,
    { id, size }: { readonly id: string; readonly size: number },
  ): Promise<BlobContent> {
    const open = (range: BlobRange | null = null, gone?: AbortSignal) => openBlob(repository, id, range, gone);
    if (size > SMALL_BYTES) return { id, size, small: null, open, ...(await this.readBlobFacts(id, open)) };
    const object = await readObject(repository, { rev: id as ObjectId }, SMALL_BYTES);
    if (object === null) throw new NotFound('Blob');
    const small = object.content;
    const sha256 = createHash('sha256').update(small).digest('hex');
    return { id, size, small, open, sha256, isText: isUtf8TextProbe(small.subarray(0, TEXT_PROBE_BYTES)) };
  }

  /** Errors: Unavailable at the deadline of the request, whose place in the line must not outlast it. */
  private async readBlobFacts(id: string, open: BlobContent['open']): Promise<BlobFacts> {
    const known = this.known.get(id);
    if (known) return known;
    const hash = createHash('sha256');
    let probe: Buffer = Buffer.alloc(0);
    for await (const chunk of await open(null, createRequestDeadlineSignal())) {
      hash.update(chunk as Buffer);
      if (probe.length < TEXT_PROBE_BYTES) probe = Buffer.concat([probe, chunk as Buffer]);
    }
    const facts = { sha256: hash.digest('hex'), isText: isUtf8TextProbe(probe.subarray(0, TEXT_PROBE_BYTES)) };
    this.known.set(id, facts);
    return facts;
  }
}

/** Returns a signal that is aborted at the deadline of the request; undefined without a deadline. */
function createRequestDeadlineSignal(): AbortSignal | undefined {
  const { deadline = Infinity } = currentWaiter() ?? {};
  if (deadline === Infinity) return undefined;
  const ended = new AbortController();
  setTimeout(() => ended.abort(new Unavailable('deadline')), Math.max(0, deadline - Date.now())).unref();
  return ended.signal;
}

async function openBlob(
  repository: Repository,
  id: string,
  range: BlobRange | null,
  gone: AbortSignal | undefined,
): Promise<Readable> {
  const blob = await convertGitFailures(() => streamBlob(repository, { rev: id as ObjectId }, gone));
  if (blob === null) throw new NotFound('Blob');
  return range === null ? blob.content : Readable.from(sliceContent(blob.content, range), { objectMode: false });
}

async function* sliceContent(content: Readable, { start, end }: BlobRange): AsyncGenerator<Buffer> {
  let at = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    const wanted = chunk.subarray(Math.max(0, start - at), Math.max(0, end + 1 - at));
    at += chunk.length;
    if (wanted.length > 0) yield wanted;
    // Leaving the loop ends the process of git.
    if (at > end) return;
  }
}

/** The probe may end within a character, so up to three bytes at its end are ignored. */
function isUtf8TextProbe(probe: Buffer): boolean {
  if (probe.includes(0)) return false;
  if (isUtf8(probe)) return true;
  if (probe.length < TEXT_PROBE_BYTES) return false;
  return [1, 2, 3].some((cut) => isUtf8(probe.subarray(0, probe.length - cut)));
}

import { Readable } from 'node:stream';
import type { FileAnswer, OpenRange } from '@rookery/api-v4';
import type { BlobContent } from './blob-contents';

/**
 * Answers with a JSON object that has the content of a blob in base64, under `content`. Large contents are streamed, so
 * they are never held in memory. `before` and `after` are the fields around the content; `beforeLargeContent` runs before a large
 * content is opened and may refuse it.
 */
export function renderBlobContentJson(
  blob: BlobContent,
  { before, after = {} }: { readonly before: object; readonly after?: object },
  beforeLargeContent: () => Promise<void>,
): Pick<FileAnswer, 'mediaType' | 'stream' | 'length'> {
  const head = `${JSON.stringify(before).slice(0, -1)},"content":"`;
  const rest = JSON.stringify(after).slice(1);
  const tail = rest === '}' ? '"}' : `",${rest}`;
  const mediaType = 'application/json';
  if (blob.small !== null) return { mediaType, stream: Buffer.from(`${head}${blob.small.toString('base64')}${tail}`) };
  const length = Buffer.byteLength(head) + 4 * Math.ceil(blob.size / 3) + Buffer.byteLength(tail);
  const open: OpenRange = async (_range, gone) => {
    await beforeLargeContent();
    return Readable.from(streamBase64BetweenHeadAndTail(head, await blob.open(null, gone), tail), {
      objectMode: false,
    });
  };
  return { mediaType, length, stream: open };
}

async function* streamBase64BetweenHeadAndTail(head: string, content: Readable, tail: string): AsyncGenerator<Buffer> {
  yield Buffer.from(head);
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of content as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    // Only whole groups of three bytes are encoded without padding.
    const whole = bytes.length - (bytes.length % 3);
    rest = bytes.subarray(whole);
    if (whole > 0) yield Buffer.from(bytes.toString('base64', 0, whole), 'latin1');
  }
  yield Buffer.from(rest.toString('base64') + tail);
}

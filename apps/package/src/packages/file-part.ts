import { PassThrough } from 'node:stream';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';
import type { BusboyInstance } from '@fastify/busboy';
import { InvalidParameters } from '@rookery/kernel';
import { toInvalidPartError } from './invalid-part-error';
import { MAX_SKIPPED_BYTES } from './upload-form';

/** Name of the part that holds the file. */
const FILE_PART = 'file';

/** A request body. `mediaType` is the one that the client sent. */
type BodyWithMediaType = Readable & { readonly mediaType: string };

/**
 * Returns the part `file` of a multipart body. Further parts are skipped, and the size of the part is not known before
 * its end. `onFilename` receives the file name when the part begins.
 * Errors, of the stream: InvalidParameters without the part, for a body that is no multipart and for skipped files
 * above 64 MiB; those of the body.
 */
export function readFilePart(
  body: BodyWithMediaType,
  onFilename: (filename: string) => void = () => undefined,
): Readable {
  const content = new PassThrough();
  // The body may fail before its reader listens, and an error without a listener would end the process.
  content.on('error', () => undefined);
  void copyFilePartToStream(body, content, onFilename).catch((error: unknown) =>
    content.destroy(toInvalidPartError(error, FILE_PART) as Error),
  );
  return content;
}

async function copyFilePartToStream(
  body: BodyWithMediaType,
  content: PassThrough,
  onFilename: (filename: string) => void,
): Promise<void> {
  if (!/^multipart\/form-data\b/i.test(body.mediaType)) throw new InvalidParameters([`${FILE_PART} is missing`]);
  const copied: Promise<void>[] = [];
  let skippedBytes = 0;
  const parser = createFormParser(body.mediaType);
  parser.on('file', (name, part, filename) => {
    // A form that is cut also fails the part, and an error without a listener would end the process.
    part.on('error', () => undefined);
    if (name !== FILE_PART || copied.length > 0) {
      return void part.on('data', (chunk: Buffer) => {
        skippedBytes += chunk.length;
        if (skippedBytes > MAX_SKIPPED_BYTES) parser.destroy(new InvalidParameters(['form is too large']));
      });
    }
    onFilename(filename ?? '');
    const copy = pipeline(part, content, { end: false });
    // A reader that stops must end the upload, not stall it.
    copy.catch((error: Error) => parser.destroy(error));
    copied.push(copy);
  });
  await pipeline(body, parser);
  if (copied.length === 0) throw new InvalidParameters([`${FILE_PART} is missing`]);
  await Promise.all(copied);
  content.end();
}

function createFormParser(mediaType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': mediaType },
      limits: { fields: 100, parts: 200, fieldSize: 65_536 },
    });
  } catch {
    throw new InvalidParameters([`${FILE_PART} is invalid`]);
  }
}

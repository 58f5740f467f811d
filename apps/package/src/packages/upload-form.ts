import { PassThrough } from 'node:stream';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';
import type { BusboyFileStream, BusboyInstance } from '@fastify/busboy';
import { InvalidParameters } from '@rookery/kernel';
import { toInvalidPartError } from './invalid-part-error';

/**
 * The parts of a form that are read: text parts, and the part that holds the file. Clients send many more, which are
 * skipped without being held.
 */
export interface FormParts<F extends string> {
  readonly fields: readonly F[];
  readonly file: string;
  /** Takes the first part that has the name of a file, whatever its own name. */
  readonly isAnyName?: true;
}

/** The file while it arrives. `fields` has the text parts before it. Of a repeated part it has the first value. */
export interface ContentPart<F extends string> {
  readonly source: Readable;
  readonly fileName: string;
  readonly fields: ReadonlyMap<F, string>;
}

type StoreContent<F extends string, T> = (part: ContentPart<F>) => Promise<T>;

/** `content` is what was stored, null without the file. */
export interface UploadForm<F extends string, T> {
  readonly fields: ReadonlyMap<F, string>;
  readonly content: T | null;
}

type BodyWithMediaType = Readable & { readonly mediaType: string };

const MAX_PARTS = 5000;
/** Largest size of a text part that is read. Units: bytes. */
const MAX_FIELD_BYTES = 64 * 1024;
/** Largest size of all skipped parts together. Units: bytes. */
export const MAX_SKIPPED_BYTES = 64 * 1024 ** 2;

/**
 * Reads a form: text parts in any order and a file, which `store` takes while it arrives.
 * Errors: InvalidParameters for a body that is no such form or beyond the bounds; those of the body and of `store`.
 */
export async function readUploadForm<F extends string, T>(
  body: BodyWithMediaType,
  parts: FormParts<F>,
  store: StoreContent<F, T>,
): Promise<UploadForm<F, T>> {
  try {
    return await readFormParts(body, parts, store);
  } catch (error) {
    throw toInvalidPartError(error, parts.file);
  }
}

async function readFormParts<F extends string, T>(
  body: BodyWithMediaType,
  parts: FormParts<F>,
  store: StoreContent<F, T>,
): Promise<UploadForm<F, T>> {
  const fields = new Map<F, string>();
  const contents: StoredPart<T>[] = [];
  const parser = createFormParser(body.mediaType, parts);
  const refuse = (problem: string): void => void parser.destroy(new InvalidParameters([problem]));
  let skippedBytes = 0;
  parser.on('field', (name: F, value, _isNameCut, isCut) => {
    if (isCut) refuse(`${name} is too long`);
    else if (!fields.has(name)) fields.set(name, value);
  });
  parser.on('file', (name, part, fileName) => {
    part.on('error', ignoreError);
    if ((parts.isAnyName ? fileName : name === parts.file) && contents.length === 0) {
      const content = storePart(part, (source) => store({ source, fileName: fileName ?? '', fields }));
      content.stored.catch((error: Error) => parser.destroy(error));
      return void contents.push(content);
    }
    part.on('data', (chunk: Buffer) => {
      skippedBytes += chunk.length;
      if (skippedBytes > MAX_SKIPPED_BYTES) refuse('form is too large');
    });
  });
  for (const limit of ['partsLimit', 'fieldsLimit'] as const) parser.on(limit, () => refuse('form has too many parts'));
  try {
    await pipeline(body, parser);
  } catch (error) {
    contents[0]?.source.destroy(error as Error);
    await contents[0]?.stored.catch(ignoreError);
    throw error;
  }
  return { fields, content: (await contents[0]?.stored) ?? null };
}

interface StoredPart<T> {
  readonly source: PassThrough;
  readonly stored: Promise<T>;
}

/** Hands a part to `store`. A failure of either ends the other, so that no side waits for the other one. */
function storePart<T>(part: BusboyFileStream, store: (source: Readable) => Promise<T>): StoredPart<T> {
  const source = new PassThrough().on('error', ignoreError);
  const copied = pipeline(part, source);
  const taken = store(source).catch((error: unknown) => {
    source.destroy(error as Error);
    throw error;
  });
  copied.catch(() => undefined);
  return { source, stored: taken };
}

/** Listens to errors that end the form in another way. Without a listener, an error would end the process. */
function ignoreError(): void {
  // Nothing is left to do.
}

function createFormParser(mediaType: string, { fields, file }: FormParts<string>): BusboyInstance {
  if (!/^multipart\/form-data\b/i.test(mediaType)) throw new InvalidParameters([`${file} is missing`]);
  const isRead = new Set<string>(fields);
  try {
    return new Busboy({
      headers: { 'content-type': mediaType },
      isPartAFile: (name) => name === undefined || !isRead.has(name),
      limits: { parts: MAX_PARTS, fields: MAX_PARTS, fieldSize: MAX_FIELD_BYTES },
    });
  } catch {
    throw new InvalidParameters([`${file} is invalid`]);
  }
}

import type { Readable } from 'node:stream';
import { readFilePart } from '../../packages/file-part';

/**
 * A request body. `mediaType` is the one that the client sent. `declaredSize` is in bytes, or null for a chunked body.
 */
type BodyWithTypeAndSize = Readable & { readonly mediaType: string; readonly declaredSize: number | null };

/**
 * Returns the uploaded file: the body, or the part `file` of a multipart body, which some client libraries send
 * instead.
 * `open` starts to read the body.
 * Errors, of the stream: as `readFilePart`.
 * Source: reference packages-and-admin 4.3.
 */
export function openRawOrMultipartUpload(body: BodyWithTypeAndSize): {
  readonly open: () => Readable;
  readonly declaredSize: number | null;
} {
  if (!/^multipart\/form-data\b/i.test(body.mediaType)) return { open: () => body, declaredSize: body.declaredSize };
  return { open: () => readFilePart(body), declaredSize: null };
}

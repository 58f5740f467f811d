import type { Readable } from 'node:stream';
import { readFilePart } from '../../packages/file-part';

/** A request body. Shape: `mediaType` as the client sent it; `declaredSize` in bytes, null for a chunked body. */
type Body = Readable & { readonly mediaType: string; readonly declaredSize: number | null };

/**
 * Returns the uploaded file: the body, or the part `file` of a multipart body, which some client libraries send instead.
 * Shape: `open` starts to read the body.
 * Errors, of the stream: as `readFilePart`.
 * Source: reference packages-and-admin 4.3.
 */
export function openUpload(body: Body): { readonly open: () => Readable; readonly declaredSize: number | null } {
  if (!/^multipart\/form-data\b/i.test(body.mediaType)) return { open: () => body, declaredSize: body.declaredSize };
  return { open: () => readFilePart(body), declaredSize: null };
}

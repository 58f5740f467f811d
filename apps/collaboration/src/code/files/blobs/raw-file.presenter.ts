import type { FileAnswer } from '@rookery/api-v4';
import type { BlobContent } from './blob-contents';

/**
 * Answers with the bytes of a blob. Text is shown as plain text, and all else is a download, so that no page of a user
 * runs in a browser.
 */
export function rawFile({ isText, size, small, open }: BlobContent, filename: string): FileAnswer {
  const bytes = small === null ? { stream: open, length: size } : { stream: small };
  if (!isText) return { ...bytes, filename, mediaType: 'application/octet-stream' };
  return { ...bytes, filename, mediaType: 'text/plain; charset=utf-8', isInline: true };
}

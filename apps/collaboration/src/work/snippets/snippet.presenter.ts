import { file } from '@rookery/api-v4';
import type { FileAnswer } from '@rookery/api-v4';
import type { SnippetContent } from './snippets.queries';

/** A file as plain text, whatever it contains, so that no browser renders it as a page. */
export const rawText = file('text/plain');

export function toRawFile({ path, content }: SnippetContent): FileAnswer {
  const filename = path.slice(path.lastIndexOf('/') + 1);
  return { stream: Buffer.from(content), mediaType: 'text/plain; charset=utf-8', filename };
}

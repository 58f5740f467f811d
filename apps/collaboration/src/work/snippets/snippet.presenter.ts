import { file } from '@rookery/api-v4';
import type { FileAnswer } from '@rookery/api-v4';
import type { SnippetContent } from './snippets.queries';

/** Plain text, whatever is in it: nobody's browser makes a page of it. */
export const rawText = file('text/plain');

export function rawOf({ path, content }: SnippetContent): FileAnswer {
  const filename = path.slice(path.lastIndexOf('/') + 1);
  return { stream: Buffer.from(content), mediaType: 'text/plain; charset=utf-8', filename };
}

import { bool, file, nullable, presenter, text } from '@rookery/api-v4';
import type { FileAnswer } from '@rookery/api-v4';
import type { SnippetContent, SnippetMaking } from './snippets.queries';

/** Plain text, whatever is in it: nobody's browser makes a page of it. */
export const rawText = file('text/plain');

export function rawOf({ path, content }: SnippetContent): FileAnswer {
  const filename = path.slice(path.lastIndexOf('/') + 1);
  return { stream: Buffer.from(content), mediaType: 'text/plain; charset=utf-8', filename };
}

/** With what and from where something was made. Source: reference work-tracking 9.2. */
export const userAgentDetail = presenter<SnippetMaking>('UserAgentDetail').fields({
  user_agent: [nullable(text), ({ user_agent }) => user_agent],
  ip_address: [nullable(text), ({ ip_address }) => ip_address],
  akismet_submitted: [bool, () => false],
});

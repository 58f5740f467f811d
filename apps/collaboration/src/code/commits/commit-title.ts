import type { Commit } from '@rookery/git';

/** First line of the message. */
export function extractTitle({ message }: Pick<Commit, 'message'>): string {
  return message.split('\n', 1)[0]!;
}

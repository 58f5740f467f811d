import { Int, OneOf, Text } from '@rookery/api-v4';
import { InvalidParameters } from '@rookery/kernel';
import { IdentifyCommit } from '../../code/commits/commits.dto';
import type { NewComment } from './commit-comments.service';

export class CreateCommitComment extends IdentifyCommit {
  @Text({ about: 'At most 1,000,000 characters of Markdown.' }) note: string;
  @Text({ optional: true, max: 4096, about: 'Path of a changed file.' }) path?: string;
  @Int({ optional: true, about: 'Added or removed line; required with `path`.' }) line?: number;
  @OneOf(['new', 'old'], { default: 'new', about: 'Side of the diff that `line` is on.' }) line_type: 'new' | 'old';
}

/** Converts the parameters of a new comment. Errors: InvalidParameters for a file without a line. */
export function toNewComment({ note: body, path, line, line_type: type }: CreateCommitComment): NewComment {
  if (!path) return { body, at: null };
  if (line === undefined) throw new InvalidParameters(['line is missing']);
  return { body, at: { path, line, type } };
}

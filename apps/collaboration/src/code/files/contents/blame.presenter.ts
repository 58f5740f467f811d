import { Readable } from 'node:stream';
import type { FileAnswer } from '@rookery/api-v4';
import type { Repository } from '@rookery/git';
import { formatCommitTimeZoned } from '../../repositories/commit-times';
import { convertGitFailures } from '../../repositories/git-failures';
import { readBlamedLines } from './blamed-lines';
import type { BlamedLines } from './blamed-lines';
import type { FileAtRef } from './file-finder';
import type { ShowLineRange } from './files.dto';

const textSchema = (description: string) => ({ type: 'string', description }) as const;
const timeSchema = (description: string) => ({ ...textSchema(description), format: 'date-time' }) as const;

const COMMIT = {
  id: textSchema('Id of the commit.'),
  parent_ids: { type: 'array', items: { type: 'string' }, description: 'Ids of the parents.' },
  message: textSchema('Whole message.'),
  authored_date: timeSchema('Time of the author.'),
  author_name: textSchema('Name of the author.'),
  author_email: textSchema('E-mail address of the author.'),
  committed_date: timeSchema('Time of the committer.'),
  committer_name: textSchema('Name of the committer.'),
  committer_email: textSchema('E-mail address of the committer.'),
} as const;

/** Schema of the lines of a file with their commits. */
export const BLAME_SCHEMA = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      commit: {
        type: 'object',
        description: 'Commit that wrote the lines.',
        properties: COMMIT,
        required: Object.keys(COMMIT),
      },
      lines: { type: 'array', items: { type: 'string' }, description: 'Neighbouring lines without line ends.' },
    },
    required: ['commit', 'lines'],
  },
} as const;

/** Answers with the lines of a file and their commits. They are read when they are sent, so HEAD costs little. */
export function blamedFile(
  repository: Repository,
  file: FileAtRef,
  range?: ShowLineRange,
): Pick<FileAnswer, 'mediaType' | 'stream'> {
  const stream = async (): Promise<Readable> => {
    const groups = await convertGitFailures(() => readBlamedLines(repository, file, range));
    return Readable.from([Buffer.from(JSON.stringify(groups.map(toBlameJson)))], { objectMode: false });
  };
  return { mediaType: 'application/json', stream };
}

function toBlameJson({ commit: { id, parents, message, author, committer }, lines }: BlamedLines): object {
  const commit: Record<keyof typeof COMMIT, unknown> = {
    id,
    parent_ids: parents,
    message,
    authored_date: formatCommitTimeZoned(author),
    author_name: author.name,
    author_email: author.email,
    committed_date: formatCommitTimeZoned(committer),
    committer_name: committer.name,
    committer_email: committer.email,
  };
  return { commit, lines };
}

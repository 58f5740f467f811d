import { AtMostOneOf, Flag, IdOrPath, ListOfHashes, OneOf, Text } from '@rookery/api-v4';
import { ValidateBy } from 'class-validator';
import { MatchesEncodingField } from './base64-content';
import type { ContentEncoding } from './base64-content';

/** Parameters that an action needs beyond its path. */
const NEEDED: Readonly<Record<string, string>> = {
  update: 'content',
  move: 'previous_path',
  chmod: 'execute_filemode',
};
const MAX_ACTIONS = 1000;

/** Change of one file in a commit. */
export class ApplyCommitAction {
  @OneOf(['create', 'update', 'move', 'delete', 'chmod'], { about: 'Kind of the change.' })
  action: 'create' | 'update' | 'move' | 'delete' | 'chmod';
  @Text({ about: 'Path of the file.' }) file_path: string;
  @Text({ optional: true, about: 'Path of the file before a `move`.' }) previous_path?: string;
  @OneOf(['text', 'base64'], { default: 'text', about: 'Encoding of the content.' }) encoding: ContentEncoding;
  @MatchesEncodingField()
  @Text({ optional: true, about: 'Content of the file. A `move` without it keeps the bytes.' })
  content?: string;
  @Text({ optional: true, about: 'Last commit of the file that the caller knows.' }) last_commit_id?: string;
  @Flag({ optional: true, about: 'Whether the file is executable, for `chmod`.' }) execute_filemode?: boolean;
}

@AtMostOneOf('start_branch', 'start_sha')
export class CreateCommit {
  @Text({ blank: 'refused', about: 'Branch that gets the commit.' }) branch: string;
  @Text({ about: 'Message of the commit.' }) commit_message: string;
  @HasParametersForEachAction()
  @ListOfHashes(() => ApplyCommitAction, { max: MAX_ACTIONS, about: 'Changes of files, in this order.' })
  actions: readonly ApplyCommitAction[];
  @Text({ optional: true, about: 'Branch on which the commit builds. Default: `branch`.' }) start_branch?: string;
  @Text({ optional: true, about: 'Full id of the commit on which the commit builds.' }) start_sha?: string;
  @IdOrPath({ optional: true, about: 'Project of the start, by id or full path. Default: this project.' })
  start_project?: number | string;
  @Text({ optional: true, about: 'E-mail address of the author, together with a name.' }) author_email?: string;
  @Text({ optional: true, about: 'Name of the author, together with an e-mail address.' }) author_name?: string;
  @Flag({ default: true, about: 'Shows numbers of lines.' }) stats: boolean;
  @Flag({ default: false, about: 'Overwrites an existing branch.' }) force: boolean;
}

/** Refuses actions without a parameter that their kind needs. */
function HasParametersForEachAction(): PropertyDecorator {
  const validate = (value: unknown): boolean => findMissingActionParameters(value).length === 0;
  const message = ({ value }: { readonly value: unknown }): string => findMissingActionParameters(value).join(', ');
  return ValidateBy({ name: 'hasNeededParameters', validator: { validate } }, { message });
}

function findMissingActionParameters(items: unknown): string[] {
  if (!Array.isArray(items)) return [];
  return items.flatMap((item: unknown, index) => {
    const given = (typeof item === 'object' && item !== null ? item : {}) as Readonly<Record<string, unknown>>;
    const needed = NEEDED[String(given['action'])];
    const isMissing = needed !== undefined && (given[needed] ?? null) === null;
    return isMissing ? [`actions[${index}][${needed}] is missing`] : [];
  });
}

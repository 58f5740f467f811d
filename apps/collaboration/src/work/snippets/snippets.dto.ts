import { AtLeastOneOf, ExactlyOneOf, AtMostOneOf, Instant, Int, ListOfHashes, OneOf, Text } from '@rookery/api-v4';
import { VISIBILITIES } from '@rookery/kernel';
import type { ExactInput, Visibility } from '@rookery/kernel';
import { IP_ADDRESS_PARAM, USER_AGENT_PARAM } from '../../base/noteables/user-agent-detail';
import type { UserAgentParams } from '../../base/noteables/user-agent-detail';
import type { SnippetFilters } from './snippets.queries';
import type { SnippetChange, NewSnippetInput } from './snippets.service';
import { FILE_ACTIONS } from './snippet-files';
import type { FileAction } from './snippet-files';

const TITLE = 'At most 255 characters; not blank.';
const PATH = { max: 255, blank: 'refused' } as const;
const FILES = 'At most 10 files with 4 MiB of text in all.';
const ALONE = 'Content of the only file, instead of `files`.';
/** Limit of a request body: 4 MiB of text, escaped. Units: bytes. Source: reference work-tracking 9.2. */
export const SNIPPET_BODY_LIMIT = 8 * 1024 * 1024;
/** Maximum number of actions. There may be more actions than files, since several may change one file. */
const MOST_ACTIONS = 100;

export class IdentifySnippet {
  @Int({ about: 'Of the snippet.' }) id: number;
}
export class IdentifyProjectSnippet {
  @Int() snippet_id: number;
}

export class ListSnippets implements ExactInput<SnippetFilters, ListSnippets> {
  @Instant({ optional: true }) created_after?: Date;
  @Instant({ optional: true }) created_before?: Date;
}

class NewSnippetFile {
  @Text(PATH) file_path: string;
  @Text({ blank: 'refused' }) content: string;
}
class ChangedSnippetFile implements ExactInput<FileAction, ChangedSnippetFile> {
  @OneOf(FILE_ACTIONS) action: FileAction['action'];
  @Text({ ...PATH, optional: true, about: 'New path of the file, for `move`.' }) file_path?: string;
  @Text({ ...PATH, optional: true, about: 'Current path of the file, for `move`.' }) previous_path?: string;
  @Text({
    optional: true,
    blank: 'refused',
    about: 'Required for `create` and `update`. A `move` without it keeps the content.',
  })
  content?: string;
}

/** Origin of a new snippet, from headers; for administrators. */
class UserAgentHeaders implements ExactInput<UserAgentParams, UserAgentHeaders> {
  @Text(USER_AGENT_PARAM) user_agent?: string;
  @Text(IP_ADDRESS_PARAM) ip_address?: string;
}

class NewSnippet extends UserAgentHeaders {
  @Text({ about: TITLE }) title: string;
  @Text({ optional: true, nullable: true }) description?: string | null;
  @ListOfHashes(() => NewSnippetFile, { optional: true, max: MOST_ACTIONS, about: FILES })
  files?: readonly NewSnippetFile[];
  @Text({ optional: true, blank: 'refused', about: ALONE }) content?: string;
  @Text({ ...PATH, optional: true, about: 'Goes with `content`.' }) file_name?: string;
}

@ExactlyOneOf('files', 'content')
export class CreateSnippet extends NewSnippet implements ExactInput<NewSnippetInput & UserAgentParams, CreateSnippet> {
  @OneOf(VISIBILITIES, { default: 'private' }) visibility: Visibility;
}

@ExactlyOneOf('files', 'content')
export class CreateProjectSnippet
  extends NewSnippet
  implements ExactInput<NewSnippetInput & UserAgentParams, CreateProjectSnippet>
{
  @OneOf(VISIBILITIES) visibility: Visibility;
}

class ChangedSnippet {
  @Text({ optional: true, about: TITLE }) title?: string;
  @Text({ optional: true, nullable: true }) description?: string | null;
  @OneOf(VISIBILITIES, { optional: true }) visibility?: Visibility;
  @ListOfHashes(() => ChangedSnippetFile, { optional: true, max: MOST_ACTIONS, about: FILES })
  files?: readonly ChangedSnippetFile[];
  @Text({ optional: true, blank: 'refused', about: ALONE }) content?: string;
  @Text({ ...PATH, optional: true, about: 'The new name of the only file.' }) file_name?: string;
}

@AtLeastOneOf('content', 'description', 'files', 'file_name', 'title', 'visibility')
@AtMostOneOf('files', 'content')
@AtMostOneOf('files', 'file_name')
export class UpdateSnippet extends ChangedSnippet implements ExactInput<SnippetChange, UpdateSnippet, 'id'> {
  @Int({ about: 'Of the snippet.' }) id: number;
}

@AtLeastOneOf('content', 'description', 'files', 'file_name', 'title', 'visibility')
@AtMostOneOf('files', 'content')
@AtMostOneOf('files', 'file_name')
export class UpdateProjectSnippet
  extends ChangedSnippet
  implements ExactInput<SnippetChange, UpdateProjectSnippet, 'snippet_id'>
{
  @Int() snippet_id: number;
}

const REF = '`main` or `HEAD`.';

export class IdentifySnippetFile extends IdentifySnippet {
  @Text({ in: 'path', about: REF }) ref: string;
  @Text({ in: 'path' }) file_path: string;
}
export class IdentifyProjectSnippetFile extends IdentifyProjectSnippet {
  @Text({ in: 'path', about: REF }) ref: string;
  @Text({ in: 'path' }) file_path: string;
}

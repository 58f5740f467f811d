import { AtLeastOneOf, ExactlyOneOf, Exclusive, Instant, Int, ListOfHashes, OneOf, Text } from '@rookery/api-v4';
import { VISIBILITIES } from '@rookery/kernel';
import type { NothingBut, Visibility } from '@rookery/kernel';
import { FROM_WHERE, WITH_WHAT } from '../../base/noteables/written-from';
import type { WrittenFrom } from '../../base/noteables/written-from';
import type { SnippetFilters } from './snippets.queries';
import type { SnippetChange, SnippetWish } from './snippets.service';
import { FILE_ACTIONS } from './snippet-files';
import type { FileAction } from './snippet-files';

const TITLE = 'At most 255 characters; not blank.';
const PATH = { max: 255, blank: 'refused' } as const;
const FILES = 'At most 10 files with 4 MiB of text in all.';
const ALONE = 'In place of `files`, of a snippet with one file.';
/** Four million bytes of text, escaped. Units: bytes. Source: reference work-tracking 9.2. */
export const SNIPPET_BODY_LIMIT = 8 * 1024 * 1024;
/** More wishes than files, since one file may be meant by several. */
const MOST_WISHES = 100;

export class OneSnippet {
  @Int({ about: 'Of the snippet.' }) id: number;
}
export class OneProjectSnippet {
  @Int() snippet_id: number;
}

export class ListSnippets implements NothingBut<SnippetFilters, ListSnippets> {
  @Instant({ optional: true }) created_after?: Date;
  @Instant({ optional: true }) created_before?: Date;
}

class NewFile {
  @Text(PATH) file_path: string;
  @Text({ blank: 'refused' }) content: string;
}
class ChangedFile implements NothingBut<FileAction, ChangedFile> {
  @OneOf(FILE_ACTIONS) action: FileAction['action'];
  @Text({ ...PATH, optional: true, about: 'Of a move: where it goes.' }) file_path?: string;
  @Text({ ...PATH, optional: true, about: 'Of a move: where it is.' }) previous_path?: string;
  @Text({ optional: true, blank: 'refused', about: 'Of a new file and of a change; as it is, after a move without.' })
  content?: string;
}

/** From where something is made, as administrators are told. */
class FromHere implements NothingBut<WrittenFrom, FromHere> {
  @Text(WITH_WHAT) user_agent?: string;
  @Text(FROM_WHERE) ip_address?: string;
}

class NewSnippet extends FromHere {
  @Text({ about: TITLE }) title: string;
  @Text({ optional: true, nullable: true }) description?: string | null;
  @ListOfHashes(() => NewFile, { optional: true, max: MOST_WISHES, about: FILES }) files?: readonly NewFile[];
  @Text({ optional: true, blank: 'refused', about: ALONE }) content?: string;
  @Text({ ...PATH, optional: true, about: 'Goes with `content`.' }) file_name?: string;
}

@ExactlyOneOf('files', 'content')
export class CreateSnippet extends NewSnippet implements NothingBut<SnippetWish & WrittenFrom, CreateSnippet> {
  @OneOf(VISIBILITIES, { default: 'private' }) visibility: Visibility;
}

@ExactlyOneOf('files', 'content')
export class CreateProjectSnippet
  extends NewSnippet
  implements NothingBut<SnippetWish & WrittenFrom, CreateProjectSnippet>
{
  @OneOf(VISIBILITIES) visibility: Visibility;
}

class ChangedSnippet {
  @Text({ optional: true, about: TITLE }) title?: string;
  @Text({ optional: true, nullable: true }) description?: string | null;
  @OneOf(VISIBILITIES, { optional: true }) visibility?: Visibility;
  @ListOfHashes(() => ChangedFile, { optional: true, max: MOST_WISHES, about: FILES }) files?: readonly ChangedFile[];
  @Text({ optional: true, blank: 'refused', about: ALONE }) content?: string;
  @Text({ ...PATH, optional: true, about: 'The new name of the only file.' }) file_name?: string;
}

@AtLeastOneOf('content', 'description', 'files', 'file_name', 'title', 'visibility')
@Exclusive('files', 'content')
@Exclusive('files', 'file_name')
export class UpdateSnippet extends ChangedSnippet implements NothingBut<SnippetChange, UpdateSnippet, 'id'> {
  @Int({ about: 'Of the snippet.' }) id: number;
}

@AtLeastOneOf('content', 'description', 'files', 'file_name', 'title', 'visibility')
@Exclusive('files', 'content')
@Exclusive('files', 'file_name')
export class UpdateProjectSnippet
  extends ChangedSnippet
  implements NothingBut<SnippetChange, UpdateProjectSnippet, 'snippet_id'>
{
  @Int() snippet_id: number;
}

const REF = '`main` or `HEAD`.';

export class OneSnippetFile extends OneSnippet {
  @Text({ in: 'path', about: REF }) ref: string;
  @Text({ in: 'path' }) file_path: string;
}
export class OneProjectSnippetFile extends OneProjectSnippet {
  @Text({ in: 'path', about: REF }) ref: string;
  @Text({ in: 'path' }) file_path: string;
}

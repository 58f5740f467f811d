import { Injectable } from '@nestjs/common';
import { snippetEvents } from '@rookery/contracts';
import { Forbidden, InvalidParameters, Refused } from '@rookery/kernel';
import type { SignedInViewer, Visibility } from '@rookery/kernel';
import { prepareStatement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { toUserAgentColumns } from '../../base/noteables/user-agent-detail';
import type { UserAgentParams } from '../../base/noteables/user-agent-detail';
import { removeNotesOfNoteables } from '../../talk/notes/note-removal';
import { storeSnippetFiles } from './snippet-file-rows';
import { applySnippetFileActions } from './snippet-files';
import type { ExistingFile, FileAction } from './snippet-files';
import { Snippet } from './snippet.entity';
import type { SnippetInput } from './snippet.entity';
import { snippetKind } from './snippet.kind';
import { snippetPolicy } from './snippet.policy';
import { SnippetsQueries } from './snippets.queries';
import type { SnippetKey, SnippetPlace } from './snippets.queries';

/** Fields for the only file of a snippet. `content` and `file_name` replace `files`. */
interface OnlyFileFields {
  readonly content?: string | undefined;
  readonly file_name?: string | undefined;
}
export interface NewSnippetInput extends SnippetInput, OnlyFileFields {
  readonly title: string;
  readonly visibility: Visibility;
  readonly files?: readonly Omit<FileAction, 'action'>[];
}
export interface SnippetChange extends SnippetInput, OnlyFileFields {
  readonly files?: readonly FileAction[];
}

const existingFiles = prepareStatement(
  'snippet_files_known',
  'select f.id, f.path, octet_length(f.content) as bytes from snippet_files f where f.snippet_id = $1::bigint order by f.id',
);
/**
 * Creates, changes and deletes snippets with their files. Methods return the snippet as JSON text. Source: reference
 * work-tracking 9.2.
 */
@Injectable()
export class SnippetsService {
  constructor(
    private readonly work: Work,
    private readonly queries: SnippetsQueries,
  ) {}

  /** Creates a snippet. Errors: InvalidParameters for content without a file name; Invalid by field, also for files. */
  async create(viewer: SignedInViewer, place: SnippetPlace, input: NewSnippetInput & UserAgentParams): Promise<string> {
    const { title, description = null, visibility } = input;
    const files = applySnippetFileActions([], toCreateActions(input));
    const origin = { projectId: place?.id ?? null, authorId: viewer.userId, ...toUserAgentColumns(input) };
    const snippet = Snippet.create(origin, { title, description, visibility });
    const id = await this.work.run(async (tx) => {
      // The callback can run again after a conflict, so that each run saves a row of its own.
      const { id: createdId } = await tx.manager.save(tx.manager.create(Snippet, { ...snippet }));
      await storeSnippetFiles(tx, createdId, [], files);
      return createdId;
    });
    return this.queries.answer(viewer, { place, id });
  }

  /**
   * Changes a snippet. Errors: NotFound, Forbidden, Refused for one file of several; Invalid by field, also for files.
   */
  async update(viewer: SignedInViewer, named: SnippetKey, changes: SnippetChange): Promise<string> {
    const { files, content, file_name, ...input } = changes;
    await this.work.run(async (tx) => {
      const { snippet, at } = await this.lockChangeableSnippet(tx, viewer, named);
      const isChanged = snippet.change(input);
      const before = await tx.prepared<ExistingFile>(existingFiles, [snippet.id]);
      const actions = files ?? createActionsForOnlyFile(before, { content, file_name });
      if (!isChanged && actions.length === 0) return;
      if (actions.length > 0) await storeSnippetFiles(tx, snippet.id, before, applySnippetFileActions(before, actions));
      const { title, description, visibility } = snippet;
      await tx.manager.update(Snippet, snippet.id, { title, description, visibility, updatedAt: at });
    });
    return this.queries.answer(viewer, named);
  }

  /** Deletes a snippet with its notes. `check` receives its last change and may refuse. Errors: NotFound, Forbidden. */
  async remove(viewer: SignedInViewer, named: SnippetKey, check: (updatedAt: Date) => void): Promise<void> {
    await this.work.run(async (tx) => {
      const { snippet } = await this.lockChangeableSnippet(tx, viewer, named);
      const { id, projectId: project_id } = snippet;
      check(snippet.updatedAt);
      if (project_id !== null) {
        await removeNotesOfNoteables(tx, snippetKind, [id]);
        tx.emit(snippetEvents.deletedOf({ id, iid: null, project_id }, viewer.userId, viewer.directory));
      }
      await tx.manager.delete(Snippet, id);
    });
  }

  /** Locks a snippet that the viewer may change. Errors: NotFound, Forbidden. */
  private async lockChangeableSnippet(
    tx: Tx,
    viewer: SignedInViewer,
    named: SnippetKey,
  ): Promise<{ snippet: Snippet; at: Date }> {
    const { id, at } = await this.queries.lockSnippet(tx, viewer, named);
    const snippet = await tx.manager.findOneByOrFail(Snippet, { id });
    const isAllowed = named.place
      ? snippetPolicy.mayChange(viewer, named.place, snippet)
      : snippetPolicy.mayChangePersonal(viewer, snippet);
    if (!isAllowed) throw new Forbidden();
    return { snippet, at };
  }
}

function toCreateActions({
  files,
  content,
  file_name,
}: Pick<NewSnippetInput, 'files' | keyof OnlyFileFields>): readonly FileAction[] {
  if (files) return files.map((file) => ({ ...file, action: 'create' }));
  if (file_name === undefined) throw new InvalidParameters(['file_name is missing']);
  return [{ action: 'create', file_path: file_name, ...(content === undefined ? {} : { content }) }];
}

function createActionsForOnlyFile(
  before: readonly ExistingFile[],
  { content, file_name }: OnlyFileFields,
): readonly FileAction[] {
  if (content === undefined && file_name === undefined) return [];
  const [{ path }, ...others] = before as [ExistingFile, ...ExistingFile[]];
  if (others.length > 0) {
    const how = 'To update Snippets with multiple files, you must use the `files` parameter';
    throw new Refused(how, { verbatim: true });
  }
  const contentField = content === undefined ? {} : { content };
  if (file_name === undefined || file_name === path) {
    return content === undefined ? [] : [{ action: 'update', file_path: path, ...contentField }];
  }
  return [{ action: 'move', previous_path: path, file_path: file_name, ...contentField }];
}

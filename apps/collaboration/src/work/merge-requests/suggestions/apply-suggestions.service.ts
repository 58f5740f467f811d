import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { readCommits, readRef, TreeEditor, writeBlobs, writeCommit } from '@rookery/git';
import type { Identity, ObjectId, RefUpdate, Repository } from '@rookery/git';
import { Forbidden, NotFound, Refused, Unavailable } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { createNoteableReader, canReadFeature } from '../../../base/noteables/reader';
import { RefChanges } from '../../../code/repositories/ref-updates/ref-changes';
import { recordSuggestionIntents } from '../../../talk/notes/positions/suggestion-intents';
import { MergePermissions } from '../merging/merge-permissions';
import { branchRef } from '../versions/measure-version';
import { FILE_CHANGED, applyFileReplacement, computeReplacements } from './applicability';
import type { FileReplacement } from './applicability';
import { SuggestionAuthors } from './suggestion-authors';
import { renderSuggestionCommitMessage } from './suggestion-message';
import { suggestionRows, suggestionsJson } from './suggestion-rows';
import type { SuggestionRow } from './suggestion-rows';

/** Suggestions to apply in one commit. Without a message, the project's template is used. */
export interface ApplyRequest {
  readonly ids: readonly number[];
  readonly message: string | null;
  /** Text of the refusal if one is not found. */
  readonly missing: string;
}

/** Projects of the target and of the source branch. */
interface SuggestionProjects {
  readonly project: ProjectScope;
  readonly source: ProjectScope;
}

/** Attempts against other pushes to the branch. */
const ATTEMPTS = 3;
const MAX_CONTENT_BYTES = 100 * 1024 * 1024;
const SYMBOLIC_LINK = '120000';

/**
 * Applies suggestions as one commit on their source branch. The commit is noted before the branch moves, and the settlement
 * of that move marks the suggestions: after a crash between the two, a job does so. Source: reference repositories 8.13.
 */
@Injectable()
export class ApplySuggestionsService {
  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    private readonly changes: RefChanges,
    private readonly permissions: MergePermissions,
    private readonly authors: SuggestionAuthors,
  ) {}

  /** Applies all suggestions or none. Returns them as JSON texts. Errors, in this order: NotFound, Forbidden, Refused. */
  async applySuggestions(viewer: SignedInViewer, request: ApplyRequest): Promise<string[]> {
    const { ids } = request;
    const rows = await this.database.run(suggestionRows, { ids });
    const isComplete = rows.length === ids.length && new Set(ids).size === ids.length;
    if (!isComplete) throw suggestionNotFound(request);
    const places = await this.authorizeRequest(viewer, rows, request);
    await this.authors.repositories.useRepository(places.source, (repository) =>
      this.pushCommit(repository, viewer, places, request),
    );
    const applied = await this.database.run(suggestionRows, { ids });
    // The branch has moved, and a job settles that; until then the answer would be untrue.
    if (applied.some((row) => row.commit_id === null)) throw new Unavailable('answer lost');
    return (await this.database.run(suggestionsJson, { ids })).map(({ json }) => json);
  }

  /** Checks each suggestion. Returns the projects of the first one. Errors: NotFound, Forbidden. */
  private async authorizeRequest(
    viewer: SignedInViewer,
    rows: readonly SuggestionRow[],
    request: ApplyRequest,
  ): Promise<SuggestionProjects> {
    const projects = new Map<number, ProjectScope>();
    for (const id of new Set(rows.map((row) => row.project_id))) {
      const project = await this.directory.findProject(id, viewer);
      if (!project || !canReadSuggestions(viewer, project, rows)) throw suggestionNotFound(request);
      projects.set(id, project);
    }
    const branches = new Map(rows.map((row) => [`${row.source_project_id} ${row.source_branch}`, row]));
    const places: SuggestionProjects[] = [];
    for (const { project_id: id, source_project_id: sourceId, source_branch: branch } of branches.values()) {
      const project = projects.get(id)!;
      const source = await this.permissions.sources.findProject(viewer, project, sourceId);
      if (!source || !(await this.permissions.mayPushTo(viewer, source, branch))) throw new Forbidden();
      places.push({ project, source });
    }
    return places[0]!;
  }

  private async pushCommit(
    repository: Repository,
    viewer: SignedInViewer,
    { project, source }: SuggestionProjects,
    request: ApplyRequest,
  ): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const write = async (view: Repository) => [await this.writeSuggestionCommit(view, viewer, project, request)];
      const outcome = await this.changes.changeRefs(repository, { project: source, viewer, write });
      if (outcome.moved) return;
      if (outcome.why === null) throw new Refused(outcome.refusal, { verbatim: true });
      if (attempt === ATTEMPTS) throw new Refused(FILE_CHANGED, { verbatim: true });
    }
  }

  /** Writes the commit on top of the source branch. Errors: Refused, NotFound. */
  private async writeSuggestionCommit(
    view: Repository,
    viewer: SignedInViewer,
    project: ProjectScope,
    request: ApplyRequest,
  ): Promise<RefUpdate> {
    const rows = await this.database.run(suggestionRows, { ids: request.ids });
    if (rows.length !== request.ids.length) throw suggestionNotFound(request);
    const ref = branchRef(rows[0]!.source_branch);
    const tip = await readRef(view, ref);
    const files = await computeReplacements(view, tip, rows);
    const { author, committer, user, coAuthors } = await this.authors.findPeople(viewer, rows);
    const message = renderSuggestionCommitMessage([request.message, project.mergeSettings.suggestion_commit_message], {
      ...{ branchName: rows[0]!.source_branch, paths: files.map(({ path }) => path), user, coAuthors },
      ...{ projectName: project.name, projectPath: project.path, suggestionsCount: rows.length },
    });
    const newId = await writeReplacingCommit(view, tip!, files, { message, author, committer });
    await recordSuggestionIntents(this.database, newId, request.ids);
    return { ref, oldId: tip!, newId };
  }
}

/** Writes a commit that replaces files. They keep their modes. Errors: Refused for what is not a file. */
async function writeReplacingCommit(
  view: Repository,
  parent: ObjectId,
  files: readonly FileReplacement[],
  commit: { readonly message: string; readonly author: Identity; readonly committer: Identity },
): Promise<ObjectId> {
  const [base] = await readCommits(view, [parent]);
  const blobs = await writeBlobs(view, files.map(applyFileReplacement), MAX_CONTENT_BYTES);
  const editor = await TreeEditor.openTree(view, base!.tree);
  for (const [index, { path }] of files.entries()) {
    const entry = await editor.findEntry(path);
    if (entry?.type !== 'blob' || entry.mode === SYMBOLIC_LINK)
      throw new Refused('A file was not found.', { verbatim: true });
    await editor.putEntry(path, { mode: entry.mode, id: blobs[index]! });
  }
  return writeCommit(view, { ...commit, tree: await editor.writeTree(), parents: [parent] });
}

/** Whether the viewer may read the suggestions of a project: its merge requests, and the notes that have the suggestions. */
function canReadSuggestions(viewer: SignedInViewer, project: ProjectScope, rows: readonly SuggestionRow[]): boolean {
  const reader = createNoteableReader(viewer, project);
  const hasInternal = rows.some((row) => row.project_id === project.id && row.internal);
  return canReadFeature('merge_requests', project, reader) && (reader.readsInternal || !hasInternal);
}

function suggestionNotFound({ missing: text }: ApplyRequest): NotFound {
  return new NotFound(text, { verbatim: true });
}

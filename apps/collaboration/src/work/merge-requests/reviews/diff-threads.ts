import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { isObjectId } from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';
import { NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import type { NoteableWithParent } from '../../../base/noteables/planning.policy';
import { requireNoteableReader } from '../../../base/noteables/reader';
import type { NoteableReference } from '../../../base/noteables/reader';
import { ProjectRepositories } from '../../../code/repositories/project-repositories';
import { CodeReviews } from '../../../talk/notes/positions/code-reviews';
import type { CodeReview, NewThread, SuggestingNote } from '../../../talk/notes/positions/code-reviews';
import type { NewPosition, NewSuggestion, PositionFields } from '../../../talk/notes/positions/position-rows';
import { mergeRequestKind } from '../merge-request.kind';
import { hasSuggestion, parseSuggestions } from '../suggestions/parse-suggestions';
import { readLines } from '../suggestions/line-content';
import { followThreadToNewDiff } from './follow-thread';
import { DiffThreadFollower } from './followed-threads';
import { requireDiffPosition } from './place-in-diff';
import { FileMovesBetweenDiffs } from './file-moves';

/** A merge request with the commits of its latest version. */
export interface ReviewedRow {
  readonly id: number;
  readonly head_sha: ObjectId | null;
  readonly base_sha: ObjectId | null;
  readonly start_sha: ObjectId | null;
}
const reviewed = statement<{ project: number; iid: number }, ReviewedRow>(
  'merge_requests_reviewed',
  `select i.id, i.head_sha, i.base_sha, i.start_sha from merge_requests i
   where i.project_id = :project::bigint and i.iid = :iid::bigint`,
);
/** Whether threads do not name the head of their open merge request. */
const lagging = statement<{ project: number; iid: number }, { readonly id: number }>(
  'merge_requests_lagging',
  `select i.id from merge_requests i where i.project_id = :project::bigint and i.iid = :iid::bigint and i.state = 'opened'
     and exists (select 1 from note_positions p where p.noteable_id = i.id and p.noteable_type = 'MergeRequest'
       and p.is_active and p.shown->>'head_sha' <> i.head_sha)`,
);
const placeOf = statement<
  { thread: number | null; note: number | null },
  { readonly shown: PositionFields; readonly new_path: string }
>(
  'note_positions_of_note',
  `select p.shown, p.new_path from note_positions p
   where p.thread_id = coalesce(:thread::bigint, (select n.thread_id from notes n where n.id = :note::bigint))`,
);

/** Places of new diff threads on merge requests. Source: reference repositories 8.11. */
@Injectable()
export class MergeRequestDiffThreads implements CodeReview {
  constructor(
    reviews: CodeReviews,
    private readonly database: Database,
    private readonly repositories: ProjectRepositories,
    private readonly follower: DiffThreadFollower,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    reviews.declare(mergeRequestKind.type, this);
  }

  async open(
    viewer: SignedInViewer,
    on: NoteableWithParent,
    { position, commitId, body }: Parameters<CodeReview['open']>[2],
  ): Promise<NewThread> {
    requireNoteableReader(viewer, on);
    const project = projectOfNoteable(on);
    const [row] = await this.database.run(reviewed, { project: project.id, iid: on.named });
    if (!row) throw new NotFound(on.kind.resource);
    return this.repositories.useRepository(project, async (repository) => {
      const sent = await requireDiffPosition(repository, position, isFullObjectId(commitId) ? commitId : null);
      const placed = await followPositionToHead(repository, row, sent);
      return { position: placed, suggestions: await readSuggestions(repository, placed.shown, placed.newPath, body) };
    });
  }

  async suggest(
    viewer: SignedInViewer,
    on: NoteableReference,
    note: SuggestingNote,
    body: string,
  ): Promise<NewSuggestion[] | null> {
    requireNoteableReader(viewer, on);
    const thread = 'thread' in note ? note.thread : null;
    const [place] = await this.database.run(placeOf, { thread, note: 'note' in note ? note.note : null });
    if (!place) return null;
    if (!hasSuggestion(body)) return [];
    return this.repositories.useRepository(projectOfNoteable(on), (repository) =>
      readSuggestions(repository, place.shown, place.new_path, body),
    );
  }

  /** Moves a new thread to the latest version. A failure does not fail the request: the next version repeats it. */
  async finish(on: NoteableWithParent): Promise<void> {
    try {
      const project = projectOfNoteable(on);
      const [row] = await this.database.run(lagging, { project: project.id, iid: on.named });
      if (row)
        await this.repositories.useRepository(project, (repository) => this.follower.catchUp(repository, row.id, null));
    } catch (error) {
      this.logger.warn(
        { err: error, projectId: on.parent.id, iid: on.named },
        'a new diff thread is not at the head yet',
      );
    }
  }
}

/** Merge requests are of projects. */
function projectOfNoteable({ parent }: Pick<NoteableReference, 'parent'>): ProjectScope {
  return parent as ProjectScope;
}

function isFullObjectId(text: string | null): text is ObjectId {
  return text !== null && isObjectId(text);
}

/** A thread that is started at an older version follows the code to the latest one. Others keep what was sent. */
export async function followPositionToHead(
  repository: Repository,
  row: ReviewedRow,
  sent: NewPosition,
): Promise<NewPosition> {
  const { head_sha: headSha, base_sha: baseSha, start_sha: startSha } = row;
  const { base_sha: base, head_sha: head } = sent.shown;
  if (headSha === null || baseSha === null || startSha === null || head === headSha) return sent;
  const pair = { base: base as ObjectId, head: head as ObjectId };
  const moves = await FileMovesBetweenDiffs.read(repository, pair, { base: baseSha, head: headSha }, [sent]);
  const thread = { thread_id: 0, shown: sent.shown, line_code: null, old_path: sent.oldPath, new_path: sent.newPath };
  const {
    shown,
    change,
    lineCode: code,
    oldPath,
    newPath,
  } = followThreadToNewDiff(thread, { baseSha, startSha, headSha }, moves);
  return { ...sent, shown, lineCode: code ?? sent.lineCode, oldPath, newPath, isActive: change === null };
}

/** Returns the suggestions of a text for a line that exists in the new side of the diff. */
export async function readSuggestions(
  repository: Repository,
  { position_type: type, new_line: line, head_sha: head }: PositionFields,
  newPath: string,
  body: string,
): Promise<NewSuggestion[]> {
  if (type !== 'text' || !line || !hasSuggestion(body)) return [];
  const lines = await readLines(repository, head as ObjectId, newPath);
  return lines === null ? [] : parseSuggestions(body, { lines, line });
}

import { Inject, Injectable } from '@nestjs/common';
import type { ObjectId, Repository } from '@rookery/git';
import { Database, statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import {
  updateSuggestionsOutdated,
  moveNotePositions,
  resolveThreads,
} from '../../../talk/notes/positions/followed-rows';
import type { FollowedPosition, FollowedSuggestion } from '../../../talk/notes/positions/followed-rows';
import type { PositionFields } from '../../../talk/notes/positions/position-rows';
import { announceAllThreadsResolved } from '../../../talk/notes/discussions/all-resolved';
import { systemNotes, writeSystemNotesInThreads } from '../../../talk/notes/system-notes';
import { mergeRequestKind } from '../merge-request.kind';
import { MERGE_REQUEST_SHOWN_AS } from '../merge-request.shape';
import { readLines, computeLineSpan, textOfLines } from '../suggestions/line-content';
import { followThreadToNewDiff } from './follow-thread';
import { FileMovesBetweenDiffs } from './file-moves';
import { movePositionToDiff } from './shown-position';
import type { DiffShas } from './shown-position';

/** A diff thread that is active. */
export interface ActiveThread {
  readonly thread_id: number;
  readonly shown: PositionFields;
  readonly line_code: string | null;
  readonly old_path: string;
  readonly new_path: string;
}

const activeOf = statement<{ request: number }, ActiveThread>(
  'note_positions_active',
  `select p.thread_id, p.shown, p.line_code, p.old_path, p.new_path from note_positions p
   where p.noteable_id = :request::bigint and p.noteable_type = 'MergeRequest' and p.is_active order by p.thread_id`,
);
interface OpenSuggestion {
  readonly id: number;
  readonly thread_id: number;
  readonly lines_above: number;
  readonly lines_below: number;
  readonly from_content: string;
}
const suggestionsOf = statement<{ request: number; threads: readonly number[] }, OpenSuggestion>(
  'suggestions_open',
  `select s.id, n.thread_id, s.lines_above, s.lines_below, s.from_content from suggestions s join notes n on n.id = s.note_id
   where n.noteable_id = :request::bigint and n.noteable_type = 'MergeRequest' and n.thread_id = any(:threads::bigint[])
     and s.commit_id is null`,
);
interface FollowedRequestRow {
  readonly id: number;
  readonly iid: number;
  readonly project_id: number;
  readonly author_id: number;
  readonly head_sha: ObjectId | null;
  readonly base_sha: ObjectId | null;
  readonly start_sha: ObjectId | null;
}
const COLUMNS = 'i.id, i.iid, i.project_id, i.author_id, i.head_sha, i.base_sha, i.start_sha';
const openRequest = statement<{ id: number }, FollowedRequestRow>(
  'merge_requests_followed',
  `select ${COLUMNS} from merge_requests i where i.id = :id::bigint and i.state = 'opened'`,
);
const lockRequest = statement<
  { id: number; head: string; base: string; start: string },
  FollowedRequestRow & { readonly at: Date }
>(
  'merge_requests_lock_followed',
  `select ${COLUMNS}, now() as at from merge_requests i where i.id = :id::bigint and i.state = 'opened'
     and i.head_sha = :head and i.base_sha = :base and i.start_sha = :start for no key update`,
);
interface VersionFacts {
  readonly full_path: string;
  readonly number: number;
  readonly id: number | null;
  /** The project resolves threads that become outdated. */
  readonly resolves: boolean;
}
const versionOf = statement<{ request: number }, VersionFacts>(
  'merge_requests_version_number',
  `select home.full_path || '/' || p.path as full_path,
     (select count(*)::integer from merge_request_versions v where v.merge_request_id = i.id) as number,
     (select v.id from merge_request_versions v where v.merge_request_id = i.id order by v.created_at desc, v.id desc limit 1) as id,
     coalesce((p.merge_settings->'resolve_outdated_diff_discussions')::boolean, false) as resolves
   from merge_requests i join directory_projects p on p.id = i.project_id
   join directory_namespaces home on home.id = p.namespace_id where i.id = :request::bigint`,
);

/** New places of the threads of a merge request, computed before the transaction. */
export interface FollowedThreads {
  readonly positions: readonly FollowedPosition[];
  readonly suggestions: readonly FollowedSuggestion[];
}

/** A new version. `baseSha` is null for histories without a common ancestor. Then no thread moves. */
export type NewVersion = Omit<DiffShas, 'baseSha'> & { readonly baseSha: string | null };

/** Merge request whose threads move, the actor and the time. */
interface FollowedMergeRequest {
  readonly id: number;
  readonly iid: number;
  readonly projectId: number;
  readonly actorId: number;
  readonly at: Date;
}

/**
 * Moves diff threads to new versions of their merge request. Each thread is followed from its own commits, so a version that
 * was missed, by an error or by a race, is made good by the next one. Source: reference repositories 8.12.
 */
@Injectable()
export class DiffThreadFollower {
  constructor(
    private readonly database: Database,
    private readonly work: Work,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Follows the active threads to a new version. A failure of git leaves them where they are. Returns null without
   * threads.
   */
  async prepare(repository: Repository, id: number, version: NewVersion): Promise<FollowedThreads | null> {
    const threads = await this.database.run(activeOf, { request: id });
    const { baseSha } = version;
    if (threads.length === 0 || baseSha === null) return null;
    try {
      return await this.followThreads(repository, id, { ...version, baseSha }, threads);
    } catch (error) {
      this.logger.warn({ err: error, mergeRequestId: id }, 'diff threads did not follow a new version');
      return null;
    }
  }

  /** Writes the new places, with a note in each thread that became outdated. The version is written already. */
  async writeThreads(
    tx: Tx,
    { id, iid, projectId, actorId, at }: FollowedMergeRequest,
    followed: FollowedThreads | null,
  ): Promise<void> {
    if (followed === null) return;
    await updateSuggestionsOutdated(tx, followed.suggestions);
    const outdated = new Set(await moveNotePositions(tx, followed.positions));
    if (outdated.size === 0) return;
    const [version] = await tx.run(versionOf, { request: id });
    const path = `/${version?.full_path ?? ''}${MERGE_REQUEST_SHOWN_AS.webPath}${iid}`;
    const url = `${path}/diffs?diff_id=${version?.id ?? 0}`;
    const changed = followed.positions.filter(({ threadId }) => outdated.has(threadId));
    const bodies = changed.map(({ shown }) =>
      systemNotes[shown.position_type === 'text' ? 'lineChanged' : 'fileChanged'](version?.number ?? 0, url),
    );
    const threads = changed.map(({ threadId }) => threadId);
    const request = { noteable: id, project: projectId, actor: actorId, at };
    await writeSystemNotesInThreads(tx, mergeRequestKind, { ...request, threads, bodies });
    const of = { noteable: id, type: mergeRequestKind.type };
    if (!version?.resolves) return;
    const resolved = await resolveThreads(tx, of, threads, actorId);
    await announceAllThreadsResolved(tx, { kind: mergeRequestKind, id, resolved }, { userId: actorId });
  }

  /**
   * Follows the threads of an open merge request to its latest version. `actorId` is the user whose change made the
   * version; null for its author.
   */
  async catchUp(repository: Repository, id: number, actorId: number | null): Promise<void> {
    const [row] = await this.database.run(openRequest, { id });
    const { head_sha: head, base_sha: base, start_sha: start } = row ?? {};
    if (!head || !base || !start) return;
    const followed = await this.prepare(repository, id, { headSha: head, baseSha: base, startSha: start });
    if (followed === null || followed.positions.length === 0) return;
    await this.work.run(async (tx) => {
      const [locked] = await tx.run(lockRequest, { id, head, base, start });
      if (!locked) return;
      const { iid, project_id: projectId, author_id: authorId, at } = locked;
      await this.writeThreads(tx, { id, iid, projectId, actorId: actorId ?? authorId, at }, followed);
    });
  }

  private async followThreads(
    repository: Repository,
    id: number,
    version: DiffShas,
    threads: readonly ActiveThread[],
  ): Promise<FollowedThreads> {
    const after = { base: version.baseSha as ObjectId, head: version.headSha as ObjectId };
    const positions: FollowedPosition[] = [];
    for (const group of groupByDiff(threads)) {
      const { base_sha: base, head_sha: head } = group[0]!.shown;
      const before = { base: base as ObjectId, head: head as ObjectId };
      if (before.base === after.base && before.head === after.head) {
        positions.push(
          ...group
            .filter(({ shown }) => shown.start_sha !== version.startSha)
            .map(createUnchangedPositionMapper(version)),
        );
        continue;
      }
      const moves = await FileMovesBetweenDiffs.read(repository, before, after, group.map(threadPaths));
      positions.push(...group.map((thread) => followThreadToNewDiff(thread, version, moves)));
    }
    return { positions, suggestions: await this.rereadSuggestions(repository, id, after.head, positions) };
  }

  /** Compares the lines of suggestions with the new side of the diff. */
  private async rereadSuggestions(
    repository: Repository,
    id: number,
    head: ObjectId,
    positions: readonly FollowedPosition[],
  ): Promise<FollowedSuggestion[]> {
    const active = new Map(positions.filter(({ change }) => change === null).map((one) => [one.threadId, one]));
    if (active.size === 0) return [];
    const rows = await this.database.run(suggestionsOf, { request: id, threads: [...active.keys()] });
    const pathOf = ({ thread_id: thread }: OpenSuggestion): string => active.get(thread)!.newPath;
    const read: FollowedSuggestion[] = [];
    // Each file is read once, and one file at a time is held.
    for (const path of new Set(rows.map(pathOf))) {
      const lines = await readLines(repository, head, path);
      for (const row of rows.filter((one) => pathOf(one) === path)) {
        const line = active.get(row.thread_id)!.shown.new_line ?? 0;
        const span = computeLineSpan(line, { linesAbove: row.lines_above, linesBelow: row.lines_below });
        read.push({ id: row.id, isOutdated: lines === null || textOfLines(lines, span) !== row.from_content });
      }
    }
    return read;
  }
}

function threadPaths({ old_path: oldPath, new_path: newPath }: ActiveThread) {
  return { oldPath, newPath };
}

/** Names the commits of a version in a thread whose diff stays the same. */
function createUnchangedPositionMapper(version: DiffShas): (thread: ActiveThread) => FollowedPosition {
  return ({ thread_id: threadId, shown, line_code: lineCode, old_path: oldPath, new_path: newPath }) => ({
    ...{ threadId, shown: movePositionToDiff(shown, version), change: null, lineCode, oldPath, newPath },
  });
}

/** Threads with the same commits are followed together. */
function groupByDiff(threads: readonly ActiveThread[]): ActiveThread[][] {
  const groups = new Map<string, ActiveThread[]>();
  for (const thread of threads) {
    const key = `${thread.shown.base_sha} ${thread.shown.head_sha}`;
    groups.set(key, [...(groups.get(key) ?? []), thread]);
  }
  return [...groups.values()];
}

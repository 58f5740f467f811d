import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import type { NoteableReference } from '../../../base/noteables/reader';
import { DiscussionsService } from '../../../talk/notes/discussions/discussions.service';
import { parseDiscussionKey } from '../../../talk/notes/discussions/threads-sql';
import type { ReaderParams } from '../../../talk/notes/note-statement';
import { toNoteReaderParams } from '../../../talk/notes/notes.queries';
import { isNamedNoteableVisibleSql } from '../../../talk/notes/notes.statements';
import { systemNotes, writeSystemNotesInThreads } from '../../../talk/notes/system-notes';
import { ThreadsToResolveLookup } from '../../issues/follow-ups/threads-to-resolve';
import type {
  ThreadsToResolveRequest,
  OpenThreads,
  ThreadsToResolveFinder,
} from '../../issues/follow-ups/threads-to-resolve';
import { mergeRequestKind } from '../merge-request.kind';

/** Threads that one issue follows up; the others stay open. */
const MAX_THREADS = 100;

/** An open thread. Columns of the thread are null if a visible merge request has none. */
interface OpenThreadRow {
  readonly merge_request_id: number;
  readonly thread_id: number | null;
  /** The first note of the thread that is not resolved. */
  readonly note_id: number;
  readonly username: string | null;
  readonly body: string;
  readonly is_reply: boolean;
  /** Number of further notes in the thread. */
  readonly others: number;
}

const { type, table } = mergeRequestKind;
/** Longer notes are quoted in part. Units: characters. */
const MAX_QUOTE = 1000;
/** Notes `n` of the merge request `i` that people wrote. Internal ones are left out: readers of the issue may not see them. */
const NOTES = `n.noteable_id = i.id and n.noteable_type = '${type}' and not n.system and not n.internal`;

/** Open threads of a visible merge request, the oldest first; one of them if `thread` is not null. */
const openThreads = statement<ReaderParams & { readonly thread: number | null }, OpenThreadRow>(
  'merge_requests_open_threads',
  `select i.id as merge_request_id, t.thread_id, t.id as note_id, a.username, t.is_reply,
    case when length(t.body) > ${MAX_QUOTE} then left(t.body, ${MAX_QUOTE}) || '…' else t.body end as body,
    (select count(*)::integer - 1 from notes n where ${NOTES} and n.thread_id = t.thread_id) as others
  from ${table} i
  left join lateral (
    select distinct on (n.thread_id) n.thread_id, n.id, n.author_id, n.body, n.is_reply from notes n
    where ${NOTES} and n.thread_id is not null and n.resolved_at is null
      and (:thread::bigint is null or n.thread_id = :thread::bigint)
    order by n.thread_id, n.created_at, n.id limit ${MAX_THREADS}
  ) t on true
  left join directory_users a on a.id = t.author_id
  where ${isNamedNoteableVisibleSql(mergeRequestKind, 'iid')}
  order by t.thread_id`,
);

const now = statement<Record<never, never>, { readonly at: Date }>('merge_requests_follow_up_at', 'select now() as at');

/** Finds the open threads that a new issue follows up. Source: docs/reference/work-tracking.md 9.1. */
@Injectable()
export class MergeRequestThreadsFinder implements ThreadsToResolveFinder {
  constructor(
    followUps: ThreadsToResolveLookup,
    private readonly database: Database,
    private readonly directory: Directory,
    private readonly discussions: DiscussionsService,
    @Inject(platformSettings.token) private readonly settings: SettingsOf<typeof platformSettings>,
  ) {
    followUps.declareFinder(this);
  }

  async find(
    viewer: SignedInViewer,
    project: ProjectScope,
    { mergeRequestIid, discussionId }: ThreadsToResolveRequest,
  ): Promise<OpenThreads | null> {
    const on: NoteableReference = { kind: mergeRequestKind, parent: project, by: 'iid', named: mergeRequestIid };
    await this.directory.requireFresh(viewer);
    const thread = discussionId === undefined ? null : parseDiscussionKey(discussionId);
    const rows = await this.database.run(openThreads, { ...toNoteReaderParams(viewer, on), thread });
    const [first] = rows;
    if (!first) throw new NotFound(mergeRequestKind.resource);
    const threads = rows.filter((row) => row.thread_id !== null);
    if (threads.length === 0) {
      if (thread === null) return null;
      throw new NotFound('Discussion');
    }
    const { externalUrl } = this.settings;
    const url = `${externalUrl}/${project.fullPath}${mergeRequestKind.webPath}${mergeRequestIid}`;
    return {
      describe: () => renderFollowUpIssueDescription(threads, mergeRequestIid, url),
      resolve: async (tx, iid) => {
        const resolved: number[] = [];
        for (const { thread_id: key } of threads)
          if (await this.discussions.resolveIfAllowed(tx, viewer, on, { key: key!, isResolved: true }))
            resolved.push(key!);
        const [time] = await tx.run(now, {});
        const bodies = resolved.map(() => systemNotes.continuedIn(`#${iid}`));
        const by = { noteable: first.merge_request_id, project: project.id, actor: viewer.userId };
        await writeSystemNotesInThreads(tx, mergeRequestKind, { ...by, at: time!.at, threads: resolved, bodies });
      },
    };
  }
}

function renderFollowUpIssueDescription(threads: readonly OpenThreadRow[], iid: number, url: string): string {
  const noun = threads.length === 1 ? 'discussion' : 'discussions';
  const items = threads.map(({ username, is_reply, note_id, others, body }) => {
    const author = username === null ? 'A former user' : `@${username}`;
    const more = others > 0 ? ` (+${others} ${others === 1 ? 'comment' : 'comments'})` : '';
    const task = `- [ ] ${author} ${is_reply ? 'commented on' : 'started'} a [discussion](${url}#note_${note_id}):${more}`;
    return `${task}\n\n${body.replaceAll(/^/gm, '    > ')}`;
  });
  return [`The following ${noun} from !${iid} should be addressed:`, ...items].join('\n\n');
}

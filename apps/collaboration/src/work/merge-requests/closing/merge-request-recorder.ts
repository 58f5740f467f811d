import { Inject, Injectable } from '@nestjs/common';
import type { NoteableProgress } from '@rookery/contracts';
import type { SignedInViewer } from '@rookery/kernel';
import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { publishTextWritten, joinTitleAndDescription } from '../../../talk/mentions/text-events';
import { NoteLimit } from '../../../talk/notes/note-limit';
import { findIssueReferences, NAMED_ISSUES_SQL, toNamedIssuesParams } from '../../issues/closing/named-issues';
import type { NamedIssuesParams } from '../../issues/closing/named-issues';
import { emitMergeRequestProgress } from '../merge-request-events';
import type { MergeRequestFacts } from '../merge-request-events';
import { mergeRequestKind } from '../merge-request.kind';
import type { MeasuredVersion } from '../versions/measure-version';
import type { IssueSource } from './merge-request-issue.entity';

interface NewVersionParams {
  readonly merge_request: number;
  readonly head: string;
  readonly base: string | null;
  readonly start: string;
  readonly files: number;
  readonly commits: number;
  readonly state: string;
  readonly patch_id: string | null;
  readonly at: Date | null;
}

const insertVersion = statement<NewVersionParams, { readonly id: number }>(
  'merge_request_versions_insert',
  `insert into merge_request_versions (merge_request_id, head_sha, base_sha, start_sha, files_count, commits_count, state,
     patch_id_sha, created_at)
   values (:merge_request::bigint, :head, :base, :start, :files::integer, :commits::integer, :state, :patch_id,
     coalesce(:at::timestamptz, now())) returning id`,
);

const clearIssues = statement<{ request: number; source: IssueSource }, never>(
  'merge_request_issues_clear',
  'delete from merge_request_issues where merge_request_id = :request::bigint and source = :source::text',
);
/** Replaces the issues of one source. An issue that several references name is closed if one of them closes it. */
const replaceIssues = statement<NamedIssuesParams & { request: number; source: IssueSource }, never>(
  'merge_request_issues_replace',
  `with named as (
     select i.id, bool_or(r.closes) as closes
     from merge_requests m join directory_projects own on own.id = m.project_id cross join ${NAMED_ISSUES_SQL}
     where m.id = :request::bigint group by i.id
   ), gone as (
     delete from merge_request_issues g where g.merge_request_id = :request::bigint and g.source = :source::text
       and g.issue_id not in (select named.id from named)
   )
   insert into merge_request_issues as kept (merge_request_id, source, issue_id, closes)
   select :request::bigint, :source::text, named.id, named.closes from named order by named.id
   on conflict (merge_request_id, source, issue_id) do update set closes = excluded.closes
     where kept.closes <> excluded.closes`,
);

/**
 * Records what texts and commits of merge requests say: versions, and the issues that they mention or close.
 * Source: reference repositories 8.5, 8.17.
 */
@Injectable()
export class MergeRequestRecorder {
  private readonly webUrl: string;

  constructor(
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
    private readonly noteLimit: NoteLimit,
  ) {
    this.webUrl = externalUrl.replace(/\/+$/, '');
  }

  /** Records the issues of a new title and description, and announces that they may refer to other noteables. */
  async recordText(
    tx: Tx,
    viewer: SignedInViewer,
    { id, ...text }: { readonly id: number; readonly title: string; readonly description: string | null },
    at: Date,
  ): Promise<void> {
    await this.recordReferencedIssues(tx, id, 'text', [joinTitleAndDescription(text)]);
    publishTextWritten(tx, viewer, {
      about: { type: mergeRequestKind.type, id },
      noteId: null,
      text: joinTitleAndDescription(text),
      at,
    });
  }

  /**
   * Inserts a version, and records the issues of its commits. Returns its id. `at` is the time of the push, by default
   * the current time; `isLate` if the merge request has a later version already.
   */
  async recordVersion(
    tx: Tx,
    id: number,
    version: MeasuredVersion,
    { at = null, isLate = false }: { readonly at?: Date | null; readonly isLate?: boolean } = {},
  ): Promise<number> {
    const { headSha: head, baseSha: base, startSha: start, filesCount: files, commitsCount: commits, state } = version;
    const measured = { head, base, start, files, commits, state, patch_id: version.patchId };
    const [row] = await tx.run(insertVersion, { merge_request: id, ...measured, at });
    if (!isLate) await this.recordReferencedIssues(tx, id, 'commits', version.messages);
    return row!.id;
  }

  /**
   * Announces a push to the source branch. It counts as a note of its actor, and is not announced beyond the limit, because
   * a push cannot be refused. Source: docs/reference/work-tracking.md 8.4.
   */
  announcePush(
    tx: Tx,
    facts: MergeRequestFacts,
    push: Pick<NoteableProgress, 'actorId' | 'at'> & { readonly commitCount: number },
  ): void {
    tx.beforeCommit(async () => {
      if (await this.noteLimit.tryCount(tx, push.actorId))
        emitMergeRequestProgress(tx, facts, { ...push, step: 'pushed' });
    });
  }

  /** Records the version of an imported merge request, and the issues of its text, without an announcement. */
  async recordImported(
    tx: Tx,
    { id, ...text }: { readonly id: number; readonly title: string; readonly description: string | null },
    version: MeasuredVersion | null,
    at: Date,
  ): Promise<void> {
    if (version !== null) await this.recordVersion(tx, id, version, { at });
    await this.recordReferencedIssues(tx, id, 'text', [joinTitleAndDescription(text)]);
  }

  private async recordReferencedIssues(
    tx: Tx,
    mergeRequestId: number,
    source: IssueSource,
    texts: readonly string[],
  ): Promise<void> {
    const references = findIssueReferences(texts, this.webUrl);
    if (references.length === 0) await tx.run(clearIssues, { request: mergeRequestId, source });
    else await tx.run(replaceIssues, { request: mergeRequestId, source, ...toNamedIssuesParams(references) });
  }
}

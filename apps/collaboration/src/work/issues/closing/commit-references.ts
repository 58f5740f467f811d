import { Inject, Injectable } from '@nestjs/common';
import { NO_OBJECT, readRef } from '@rookery/git';
import type { ObjectId, RefUpdate } from '@rookery/git';
import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { lockNoteables } from '../../../base/noteables/noteable-locks';
import { readCommitsWithReferences } from '../../../code/commits/commits-with-references';
import type { ReferringCommit } from '../../../code/commits/commits-with-references';
import { isPartOfBulkPush } from '../../../code/repositories/ref-updates/push-groups';
import { RefUpdateEffects } from '../../../code/repositories/ref-updates/ref-update-effects';
import type {
  PreparedEffect,
  RefUpdateEffect,
  SettledUpdates,
} from '../../../code/repositories/ref-updates/ref-update-effects';
import { CrossReferences } from '../../../talk/cross-references/cross-references';
import { systemNotes } from '../../../talk/notes/system-notes';
import { issueKind } from '../issue.kind';
import { closeIssues } from './close-issues';
import { findIssueReferences, NAMED_ISSUES_SQL, toNamedIssuesParams } from './named-issues';
import type { IssueReference, NamedIssuesParams } from './named-issues';

/** A pushed commit, and the issues that it closes: none outside the default branch. */
interface PushedCommit extends ReferringCommit {
  readonly closing: readonly IssueReference[];
}

/** Commits of one branch whose messages are searched, from the newest on. Source: reference repositories 8.17. */
const MAX_COMMITS = 100;
const BRANCHES = 'refs/heads/';

const namedIssues = statement<NamedIssuesParams & { project: number }, { readonly place: number; readonly id: number }>(
  'issues_named_by_commits',
  `select r.place::integer as place, i.id from directory_projects own cross join ${NAMED_ISSUES_SQL}
   where own.id = :project::bigint order by r.place`,
);
/** The merge commits among some commits. The message of such a commit repeats the merge request, which refers itself. */
const mergeCommits = statement<{ project: number; ids: readonly string[] }, { readonly id: string }>(
  'issues_merge_commits',
  `select m.merge_commit_sha as id from merge_requests m
   where m.project_id = :project::bigint and m.merge_commit_sha = any(:ids::text[])`,
);

/**
 * Closes and mentions noteables by the messages of pushed commits, with the rights of the pusher. Runs after the effects
 * on merge requests, so that a merge closes its issues as a merge. Source: reference repositories 8.17.
 */
@Injectable()
export class CommitMessageReferencesEffect implements RefUpdateEffect {
  private readonly webUrl: string;

  constructor(
    private readonly references: CrossReferences,
    effects: RefUpdateEffects,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.webUrl = externalUrl.replace(/\/+$/, '');
    effects.declare(this, 'last');
  }

  async prepare(settled: SettledUpdates): Promise<PreparedEffect | null> {
    const { projectId, userId, updates } = settled;
    if (userId === null) return null;
    const commits = new Map<string, PushedCommit>();
    for (const update of updates) {
      if (!update.ref.startsWith(BRANCHES) || update.newId === NO_OBJECT || isPartOfBulkPush(update, updates)) continue;
      for (const commit of await this.readPushedCommits(settled, update)) {
        const known = commits.get(commit.id);
        if (!known || known.closing.length === 0) commits.set(commit.id, commit);
      }
    }
    if (commits.size === 0) return null;
    return { write: (tx) => this.closeAndReferToIssues(tx, { projectId, userId }, [...commits.values()]) };
  }

  /** Reads the commits that a push brought to a branch, oldest first, without those of the default branch. */
  private async readPushedCommits(
    { repository, defaultBranch }: SettledUpdates,
    { ref, oldId, newId }: RefUpdate,
  ): Promise<PushedCommit[]> {
    const defaultRef = `${BRANCHES}${defaultBranch}`;
    const isDefault = ref === defaultRef;
    const known = isDefault || defaultBranch === null ? null : await readRef(repository, defaultRef);
    const notFrom = [...(oldId === NO_OBJECT ? [] : [oldId]), ...(known === null ? [] : [known])];
    const commits = await readCommitsWithReferences(repository, { from: newId, notFrom, max: MAX_COMMITS });
    return commits.reverse().map(({ id, message }) => {
      const closing = isDefault ? findIssueReferences([message], this.webUrl).filter(({ closes }) => closes) : [];
      return { id, message, closing };
    });
  }

  private async closeAndReferToIssues(
    tx: Tx,
    { projectId, userId }: { readonly projectId: number; readonly userId: number },
    commits: readonly PushedCommit[],
  ): Promise<void> {
    const merges = await tx.run(mergeCommits, { project: projectId, ids: commits.map(({ id }) => id) });
    const repeated = new Set<string>(merges.map(({ id }) => id));
    const closed = await this.closeReferencedIssues(tx, { projectId, userId }, commits);
    const mentioning = commits.flatMap(({ id, message }) =>
      repeated.has(id) ? [] : [{ id, message, closedIssueIds: closed.get(id) ?? new Set<number>() }],
    );
    await this.references.writeCommits(tx, { projectId, authorId: userId, commits: mentioning });
  }

  /** Closes the issues of commits. Returns the ids of those that each commit closed. */
  private async closeReferencedIssues(
    tx: Tx,
    { projectId, userId: actorId }: { readonly projectId: number; readonly userId: number },
    commits: readonly PushedCommit[],
  ): Promise<ReadonlyMap<ObjectId, ReadonlySet<number>>> {
    const closed = new Map<ObjectId, ReadonlySet<number>>();
    const references = commits.flatMap(({ closing }) => closing);
    if (references.length === 0) return closed;
    const rows = await tx.run(namedIssues, { project: projectId, ...toNamedIssuesParams(references) });
    // All at once, because pushes that lock the same issues in the order of their commits could wait for each other.
    await lockNoteables(tx, issueKind, [...new Set(rows.map(({ id }) => id))]);
    let first = 1;
    for (const { id: sha, closing } of commits) {
      const end = first + closing.length;
      const ids = rows.filter(({ place }) => place >= first && place < end).map(({ id }) => id);
      first = end;
      // A private project is not named in the projects of others.
      const describe = (place: { readonly path: string; readonly isPublic: boolean } | null): string =>
        systemNotes.closedVia('commit', place?.isPublic ? `${place.path}@${sha}` : sha);
      closed.set(sha, new Set(await closeIssues(tx, [...new Set(ids)], { actorId, projectId, describe })));
    }
    return closed;
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { NO_OBJECT } from '@rookery/git';
import type { ObjectId } from '@rookery/git';
import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { readReferringCommits } from '../../../code/commits/referring-commits';
import { isBulk } from '../../../code/repositories/ref-updates/push-groups';
import { RefUpdateEffects } from '../../../code/repositories/ref-updates/ref-update-effects';
import type {
  PreparedEffect,
  RefUpdateEffect,
  SettledUpdates,
} from '../../../code/repositories/ref-updates/ref-update-effects';
import { systemNotes } from '../../../talk/notes/system-notes';
import { closeIssues } from './close-issues';
import { findIssueReferences, NAMED_ISSUES_SQL, namedIssuesParams } from './named-issues';
import type { IssueReference, NamedIssuesParams } from './named-issues';

/** Commit on the default branch whose message closes issues. */
interface ClosingCommit {
  readonly id: ObjectId;
  readonly references: readonly IssueReference[];
}

/** Commits of one push whose messages are searched, from the newest on. Source: reference repositories 8.17. */
const MAX_COMMITS = 100;

const namedIssues = statement<NamedIssuesParams & { project: number }, { readonly place: number; readonly id: number }>(
  'issues_named_by_commits',
  `select r.place::integer as place, i.id from directory_projects own cross join ${NAMED_ISSUES_SQL}
   where own.id = :project::bigint order by r.place`,
);

/**
 * Closes issues by the messages of commits that reach the default branch, with the rights of the pusher. Runs after the
 * effects on merge requests, so that a merge closes its issues as a merge. Source: reference repositories 8.17.
 */
@Injectable()
export class ClosingCommits implements RefUpdateEffect {
  private readonly webUrl: string;

  constructor(
    effects: RefUpdateEffects,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.webUrl = externalUrl.replace(/\/+$/, '');
    effects.declare(this, 'last');
  }

  async prepare(settled: SettledUpdates): Promise<PreparedEffect | null> {
    const { projectId, userId } = settled;
    if (userId === null) return null;
    const commits = await this.closingCommits(settled);
    return commits.length === 0 ? null : { write: (tx) => this.write(tx, { projectId, userId }, commits) };
  }

  /** Reads the commits that a push brought to the default branch, oldest first. */
  private async closingCommits({ repository, updates, defaultBranch }: SettledUpdates): Promise<ClosingCommit[]> {
    const update = updates.find(({ ref }) => ref === `refs/heads/${defaultBranch}`);
    if (!update || update.newId === NO_OBJECT || isBulk(update, updates)) return [];
    const notFrom = update.oldId === NO_OBJECT ? [] : [update.oldId];
    const pushed = await readReferringCommits(repository, { from: update.newId, notFrom, max: MAX_COMMITS });
    const commits = pushed.map(({ id, message }) => ({ id, references: findIssueReferences([message], this.webUrl) }));
    return commits
      .map(({ id, references }) => ({ id, references: references.filter(({ closes }) => closes) }))
      .filter(({ references }) => references.length > 0)
      .reverse();
  }

  private async write(
    tx: Tx,
    { projectId, userId: actorId }: { readonly projectId: number; readonly userId: number },
    commits: readonly ClosingCommit[],
  ): Promise<void> {
    const references = commits.flatMap((commit) => commit.references);
    const rows = await tx.run(namedIssues, { project: projectId, ...namedIssuesParams(references) });
    let first = 1;
    for (const { id: sha, references: own } of commits) {
      const end = first + own.length;
      const ids = rows.filter(({ place }) => place >= first && place < end).map(({ id }) => id);
      first = end;
      // A private project is not named in the projects of others.
      const describe = (place: { readonly path: string; readonly isPublic: boolean } | null): string =>
        systemNotes.closedVia('commit', place?.isPublic ? `${place.path}@${sha}` : sha);
      await closeIssues(tx, [...new Set(ids)], { actorId, projectId, describe });
    }
  }
}

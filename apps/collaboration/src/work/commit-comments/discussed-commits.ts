import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { Commit, ObjectId, Repository } from '@rookery/git';
import { Database, statement } from '@rookery/persistence';
import { NoteableFinders } from '../../base/noteables/noteable-finders';
import type { NoteableFinder } from '../../base/noteables/noteable-finders';
import type { NoteableWithParent } from '../../base/noteables/planning.policy';
import { findCommit } from '../../code/commits/commit-history';
import { extractTitle } from '../../code/commits/commit-title';
import { formatCommitTimeZoned } from '../../code/repositories/commit-times';
import { CommitIdentities } from '../../code/repositories/commit-identities';
import { toKeepAroundRef, setHiddenRefs } from '../../code/repositories/hidden-refs';
import { ProjectRepositories } from '../../code/repositories/project-repositories';
import { commitKind } from './commit.kind';

interface NewDiscussedCommitRow {
  readonly project: number;
  readonly sha: string;
  readonly title: string;
  readonly message: string;
  readonly parents: readonly string[];
  readonly author_name: string;
  readonly author_email: string;
  /** User whose address receives no mail and is made of this id; null for other addresses. */
  readonly author: number | null;
  readonly authored: string;
  readonly committer_name: string;
  readonly committer_email: string;
  readonly committed: string;
}

const findDiscussedCommit = statement<{ project: number; sha: string }, { readonly id: number }>(
  'discussed_commits_find',
  'select i.id from discussed_commits i where i.project_id = :project::bigint and i.sha = :sha::text',
);
/** A concurrent first comment may have written the row. */
const insertDiscussedCommit = statement<NewDiscussedCommitRow, { readonly id: number }>(
  'discussed_commits_add',
  `insert into discussed_commits as kept (project_id, sha, author_id, title, description, parent_ids, author_name, author_email,
     authored_date, committer_name, committer_email, committed_date)
   values (:project::bigint, :sha::text, coalesce(
       (select u.id from directory_users u where lower(u.notification_email) = lower(:author_email::text) and u.kind = 'human'
         order by u.id limit 1),
       (select u.id from directory_users u where u.id = :author::bigint and u.kind = 'human')),
     :title::text, :message::text, :parents::text[], :author_name::text, :author_email::text, :authored::text,
     :committer_name::text, :committer_email::text, :committed::text)
   on conflict (project_id, sha) do update set sha = kept.sha returning id`,
);

/** Commits that comments are about. Source: reference repositories 4.6. */
@Injectable()
export class DiscussedCommits implements NoteableFinder {
  constructor(
    finders: NoteableFinders,
    private readonly database: Database,
    private readonly repositories: ProjectRepositories,
    private readonly identities: CommitIdentities,
  ) {
    finders.declare(commitKind.type, this);
  }

  async findCommit(parent: NoteableWithParent['parent'], ref: string): Promise<NoteableWithParent> {
    const project = parent as ProjectScope;
    const { id: sha } = await this.repositories.useRepository(project, (repository) => findCommit(repository, ref));
    const [row] = await this.database.run(findDiscussedCommit, { project: project.id, sha });
    const on = { kind: commitKind, parent, by: 'id', named: row?.id ?? 0 } as const;
    return row ? on : { ...on, isUntouched: true };
  }

  async findOrAdd(parent: NoteableWithParent['parent'], ref: string): Promise<NoteableWithParent> {
    const project = parent as ProjectScope;
    const named = await this.repositories.useRepository(project, (repository) =>
      this.ensureDiscussedCommitId(repository, project.id, ref),
    );
    return { kind: commitKind, parent, by: 'id', named };
  }

  private async ensureDiscussedCommitId(repository: Repository, project: number, ref: string): Promise<number> {
    const commit = await findCommit(repository, ref);
    const [kept] = await this.database.run(findDiscussedCommit, { project, sha: commit.id });
    if (kept) return kept.id;
    // The commit of a deleted branch stays while its comments do.
    await setHiddenRefs(repository, [toKeepAroundRef(commit.id)]);
    const [row] = await this.database.run(insertDiscussedCommit, {
      ...toDiscussedCommitColumns(commit),
      project,
      author: this.findAuthorId(commit),
    });
    return row!.id;
  }

  private findAuthorId({ author }: Commit): number | null {
    return this.identities.parseUserId(author.email);
  }
}

function toDiscussedCommitColumns(commit: Commit): Omit<NewDiscussedCommitRow, 'project' | 'author'> {
  const { author, committer } = commit;
  return {
    ...{
      sha: commit.id satisfies ObjectId,
      title: extractTitle(commit),
      message: commit.message,
      parents: commit.parents,
    },
    ...{ author_name: author.name, author_email: author.email, authored: formatCommitTimeZoned(author) },
    ...{
      committer_name: committer.name,
      committer_email: committer.email,
      committed: formatCommitTimeZoned(committer),
    },
  };
}

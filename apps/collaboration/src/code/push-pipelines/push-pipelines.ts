import { Injectable } from '@nestjs/common';
import type { PushedPipelines, PushedRef } from '@rookery/contracts';
import { projectAccessLevelSql } from '@rookery/directory';
import { GitError, NO_OBJECT, readCommits, resolveCommit } from '@rookery/git';
import type { Commit, ObjectId, Repository } from '@rookery/git';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { formatCommitTimeUtc } from '../repositories/commit-times';
import { convertGitFailures } from '../repositories/git-failures';
import { ProjectRepositories } from '../repositories/project-repositories';
import { forgetPushVariables } from '../repositories/ref-updates/push-variables';
import { shouldPushStartPipeline } from './ci-file';
import { parsePipelinePushOptions } from './push-options';

interface PushRow {
  readonly project_id: number;
  readonly user_id: number | null;
  readonly options: readonly string[];
  readonly ci_path: string | null;
  readonly builds: string | null;
  readonly is_member: boolean;
}
/** Reads a push. A caller without the role of a developer, who pushes to a shared branch, starts no pipelines. */
const PUSH = statement<{ id: number }, PushRow>(
  'pushed_pipelines_push',
  `select p.project_id, p.user_id, p.options, d.merge_settings ->> 'ci_config_path' as ci_path,
     d.merge_settings ->> 'builds_access_level' as builds,
     coalesce((select u.admin from directory_users u where u.id = p.user_id), false) or coalesce(
       (select ${projectAccessLevelSql({ user: 'p.user_id', project: 'd.id', namespace: 'home' })}
        from directory_namespaces home where home.id = d.namespace_id), 0) >= ${ACCESS_LEVELS.developer} as is_member
   from pushes p left join directory_projects d on d.id = p.project_id
   where p.id = :id::bigint and p.settled_at is not null`,
);

interface PushedRefRow {
  readonly ref: string;
  readonly new_id: string;
}
/** Updates that feeds show one by one. */
const UPDATES = statement<{ id: number }, PushedRefRow>(
  'pushed_pipelines_updates',
  `select u.ref, u.new_id from ref_updates u
   where u.push_id = :id::bigint and u.state = 'done' and not u.is_bulk and u.new_id <> '${NO_OBJECT}'
     and (u.ref like 'refs/heads/%' or u.ref like 'refs/tags/%')
   order by u.ref`,
);

const SHORT_NAME = /^refs\/(heads|tags)\/(.*)$/s;
const NONE: PushedPipelines = { project_id: null, user_id: null, refs: [], variables: [], inputs: {} };

/** Pipelines that pushes start. Source: reference identity-and-import 7.6. */
@Injectable()
export class PushPipelines {
  constructor(
    private readonly database: Database,
    private readonly repositories: ProjectRepositories,
  ) {}

  /** Returns the refs of a push whose pipelines start. An unknown push has none. Errors: Unavailable. */
  async listForPush(id: number): Promise<PushedPipelines> {
    const [push] = await this.database.run(PUSH, { id });
    const { isSkipped, variables, inputs } = parsePipelinePushOptions(push?.options ?? []);
    const repository = push && (await this.repositories.findRepository(push.project_id));
    if (!repository || push.user_id === null || !push.is_member || push.builds === 'disabled' || isSkipped) {
      if (variables.length > 0) await this.forgetVariables(id);
      return NONE;
    }
    const updates = await this.database.run(UPDATES, { id });
    const refs = await convertGitFailures(() => toPushedRefs(repository, updates, push.ci_path));
    if (refs.length === 0 && variables.length > 0) await this.forgetVariables(id);
    return { project_id: push.project_id, user_id: push.user_id, refs, variables, inputs };
  }

  /** Forgets the variables of a push, which its pipelines have, or which no pipeline needs. */
  async forgetVariables(id: number): Promise<void> {
    await this.database.run(forgetPushVariables, { id });
  }
}

/**
 * Reads a commit. Returns null if it is too large for a reader, so that the other refs of the push have their
 * pipelines.
 */
async function readCommitUnlessTooLarge(repository: Repository, sha: ObjectId): Promise<Commit | null> {
  try {
    return (await readCommits(repository, [sha]))[0] ?? null;
  } catch (error) {
    if (error instanceof GitError && error.reason === 'too large') return null;
    throw error;
  }
}

async function toPushedRefs(
  repository: Repository,
  updates: readonly PushedRefRow[],
  ciPath: string | null,
): Promise<PushedRef[]> {
  const refs: PushedRef[] = [];
  for (const { ref: name, new_id: id } of updates) {
    const sha = await resolveCommit(repository, id);
    const commit = sha === null ? null : await readCommitUnlessTooLarge(repository, sha);
    const [, kind, ref] = SHORT_NAME.exec(name) ?? [];
    if (!commit || ref === undefined || !(await shouldPushStartPipeline(repository, commit, ciPath))) continue;
    refs.push({ sha: commit.id, ref, is_tag: kind === 'tags', committed_at: formatCommitTimeUtc(commit.committer) });
  }
  return refs;
}

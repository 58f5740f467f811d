import { Injectable } from '@nestjs/common';
import type { ImportedObject } from '@rookery/contracts';
import type { ProjectFacts } from '@rookery/directory';
import { isValidBranchOrTagName, NO_OBJECT, readRefs, resolveCommit } from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { findImportedObjectIds } from '../../../base/imported-objects/imported-objects';
import { setHiddenRefs } from '../../../code/repositories/hidden-refs';
import { ProjectRepositories } from '../../../code/repositories/project-repositories';
import { RefChanges } from '../../../code/repositories/ref-updates/ref-changes';
import { branchRef, measureDiffVersion } from '../versions/measure-version';
import type { MeasuredVersion } from '../versions/measure-version';
import { MergeRequestVersions } from '../versions/merge-request-versions';

type ImportedMergeRequest = ImportedObject<'merge_request'>;

/** Source branch and commits of an imported merge request. */
interface ImportedSource {
  /** Null for a branch of a repository that was not imported. */
  readonly projectId: number | null;
  readonly branch: string;
  /** Null if the commits are missing. */
  readonly version: MeasuredVersion | null;
  /** Null if the repository lacks the commit. */
  readonly mergeCommitSha: ObjectId | null;
}

/** Sources by the upstream numbers of their merge requests. */
export type ImportedSources = ReadonlyMap<number, ImportedSource>;

/** Commits of a merge request before they are compared. */
interface SourceCommits {
  readonly given: ImportedMergeRequest;
  readonly head: ObjectId | null;
  /** Tip of the source branch, if it is in the project. */
  readonly tip: ObjectId | null;
  /** Commit of the target that the head is compared with. */
  readonly start: ObjectId | null;
}

const COMMIT_ID = /^[0-9a-f]{7,40}$/;
/** Characters of the head that the name of a recreated branch shows. */
const SHORT_ID = 8;

/** Numbers of merge requests whose heads the repository names. */
const PUBLISHED = statement<{ ids: readonly number[] }, { iid: number }>(
  'merge_requests_published_imported',
  `select iid from merge_requests where id = any(:ids::bigint[]) and head_sha is not distinct from published_sha`,
);

/** Returns the field of a merge request that holds an invalid branch name; null if both names are valid. */
export function findInvalidBranchField(given: ImportedMergeRequest): 'source_branch' | 'target_branch' | null {
  return (['source_branch', 'target_branch'] as const).find((field) => !isValidBranchOrTagName(given[field])) ?? null;
}

/** Ref that holds the head of an upstream merge request until it is imported. */
function importedHeadRef(number: number): string {
  return `refs/imports/${number}`;
}

/** Commits of imported merge requests, and branches for those that lack one. Source: ADR 0200. */
@Injectable()
export class ImportedMergeRequestBranches {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly database: Database,
    private readonly changes: RefChanges,
    private readonly versions: MergeRequestVersions,
  ) {}

  /**
   * Reads the commits of merge requests that were not imported yet. An open one whose branch is in another repository, or
   * missing, gets a new branch. Errors: Unavailable, TooLarge.
   */
  async prepareSources(project: ProjectFacts, objects: readonly ImportedMergeRequest[]): Promise<ImportedSources> {
    const of = { project: project.id, kind: 'merge_request' } as const;
    const numbers = objects.map(({ number }) => number);
    const known = await findImportedObjectIds(this.database, of, numbers);
    const added = objects.filter((one) => !known.has(one.number) && findInvalidBranchField(one) === null);
    if (added.length === 0) return new Map();
    return this.repositories.useRepository(project, async (repository) => {
      const found = await findSourceCommits(repository, added);
      const created = await this.createMissingBranches(repository, project, found);
      const sources = new Map<number, ImportedSource>();
      for (const commits of found) {
        const { branch, isHere } = chooseSourceBranch(commits, created);
        const version = await measureImportedVersion(repository, commits);
        const mergeCommitSha = await resolveFullCommitId(repository, commits.given.merge_commit_sha);
        sources.set(commits.given.number, { branch, projectId: isHere ? project.id : null, version, mergeCommitSha });
      }
      return sources;
    });
  }

  /** Creates the head refs of imported merge requests, and deletes the refs that the import pushed. */
  async publishHeads(project: ProjectFacts, numbers: readonly number[]): Promise<void> {
    const of = { project: project.id, kind: 'merge_request' } as const;
    const ids = [...(await findImportedObjectIds(this.database, of, numbers)).values()];
    await this.repositories.useRepository(project, async (repository) => {
      for (const id of ids) await this.versions.publishHead(repository, id);
      const done = await this.database.run(PUBLISHED, { ids });
      await setHiddenRefs(
        repository,
        done.map(({ iid }) => ({ ref: importedHeadRef(iid), id: null })),
      );
    });
  }

  /** Creates branches for open merge requests without one. Returns those that exist afterwards. */
  private async createMissingBranches(
    repository: Repository,
    project: ProjectFacts,
    found: readonly SourceCommits[],
  ): Promise<ReadonlySet<string>> {
    const wanted = found.filter(({ given, head, tip }) => given.state === 'opened' && tip === null && head !== null);
    const named = new Map(wanted.map(({ given, head }) => [branchRef(importedSourceBranchName(given, head!)), head!]));
    const existing = await readRefs(repository, [...named.keys()]);
    const owned = { ...project, level: ACCESS_LEVELS.owner };
    for (const [ref, newId] of named) {
      if (existing.has(ref)) continue;
      const write = () => Promise.resolve([{ ref, oldId: NO_OBJECT, newId }]);
      await this.changes.changeRefs(repository, { project: owned, viewer: null, write });
    }
    // A rule for branches may have refused one, another run of the import may have created it, and upstream may use the name.
    const after = await readRefs(repository, [...named.keys()]);
    return new Set([...named].filter(([ref, head]) => after.get(ref) === head).map(([ref]) => ref));
  }
}

async function findSourceCommits(
  repository: Repository,
  objects: readonly ImportedMergeRequest[],
): Promise<SourceCommits[]> {
  const branches = objects.flatMap((one) => [branchRef(one.source_branch), branchRef(one.target_branch)]);
  const heads = objects.map(({ number }) => importedHeadRef(number));
  const refs = await readRefs(repository, [...new Set([...branches, ...heads])]);
  const found: SourceCommits[] = [];
  for (const given of objects) {
    const tip = given.is_foreign ? null : (refs.get(branchRef(given.source_branch)) ?? null);
    const target = refs.get(branchRef(given.target_branch)) ?? null;
    const isOpen = given.state === 'opened';
    const sent = refs.get(importedHeadRef(given.number)) ?? (await resolveFullCommitId(repository, given.head_sha));
    const start = isOpen ? target : ((await resolveFullCommitId(repository, given.base_sha)) ?? target);
    // The branch of an open merge request decides about its commits from now on.
    found.push({ given, head: isOpen ? (tip ?? sent) : sent, tip, start });
  }
  return found;
}

/** Returns the full id of a commit. `sha` may be abbreviated; null if the repository does not have the commit. */
export async function resolveFullCommitId(repository: Repository, sha: string | null): Promise<ObjectId | null> {
  return sha !== null && COMMIT_ID.test(sha) ? resolveCommit(repository, sha) : null;
}

function measureImportedVersion(
  repository: Repository,
  { head, start }: SourceCommits,
): Promise<MeasuredVersion> | null {
  return head === null || start === null ? null : measureDiffVersion(repository, { source: head, target: start });
}

function chooseSourceBranch(
  { given, head, tip }: SourceCommits,
  created: ReadonlySet<string>,
): { readonly branch: string; readonly isHere: boolean } {
  const added = head === null ? null : importedSourceBranchName(given, head);
  const isAdded = given.state === 'opened' && tip === null && added !== null && created.has(branchRef(added));
  return isAdded ? { branch: added, isHere: true } : { branch: given.source_branch, isHere: !given.is_foreign };
}

/**
 * Name of the new branch for a merge request from another repository, or from a missing branch. Source: reference
 * identity-and-import 6.6.
 */
function importedSourceBranchName(
  { source_owner: owner, source_branch: branch, number }: ImportedMergeRequest,
  head: ObjectId,
): string {
  const prefix = `GH-${head.slice(0, SHORT_ID)}`;
  const name = `${prefix}-${owner}/${number}/fork/${branch}`;
  return isValidBranchOrTagName(name) ? name : `${prefix}/${number}`;
}

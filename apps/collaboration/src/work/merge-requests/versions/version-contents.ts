import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { listCommits, openDiff } from '@rookery/git';
import type { Commit, ObjectId, Repository } from '@rookery/git';
import { COUNT_LIMIT, NotFound, offsetOf, TooLarge } from '@rookery/kernel';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { Database, ListQuery, statement } from '@rookery/persistence';
import { requireNoteableReader } from '../../../base/noteables/reader';
import { DIFF_LIMITS } from '../../../code/commits/diffs/diff-limits';
import { readDiff, readDiffPage } from '../../../code/commits/diffs/read-diffs';
import type { Diff, DiffSides, FileDiff } from '../../../code/commits/diffs/read-diffs';
import { convertGitFailures } from '../../../code/repositories/git-failures';
import { ProjectRepositories } from '../../../code/repositories/project-repositories';
import { mergeRequestKind } from '../merge-request.kind';

/** A commit with the full path of its project, as answers show it. */
export interface ListedCommit {
  readonly commit: Commit;
  readonly projectPath: string;
  readonly hasTrailers: boolean;
}

/** Version as it is stored. */
export interface VersionRow {
  readonly id: number;
  readonly merge_request_id: number;
  readonly head_sha: ObjectId;
  readonly base_sha: ObjectId | null;
  readonly start_sha: ObjectId;
  readonly files_count: number;
  readonly commits_count: number;
  readonly state: string;
  readonly patch_id_sha: string | null;
  readonly created_at: Date;
}

/** Version with its commits and changed files. */
export interface VersionContents {
  readonly version: VersionRow;
  readonly commits: readonly ListedCommit[];
  readonly files: readonly FileDiff[];
}

interface LatestVersionRow {
  readonly id: number;
  readonly head_sha: ObjectId | null;
  readonly base_sha: ObjectId | null;
  readonly start_sha: ObjectId | null;
  readonly commits_count: number;
}

const latestOf = statement<{ project: number; iid: number }, LatestVersionRow>(
  'merge_requests_latest_version',
  `select id, head_sha, base_sha, start_sha, commits_count from merge_requests
   where project_id = :project::bigint and iid = :iid::bigint`,
);
const versionOf = statement<{ request: number; version: number }, VersionRow>(
  'merge_request_versions_one',
  `select id, merge_request_id, head_sha, base_sha, start_sha, files_count, commits_count, state, patch_id_sha, created_at
   from merge_request_versions where merge_request_id = :request::bigint and id = :version::bigint`,
);

const MIB = 1024 * 1024;
/** Largest diff as plain text. Units: bytes. */
const MAX_RAW_BYTES = 50 * MIB;
/** Limits of a diff whose reader asked for all of it. */
const RAW_LIMITS = { files: 100_000, lines: 10_000_000, bytes: MAX_RAW_BYTES, fileBytes: MAX_RAW_BYTES };
const MAX_COMMITS = 10_000;

/** Reads commits and diffs of merge requests from git. Source: reference repositories 8.5, 8.8. */
@Injectable()
export class MergeRequestVersionContentsQueries {
  constructor(
    private readonly database: Database,
    private readonly repositories: ProjectRepositories,
  ) {}

  /** Lists the commits of the latest version, the newest first. Errors: NotFound, Forbidden. */
  async listCommits(
    viewer: Viewer,
    project: ProjectScope,
    iid: number,
    page: PageRequest,
  ): Promise<Page<ListedCommit>> {
    const latest = await this.findLatestVersion(viewer, project, iid);
    const { head_sha: head, start_sha: start, commits_count: total } = latest;
    if (head === null || start === null || total === 0) return { rows: [], total: 0, hasNext: false };
    const skip = offsetOf(page);
    if (skip >= total) return { rows: [], total, hasNext: false };
    const rows = await this.repositories.useRepository(project, (repository) =>
      listCommitRows(repository, project, { head, start, skip, max: page.perPage }),
    );
    return { rows, total: total > COUNT_LIMIT ? null : total, hasNext: skip + rows.length < total };
  }

  /** Lists the changed files of the latest version. Errors: NotFound, Forbidden, HeavyPage. */
  async listDiffs(
    viewer: Viewer,
    project: ProjectScope,
    iid: number,
    form: { readonly page: PageRequest; readonly isUnified: boolean },
  ): Promise<Page<FileDiff>> {
    const sides = diffSides(await this.findLatestVersion(viewer, project, iid));
    if (sides === null) return { rows: [], total: 0, hasNext: false };
    return this.repositories.useRepository(project, (repository) => readDiffPage(repository, sides, form));
  }

  /**
   * Reads the diff of the latest version, cut at `DIFF_LIMITS`, or the whole diff if `isRaw`.
   * Errors: NotFound, Forbidden; TooLarge if `isRaw`.
   */
  async readChanges(
    viewer: Viewer,
    project: ProjectScope,
    iid: number,
    { isRaw, isUnified }: { readonly isRaw: boolean; readonly isUnified: boolean },
  ): Promise<Diff> {
    const sides = diffSides(await this.findLatestVersion(viewer, project, iid));
    if (sides === null) return { files: [], isCut: false };
    return this.repositories.useRepository(project, (repository) =>
      isRaw
        ? readWholeDiff(repository, sides, isUnified)
        : readDiff(repository, sides, { limits: DIFF_LIMITS, isCollapsing: true, isUnified }),
    );
  }

  /** Returns a function that streams the diff of the latest version as text. Errors: NotFound, Forbidden. */
  async rawDiff(viewer: Viewer, project: ProjectScope, iid: number): Promise<() => Promise<Readable>> {
    const sides = diffSides(await this.findLatestVersion(viewer, project, iid));
    return this.repositories.useRepository(project, (repository) => {
      const { oldId, newId } = sides ?? { oldId: null, newId: null };
      if (newId === null) return Promise.resolve(() => Promise.resolve(emptyStream()));
      const open = () => openDiff(repository, { oldId, newId, maxBytes: MAX_RAW_BYTES });
      return Promise.resolve(async () => (await convertGitFailures(open)).stdout);
    });
  }

  /** Lists the versions, the newest first. Errors: NotFound, Forbidden. */
  async listVersions(viewer: Viewer, project: ProjectScope, iid: number, page: PageRequest): Promise<Page<VersionRow>> {
    const { id } = await this.findLatestVersion(viewer, project, iid);
    return new ListQuery<VersionRow>({
      name: 'merge_request_versions',
      from: 'merge_request_versions v',
      columns: 'v.*',
    })
      .where((bind) => `v.merge_request_id = ${bind(id)}::bigint`)
      .orderBy([['v.created_at', 'desc']])
      .readPage(this.database, page);
  }

  /** Returns one version with commits and files. Errors: NotFound, Forbidden, TooLarge. */
  async findVersion(viewer: Viewer, project: ProjectScope, iid: number, versionId: number): Promise<VersionContents> {
    const { id } = await this.findLatestVersion(viewer, project, iid);
    const [version] = await this.database.run(versionOf, { request: id, version: versionId });
    if (!version) throw new NotFound();
    const { head_sha: head, start_sha: start } = version;
    return this.repositories.useRepository(project, async (repository) => {
      const commits = await listCommitRows(repository, project, { head, start, skip: 0, max: MAX_COMMITS });
      const sides = { oldId: version.base_sha, newId: head };
      const { files } = version.commits_count === 0 ? { files: [] } : await readWholeDiff(repository, sides, false);
      return { version, commits, files };
    });
  }

  private async findLatestVersion(viewer: Viewer, project: ProjectScope, iid: number): Promise<LatestVersionRow> {
    requireNoteableReader(viewer, { kind: mergeRequestKind, parent: project });
    const [row] = await this.database.run(latestOf, { project: project.id, iid });
    if (!row) throw new NotFound();
    return row;
  }
}

/** Returns null without changes. */
function diffSides({ head_sha: newId, base_sha: oldId, commits_count: count }: LatestVersionRow): DiffSides | null {
  return newId === null || count === 0 ? null : { oldId, newId };
}

/** Reads a diff whose reader asked for all of it. Errors: TooLarge beyond `RAW_LIMITS`, also for a single file. */
async function readWholeDiff(repository: Repository, sides: DiffSides, isUnified: boolean): Promise<Diff> {
  const diff = await readDiff(repository, sides, { limits: RAW_LIMITS, isCollapsing: false, isUnified });
  if (diff.isCut || diff.files.some(({ state }) => state === 'too large')) throw new TooLarge();
  return diff;
}

async function listCommitRows(
  repository: Repository,
  { fullPath: projectPath }: ProjectScope,
  o: { readonly head: ObjectId; readonly start: ObjectId; readonly skip: number; readonly max: number },
): Promise<ListedCommit[]> {
  const query = { from: [o.head], notFrom: [o.start], skip: o.skip, max: o.max };
  const commits = await listCommits(repository, query);
  return commits.map((commit) => ({ commit, projectPath, hasTrailers: false }));
}

function emptyStream(): Readable {
  return Readable.from([]);
}

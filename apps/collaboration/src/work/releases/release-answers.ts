import { setImmediate as nextTurn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory, mayReadCode } from '@rookery/directory';
import type { Commit, ObjectId } from '@rookery/git';
import { CLOCK } from '@rookery/kernel';
import type { Clock, Viewer } from '@rookery/kernel';
import { mayPushCode } from '../../code/repositories/code-access.policy';
import { ProjectRepositories } from '../../code/repositories/project-repositories';
import { readPeeledCommits } from '../../code/refs/listing/ref-commits';
import { ReleaseLinksQueries } from './links/release-links.queries';
import { renderDescriptionHtml } from '../../base/noteables/description-html';
import { ReleaseMilestonesQueries } from './release-milestones.queries';
import type { Release } from './release.entity';
import type { ReleaseRow } from './release-row';

/** The project of releases, and the reader. `hasHtml` adds the description as HTML. */
export interface ReleaseReader {
  readonly project: ProjectScope;
  readonly viewer: Viewer;
  readonly hasHtml: boolean;
}

/** Adds what the answers of releases show. Source: reference repositories 7.1. */
@Injectable()
export class ReleaseAnswers {
  constructor(
    private readonly directory: Directory,
    private readonly repositories: ProjectRepositories,
    private readonly links: ReleaseLinksQueries,
    private readonly milestones: ReleaseMilestonesQueries,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Returns the releases as the API shows them. Callers who may not read the code get no fact of it. */
  async loadRows({ project, viewer, hasHtml }: ReleaseReader, releases: readonly Release[]): Promise<ReleaseRow[]> {
    const ids = releases.map(({ id }) => id);
    const readsCode = mayReadCode(viewer, project);
    const [authors, links, milestones, commits] = await Promise.all([
      this.directory.findUsers(releases.flatMap(({ authorId }) => (authorId === null ? [] : [authorId]))),
      this.links.listByRelease(ids),
      this.milestones.listByRelease({ project, viewer }, ids),
      readsCode ? this.loadCommits(project, releases) : new Map<string, Commit>(),
    ]);
    const now = this.clock.now();
    const html = hasHtml ? await renderDescriptions(releases) : null;
    return releases.map((release, index) => ({
      ...{ release, project, readsCode },
      author: authors.get(release.authorId ?? 0) ?? null,
      commit: commits.get(release.sha ?? '') ?? null,
      links: (links.get(release.id) ?? []).map((link) => ({ link, project, readsCode, tag: release.tag })),
      milestones: milestones.get(release.id) ?? null,
      descriptionHtml: html?.[index] ?? null,
      isUpcoming: release.releasedAt > now,
      mayChange: !project.archived && mayPushCode(viewer, project),
    }));
  }

  async loadRow(reader: ReleaseReader, release: Release): Promise<ReleaseRow> {
    const [row] = await this.loadRows(reader, [release]);
    return row!;
  }

  private loadCommits(project: ProjectScope, releases: readonly Release[]): Promise<ReadonlyMap<string, Commit>> {
    const ids = [...new Set(releases.flatMap(({ sha }) => (sha === null ? [] : [sha as ObjectId])))];
    if (ids.length === 0) return Promise.resolve(new Map());
    return this.repositories.useRepository(project, async (repository) => {
      const commits = await readPeeledCommits(repository, ids);
      return new Map(commits.flatMap((commit) => (commit ? [[commit.id, commit] as const] : [])));
    });
  }
}

/** Renders the descriptions. Other requests get a turn after each one. */
async function renderDescriptions(releases: readonly Release[]): Promise<string[]> {
  const rendered: string[] = [];
  for (const { description } of releases) {
    rendered.push(renderDescriptionHtml(description));
    await nextTurn();
  }
  return rendered;
}

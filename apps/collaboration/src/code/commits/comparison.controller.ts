import { Controller, Inject } from '@nestjs/common';
import { Endpoint, one, page, SCOPE_RESOLVER } from '@rookery/api-v4';
import type { Call, ProjectScope, ScopeResolver } from '@rookery/api-v4';
import { mayReadCode } from '@rookery/directory';
import type { Contributor } from '@rookery/git';
import type { Page, Viewer } from '@rookery/kernel';
import { Forbidden, Refused } from '@rookery/kernel';
import { readsHistoryOf } from '../repositories/code.permission';
import { areInOneNetwork } from '../repositories/forks/fork-network';
import { commitPresenter } from './commit.presenter';
import type { CommitRow } from './commit.presenter';
import { Comparisons } from './comparison';
import { ShowComparison, ShowMergeBase, ListContributors } from './comparison.dto';
import { comparisonPresenter, contributorPresenter } from './comparison.presenter';
import type { ComparisonRow } from './comparison.presenter';
import { Contributors } from './contributors';

const reads = { ...readsHistoryOf, source: 'reference repositories 4.4', tokenScopes: ['read_repository'] } as const;

/** Comparison of refs, and contributors. */
@Controller('projects/:id/repository')
export class ComparisonController {
  constructor(
    private readonly comparisons: Comparisons,
    private readonly contributors: Contributors,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
  ) {}

  @Endpoint('GET', 'compare', {
    ...reads,
    about: 'Compares two refs: the commits of the newer one, and the files that they change.',
    params: ShowComparison,
    answers: one(comparisonPresenter),
    fails: [404, 413],
  })
  async compare({ params, viewer, within }: Call<ShowComparison, ProjectScope>): Promise<ComparisonRow> {
    const fromProject = await this.findFromProject(viewer, within, params.from_project_id);
    const { from, to, straight: isStraight, unidiff: isUnified } = params;
    const { commits, ...rest } = await this.comparisons.compare(within, {
      from,
      to,
      isStraight,
      isUnified,
      fromProject,
    });
    const projectPath = within.fullPath;
    return { ...rest, projectPath, commits: commits.map((commit) => ({ commit, projectPath, hasTrailers: false })) };
  }

  @Endpoint('GET', 'merge_base', {
    ...reads,
    about: 'Shows the newest common ancestor of several refs.',
    params: ShowMergeBase,
    answers: one(commitPresenter),
    fails: [404],
  })
  async mergeBase({ params, within }: Call<ShowMergeBase, ProjectScope>): Promise<CommitRow> {
    const commit = await this.comparisons.mergeBase(within, params.refs);
    return { commit, projectPath: within.fullPath, hasTrailers: true };
  }

  @Endpoint('GET', 'contributors', {
    ...reads,
    about: 'Lists the authors of commits by e-mail.',
    params: ListContributors,
    answers: page(contributorPresenter),
    fails: [404],
  })
  listContributors({ params, within, page: asked }: Call<ListContributors, ProjectScope>): Promise<Page<Contributor>> {
    return this.contributors.list(within, params.ref, { ...params, page: asked });
  }

  /** Finds the project of the older side. Errors: Refused for a project outside of the network, Forbidden. */
  private async findFromProject(
    viewer: Viewer,
    within: ProjectScope,
    named: number | string | undefined,
  ): Promise<ProjectScope> {
    if (named === undefined || named === within.id) return within;
    const project = await this.scopes.findProject(named, viewer);
    if (project?.id === within.id) return within;
    if (project === null || !areInOneNetwork(project, within))
      throw new Refused(`Target project id:${named} is not a fork of project id:${within.id}`, { verbatim: true });
    if (!mayReadCode(viewer, project)) throw new Forbidden("You don't have access to this fork's parent project");
    return project;
  }
}

import { Controller } from '@nestjs/common';
import { Endpoint, one, page } from '@rookery/api-v4';
import type { Call, ProjectScope } from '@rookery/api-v4';
import type { Contributor } from '@rookery/git';
import type { Page } from '@rookery/kernel';
import { Refused } from '@rookery/kernel';
import { readsHistoryOf } from '../repositories/code.permission';
import { commitPresenter } from './commit.presenter';
import type { CommitRow } from './commit.presenter';
import { Comparisons } from './comparison';
import { OneComparison, OneMergeBase, ListContributors } from './comparison.dto';
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
  ) {}

  @Endpoint('GET', 'compare', {
    ...reads,
    about: 'Compares two refs: the commits of the newer one, and the files that they change.',
    params: OneComparison,
    answers: one(comparisonPresenter),
    fails: [404, 413],
  })
  async compare({ params, within }: Call<OneComparison, ProjectScope>): Promise<ComparisonRow> {
    checkFork(params, within);
    const { from, to, straight: isStraight, unidiff: isUnified } = params;
    const { commits, ...rest } = await this.comparisons.compare(within, { from, to, isStraight, isUnified });
    const projectPath = within.fullPath;
    return { ...rest, projectPath, commits: commits.map((commit) => ({ commit, projectPath, hasTrailers: false })) };
  }

  @Endpoint('GET', 'merge_base', {
    ...reads,
    about: 'Shows the newest common ancestor of several refs.',
    params: OneMergeBase,
    answers: one(commitPresenter),
    fails: [404],
  })
  async mergeBase({ params, within }: Call<OneMergeBase, ProjectScope>): Promise<CommitRow> {
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
}

/** No project has forks yet, so that only the project itself is in its network. Errors: Refused. */
function checkFork({ from_project_id: named }: OneComparison, { id, fullPath }: ProjectScope): void {
  if (named === undefined || named === id || String(named).toLowerCase() === fullPath.toLowerCase()) return;
  throw new Refused(`Target project id:${named} is not a fork of project id:${id}`, { verbatim: true });
}

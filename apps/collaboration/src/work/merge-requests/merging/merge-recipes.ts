import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { Identity, ObjectId, Repository } from '@rookery/git';
import type { SignedInViewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { Links } from '@rookery/platform';
import { CommitIdentities } from '../../../code/repositories/commit-identities';
import { ClosingReferencesFinder } from '../closing/closing-references';
import { MERGE_REQUEST_SHOWN_AS } from '../merge-request.shape';
import {
  MERGE_TEMPLATE,
  readQuotedCommits,
  renderClosedIssues,
  renderMergeCommitMessage,
  SQUASH_TEMPLATE,
} from './commit-messages';
import type { MessageFacts } from './commit-messages';
import type { MergeRecipe } from './merge-commits';
import { mergeRulesOf, squashesOnMerge } from './merge-rules';
import type { MergeWishes } from './merge-wishes';
import type { MergingRow } from './merging-rows';

const reviewedBy = statement<{ id: number }, { readonly user_id: number; readonly has_approved: boolean }>(
  'merge_requests_reviewed_by',
  `select a.user_id, true as has_approved from merge_request_approvals a where a.merge_request_id = :id::bigint
   union all select s.user_id, false from merge_request_reviewers s
   where s.merge_request_id = :id::bigint and s.state <> 'unreviewed' order by 1`,
);
const QUOTES_ISSUES = '%{issues}';
const QUOTES_REVIEWS = /%\{(?:approved|reviewed)_by\}/;

/** A merge request that a caller merges, and the tips of its branches. */
export interface PlannedMerge {
  readonly viewer: SignedInViewer;
  readonly project: ProjectScope;
  readonly row: MergingRow;
  readonly wishes: MergeWishes;
  readonly source: ObjectId;
  readonly target: ObjectId;
}

type ReviewIdentities = Pick<MessageFacts, 'approvers' | 'reviewers'>;
const NO_REVIEWS: ReviewIdentities = { approvers: [], reviewers: [] };

/** Decides which commits a merge writes, by the rules of the project and the wishes. Source: reference repositories 8.9, 8.10. */
@Injectable()
export class MergeRecipes {
  constructor(
    private readonly identities: CommitIdentities,
    private readonly links: Links,
    private readonly database: Database,
    private readonly closing: ClosingReferencesFinder,
  ) {}

  /** Builds the commits and messages of a merge. `isSquash` is true even if the only commit stays as it is. */
  async buildRecipe(view: Repository, plan: PlannedMerge): Promise<MergeRecipe & { readonly isSquash: boolean }> {
    const { viewer, project, row, wishes, source, target } = plan;
    const rules = mergeRulesOf(project);
    const merger = await this.identities.findIdentity(viewer);
    const author = await this.identities.findIdentity({ userId: row.author_id });
    const render = async (template: string): Promise<string> => {
      const commits = await readQuotedCommits(view, template, { source, target });
      const reviews = QUOTES_REVIEWS.test(template) ? await this.findReviewIdentities(row.id) : NO_REVIEWS;
      const issues = template.includes(QUOTES_ISSUES) ? await this.closing.find(viewer, row.id) : [];
      const facts = { ...this.toMessageFacts(plan, merger, author), ...reviews, issues: renderClosedIssues(issues) };
      return renderMergeCommitMessage(template, facts, commits);
    };
    const isFastForward = rules.method === 'ff';
    const message = isFastForward
      ? null
      : (wishes.mergeMessage ?? (await render(rules.mergeTemplate ?? MERGE_TEMPLATE)));
    const isSquash = squashesOnMerge(rules, wishes.squash || row.squash);
    if (!isSquash || (row.commits_count === 1 && wishes.squashMessage === null))
      return { target, source, merger, message, squash: null, isSquash };
    const squashMessage = wishes.squashMessage ?? (await render(rules.squashTemplate ?? SQUASH_TEMPLATE));
    return { target, source, merger, message, squash: { author, message: squashMessage }, isSquash };
  }

  private async findReviewIdentities(id: number): Promise<ReviewIdentities> {
    const rows = await this.database.run(reviewedBy, { id });
    const people = (has: boolean) =>
      Promise.all(
        rows
          .filter((row) => row.has_approved === has)
          .map(({ user_id: userId }) => this.identities.findIdentity({ userId })),
      );
    return { approvers: await people(true), reviewers: await people(false) };
  }

  private toMessageFacts(
    { project, row }: PlannedMerge,
    merger: Identity,
    author: Identity,
  ): Omit<MessageFacts, keyof ReviewIdentities | 'issues'> {
    return {
      sourceBranch: row.source_branch,
      targetBranch: row.target_branch,
      sourceProjectId: row.source_project_id ?? row.project_id,
      title: row.title,
      description: row.description ?? '',
      fullPath: project.fullPath,
      iid: row.iid,
      url: this.links.webUrl(`${project.fullPath}${MERGE_REQUEST_SHOWN_AS.webPath}${row.iid}`),
      merger,
      author,
    };
  }
}

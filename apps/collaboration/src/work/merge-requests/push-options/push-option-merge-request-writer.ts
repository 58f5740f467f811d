import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import type { DirectoryUserRow } from '@rookery/directory';
import { readCommits } from '@rookery/git';
import { Jobs } from '@rookery/jobs';
import { Forbidden } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { findMilestonesByTitle } from '../../../planning/milestones/assigning/milestone-choice';
import { checkTitleAndDescription } from '../../issues/issue.entity';
import type { MergeRequestUpdate } from '../merge-request-change';
import { isDraftTitle } from '../merge-request.entity';
import type { MergeRequest } from '../merge-request.entity';
import { mergeRequestPolicy } from '../merge-request.policy';
import { MergeRequestWrites } from '../merge-request-writes';
import type { WriteSteps } from '../merge-requests.service';
import { mergeRulesOf, squashesByDefault } from '../merging/merge-rules';
import type { NewMergeRequest } from '../new-merge-request';
import { mergeRequestAssignees } from '../people/merge-request-people';
import { runMergeCommand } from '../quick-actions/run-merge-command';
import { MergeRequestBranches } from '../versions/branches';
import { humanizeName } from './request-options';
import type { MergeRequestPushOptions } from './request-options';

/** A pushed branch, and the merge request that the options of its push are about. */
export interface PushOptionMergeRequest {
  readonly source: ProjectScope;
  readonly target: ProjectScope;
  readonly branch: string;
  readonly targetBranch: string;
  /** Commit that the push gave the branch. */
  readonly head: string;
  readonly options: MergeRequestPushOptions;
  /** Marks the options as applied, as the first write of the transaction. Errors: those that undo it. */
  readonly claim: (tx: Tx) => Promise<void>;
}

/** Values of options that are looked up. */
interface ResolvedOptions {
  readonly milestoneId: number | null | undefined;
  readonly assigned: readonly number[];
  readonly unassigned: readonly number[];
}

interface PushedVersionParams {
  readonly project: number;
  readonly iid: number;
  readonly head: string;
}
/** The newest version of an open merge request, if its head is a given commit. */
const versionOf = statement<PushedVersionParams, { readonly id: number }>(
  'merge_request_versions_pushed',
  `select v.id from merge_requests i join merge_request_versions v on v.merge_request_id = i.id and v.head_sha = i.head_sha
   where i.project_id = :project::bigint and i.iid = :iid::bigint and i.state = 'opened' and i.head_sha = :head
   order by v.id desc limit 1`,
);

/** Creates and updates merge requests by push options. Source: reference repositories 1.5. */
@Injectable()
export class PushOptionMergeRequestWriter {
  constructor(
    private readonly work: Work,
    private readonly directory: Directory,
    private readonly writes: MergeRequestWrites,
    private readonly branches: MergeRequestBranches,
    private readonly jobs: Jobs,
  ) {}

  /** Creates a merge request that is assigned to the pusher. Errors: those of a request for it. */
  async createMergeRequest(viewer: SignedInViewer, request: PushOptionMergeRequest): Promise<void> {
    const { source, target, options } = request;
    if (!mergeRequestPolicy.mayCreate(viewer, source)) throw new Forbidden();
    if (source.id !== target.id && !mergeRequestPolicy.mayTarget(viewer, target)) throw new Forbidden();
    const named = await this.resolveOptions(viewer, request);
    const rules = mergeRulesOf(target);
    const title = options.title ?? (await this.composeTitle(request));
    const input: NewMergeRequest = {
      title: options.isDraft ? toDraftTitle(title) : title,
      description: options.description ?? null,
      ...{ sourceProjectId: source.id, sourceBranch: request.branch, targetBranch: request.targetBranch },
      assigneeIds: applyAssigneePushOptions([viewer.userId], named),
      reviewerIds: [],
      labels: options.labels.length === 0 ? undefined : { all: options.labels },
      milestoneId: named.milestoneId ?? null,
      forceRemoveSourceBranch: options.removesSource ?? rules.removesSource,
      squash: options.squash ?? squashesByDefault(rules),
      mergeAfter: null,
      allowCollaboration: false,
    };
    await this.writes.create(viewer, target, input, this.buildWriteSteps(viewer, request));
  }

  /** Updates the open merge request of the branch. Errors: those of a request for it. */
  async updateMergeRequest(viewer: SignedInViewer, iid: number, request: PushOptionMergeRequest): Promise<void> {
    const { target, options } = request;
    const named = await this.resolveOptions(viewer, request);
    const { labels: add, unlabels: remove } = options;
    const update: MergeRequestUpdate = {
      title: options.title,
      description: options.description,
      targetBranch: options.target,
      labels: add.length + remove.length === 0 ? undefined : { add, remove },
      milestoneId: named.milestoneId,
      forceRemoveSourceBranch: options.removesSource,
      squash: options.squash,
    };
    await this.writes.update(viewer, target, iid, update, {
      ...this.buildWriteSteps(viewer, request),
      resolve: async (tx, { id, title }: MergeRequest) => {
        const draft = options.isDraft ? checkTitleAndDescription({ title: toDraftTitle(options.title ?? title) }) : {};
        if (!mergeRequestPolicy.mayPlan(viewer, target)) return draft;
        const assigneeIds = applyAssigneePushOptions(await mergeRequestAssignees.userIds(tx, id), named);
        return { ...draft, assigneeIds };
      },
    });
  }

  private buildWriteSteps(
    viewer: SignedInViewer,
    { target, head, options, claim }: PushOptionMergeRequest,
  ): WriteSteps {
    return {
      lock: claim,
      finish: async (tx, iid) => {
        if (!options.mergesAutomatically) return;
        const [version] = await tx.run(versionOf, { project: target.id, iid, head });
        const named = { project_id: target.id, iid, user_id: viewer.userId };
        if (version)
          await this.jobs.enqueue(tx, runMergeCommand, { command: 'merge', ...named, version_id: version.id });
      },
    };
  }

  private async resolveOptions(
    viewer: SignedInViewer,
    { target, options }: PushOptionMergeRequest,
  ): Promise<ResolvedOptions> {
    const { milestone, assignees, unassignees } = options;
    const [assigned, unassigned] = await Promise.all([
      this.findUserIds(viewer, assignees),
      this.findUserIds(viewer, unassignees),
    ]);
    if (milestone === undefined) return { milestoneId: undefined, assigned, unassigned };
    const found = await this.work.run((tx) => findMilestonesByTitle(tx, target, [milestone]));
    return { milestoneId: found.get(milestone), assigned, unassigned };
  }

  /** `named` are ids or usernames. Unknown users are left out. */
  private async findUserIds(viewer: SignedInViewer, named: readonly string[]): Promise<number[]> {
    const names = named.map((name) => name.trim().replace(/^@/, ''));
    const ids = names.filter((name) => /^\d{1,15}$/.test(name)).map(Number);
    const users: DirectoryUserRow[] = [
      ...(await this.directory.findUsers(ids)).values(),
      ...(await this.directory.usersByUsername(names)).values(),
    ];
    return (await this.directory.filterVisible(viewer, users)).map(({ id }) => id);
  }

  /** The title of the only commit, or the name of the branch. Errors: those of the branches. */
  private async composeTitle({ source, target, branch, targetBranch }: PushOptionMergeRequest): Promise<string> {
    const pair = { sourceProjectId: source.id, sourceBranch: branch, targetBranch };
    return this.branches.useRepository(target, async (repository) => {
      const { commitsCount, headSha } = await this.branches.measurePair(repository, target, pair);
      const [commit] = commitsCount === 1 ? await readCommits(repository, [headSha]) : [];
      const title = commit?.message.trimStart().split('\n', 1)[0]!.trim().slice(0, 255);
      return title || humanizeName(branch);
    });
  }
}

function toDraftTitle(title: string): string {
  return isDraftTitle(title) ? title : `Draft: ${title}`;
}

function applyAssigneePushOptions(before: readonly number[], { assigned, unassigned }: ResolvedOptions): number[] {
  return [...new Set([...before, ...assigned])].filter((id) => !unassigned.includes(id));
}

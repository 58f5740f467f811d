import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { isValidBranchOrTagName, readHead, readRef } from '@rookery/git';
import {
  Conflict,
  Forbidden,
  Invalid,
  NotFound,
  RookeryError,
  Unauthorized,
  Unavailable,
  Unprocessable,
} from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import { createNoteableReader, canReadFeature } from '../../../base/noteables/reader';
import { areInOneNetwork } from '../../../code/repositories/forks/fork-network';
import {
  markPushOptionsApplied,
  forgetRequestOptions,
  optionedBranches,
} from '../../../code/repositories/ref-updates/push-options';
import type { OptionedBranch } from '../../../code/repositories/ref-updates/push-options';
import { BackgroundViewerFinder } from '../merging/background-viewer-finder';
import { MergeRequestBranches } from '../versions/branches';
import { branchRef } from '../versions/measure-version';
import { PushOptionMergeRequestWriter } from './push-option-merge-request-writer';
import type { PushOptionMergeRequest } from './push-option-merge-request-writer';
import { parseMergeRequestPushOptions, humanizeName } from './request-options';
import type { MergeRequestPushOptions } from './request-options';

/** Above this number of pushed branches, no option is applied to any branch. Source: reference repositories 1.5. */
const MAX_BRANCHES = 10;
const DENIED = 'User access was denied';
const BRANCHES = 'refs/heads/';

/** Thrown to undo a second application of the options. */
class PushOptionsAlreadyApplied extends Error {}

/** Projects and branch that the options of a push name. */
interface PushDestination {
  readonly source: ProjectScope;
  readonly target: ProjectScope;
  readonly defaultBranch: string;
  readonly targetBranch: string;
}

interface OpenMergeRequestParams {
  readonly project: number;
  readonly origin: number;
  readonly source: string;
  readonly target: string;
}
/** The open merge request of a branch: the one into the requested branch, else the newest. */
const openFrom = statement<OpenMergeRequestParams, { readonly iid: number }>(
  'merge_requests_open_from',
  `select i.iid from merge_requests i where i.source_project_id = :origin::bigint and i.source_branch = :source
     and i.project_id = :project::bigint and i.state = 'opened'
   order by i.target_branch = :target desc, i.id desc limit 1`,
);

/**
 * Applies the push options about merge requests, as the pusher and once for each branch. Source: reference repositories
 * 1.5.
 */
@Injectable()
export class MergeRequestPushOptionsService {
  constructor(
    private readonly work: Work,
    private readonly viewers: BackgroundViewerFinder,
    private readonly directory: Directory,
    private readonly branches: MergeRequestBranches,
    private readonly requests: PushOptionMergeRequestWriter,
  ) {}

  /**
   * Applies the options of a settled push. A second call has no effect. Returns the reasons of what was refused.
   * Errors: those after which it can be repeated.
   */
  async applyOptions(pushId: number): Promise<readonly string[]> {
    const rows = await this.work.run((tx) => tx.run(optionedBranches, { id: pushId }));
    if (rows.length === 0) {
      await this.work.run((tx) => tx.run(forgetRequestOptions, { id: pushId }));
      return [];
    }
    await this.directory.assertCurrent();
    const refusals = await this.applyToBranches(pushId, rows);
    await this.work.run((tx) => tx.run(forgetRequestOptions, { id: pushId }));
    return [...new Set(refusals)];
  }

  private async applyToBranches(pushId: number, rows: readonly OptionedBranch[]): Promise<string[]> {
    const { user_id: userId, project_id: projectId, options: sent } = rows[0]!;
    const options = parseMergeRequestPushOptions(sent);
    const viewer = userId === null ? null : await this.viewers.findViewer(userId);
    const source = viewer && (await this.directory.findProject(projectId, viewer, 'copy'));
    if (!source) return [DENIED];
    const found = await this.findDestination(viewer, source, options);
    if ('refusal' in found) return [found.refusal];
    const chosen = rows.filter(({ ref }) => ref !== branchRef(found.defaultBranch));
    if (chosen.length > MAX_BRANCHES)
      return [`Too many branches pushed (${chosen.length} were pushed, limit is ${MAX_BRANCHES})`];
    const refusals: string[] = [];
    for (const row of chosen) refusals.push(...(await this.applyToBranch(viewer, pushId, row, { ...found, options })));
    return refusals;
  }

  private async applyToBranch(
    viewer: SignedInViewer,
    pushId: number,
    { ref, new_id: head }: OptionedBranch,
    found: PushDestination & Pick<PushOptionMergeRequest, 'options'>,
  ): Promise<readonly string[]> {
    const claim: PushOptionMergeRequest['claim'] = async (tx) => {
      if (!(await markPushOptionsApplied(tx, pushId, ref))) throw new PushOptionsAlreadyApplied();
    };
    try {
      return await this.createOrUpdateMergeRequest(viewer, {
        ...found,
        branch: ref.slice(BRANCHES.length),
        head,
        claim,
      });
    } catch (error) {
      if (error instanceof PushOptionsAlreadyApplied) return [];
      const refusals = toRefusalSentences(error);
      await this.work.run((tx) => markPushOptionsApplied(tx, pushId, ref));
      return refusals;
    }
  }

  private async createOrUpdateMergeRequest(
    viewer: SignedInViewer,
    request: PushOptionMergeRequest,
  ): Promise<readonly string[]> {
    const { source, target, branch, targetBranch, options } = request;
    const pair = { project: target.id, origin: source.id, source: branch, target: targetBranch };
    const [open] = await this.work.run((tx) => tx.run(openFrom, pair));
    if (open) await this.requests.updateMergeRequest(viewer, open.iid, request);
    else if (options.creates) await this.requests.createMergeRequest(viewer, request);
    else return [`A merge_request.create push option is required to create a merge request for branch ${branch}`];
    return [];
  }

  /** The named project; without a name the origin of a fork if the pusher sees it, else the project itself. */
  private async findTargetProject(
    viewer: SignedInViewer,
    source: ProjectScope,
    projectReference: string | undefined,
  ): Promise<ProjectScope | null> {
    if (projectReference !== undefined)
      return this.directory.findProject(parseProjectReference(projectReference), viewer, 'copy');
    const parentId = source.fork?.project_id ?? null;
    return (parentId === null ? null : await this.directory.findProject(parentId, viewer, 'copy')) ?? source;
  }

  private async findDestination(
    viewer: SignedInViewer,
    source: ProjectScope,
    { target: branch, targetProject }: MergeRequestPushOptions,
  ): Promise<PushDestination | { readonly refusal: string }> {
    const target = await this.findTargetProject(viewer, source, targetProject);
    // A hidden project is refused like one of another network.
    if (!target || !areInOneNetwork(source, target))
      return { refusal: `Projects ${source.fullPath} and ${targetProject} are not in the same network` };
    if (!canReadFeature('merge_requests', target, createNoteableReader(viewer, target)))
      return { refusal: `Merge requests are not enabled for project ${target.fullPath}` };
    return this.branches.useRepository(target, async (repository) => {
      const defaultBranch = (await readHead(repository)).slice(BRANCHES.length);
      const targetBranch = branch ?? defaultBranch;
      const exists =
        isValidBranchOrTagName(targetBranch) && (await readRef(repository, branchRef(targetBranch))) !== null;
      if (!exists) return { refusal: `Target branch ${target.fullPath}:${targetBranch} does not exist` };
      return { source, target, defaultBranch, targetBranch };
    });
  }
}

/** Parses a reference to a project: an id or a full path. */
function parseProjectReference(project: string): string | number {
  return /^\d{1,15}$/.test(project) ? Number(project) : project;
}

/** Returns the sentences of a refusal. Errors: rethrows an error after which the options can be applied again. */
function toRefusalSentences(error: unknown): readonly string[] {
  if (!(error instanceof RookeryError) || error instanceof Unavailable) throw error;
  if (error instanceof Forbidden || error instanceof Unauthorized || error instanceof NotFound) return [DENIED];
  if (error instanceof Invalid)
    return Object.entries(error.fields).flatMap(([field, texts]) =>
      texts.map((text) => `${humanizeName(field)} ${text}`),
    );
  const detail = error instanceof Conflict ? error.reason : error instanceof Unprocessable ? error.detail : null;
  return Array.isArray(detail) ? (detail as readonly string[]) : [error.message];
}

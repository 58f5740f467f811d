import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { Links } from '@rookery/platform';
import { isPartOfBulkPush } from '../../../code/repositories/ref-updates/push-groups';
import type { SettledUpdates } from '../../../code/repositories/ref-updates/ref-update-effects';
import { mergeRequestPolicy } from '../merge-request.policy';
import { BackgroundViewerFinder } from '../merging/background-viewer-finder';
import { mapBranchUpdatesByName, isDeletion } from '../versions/affected-merge-requests';

interface PushLinkParams {
  readonly origin: number;
  readonly projects: readonly number[];
  readonly branches: readonly string[];
}
interface OpenMergeRequestRow {
  readonly project_id: number;
  readonly iid: number;
  readonly source_branch: string;
}
/** The newest open merge request of each branch. */
const openOf = statement<PushLinkParams, OpenMergeRequestRow>(
  'merge_requests_open_of_branches',
  `select distinct on (i.source_branch) i.project_id, i.iid, i.source_branch from merge_requests i
   where i.source_project_id = :origin::bigint and i.source_branch = any(:branches::text[]) and i.state = 'opened'
     and i.project_id = any(:projects::bigint[])
   order by i.source_branch, i.id desc`,
);

/** Links to merge requests that git shows after a push. Source: reference repositories 1.5. */
@Injectable()
export class PushMergeRequestLinks {
  constructor(
    private readonly database: Database,
    private readonly viewers: BackgroundViewerFinder,
    private readonly directory: Directory,
    private readonly links: Links,
  ) {}

  /** Returns a text for each pushed branch, but for the default one and for branches that feeds show only together. */
  async renderTexts({ projectId, userId, updates, defaultBranch }: SettledUpdates): Promise<string[]> {
    const shown = updates.filter((update) => !isDeletion(update) && !isPartOfBulkPush(update, updates));
    const branches = [...mapBranchUpdatesByName(shown).keys()].filter((name) => name !== defaultBranch);
    if (branches.length === 0 || userId === null || defaultBranch === null) return [];
    const viewer = await this.viewers.findViewer(userId);
    const source = viewer && (await this.directory.findProject(projectId, viewer, 'copy'));
    if (!source || source.mergeSettings.printing_merge_request_link_enabled === false) return [];
    if (!mergeRequestPolicy.mayCreate(viewer, source)) return [];
    const targets = await this.findTargetProjects(viewer, source);
    const params = { origin: projectId, projects: [...targets.keys()], branches };
    const open = new Map((await this.database.run(openOf, params)).map((row) => [row.source_branch, row]));
    return branches.map((branch) => {
      const request = open.get(branch);
      if (!request) return this.renderCreationLink(source, branch);
      const url = this.links.webUrl(`${targets.get(request.project_id)!.fullPath}/-/merge_requests/${request.iid}`);
      return `\nView merge request for ${branch}:\n  ${url}`;
    });
  }

  private renderCreationLink({ fullPath }: ProjectScope, branch: string): string {
    const query = new URLSearchParams({ 'merge_request[source_branch]': branch });
    const url = this.links.webUrl(`${fullPath}/-/merge_requests/new?${query.toString()}`);
    return `\nTo create a merge request for ${branch}, visit:\n  ${url}`;
  }

  /** The project and its origin, as far as the viewer reads their merge requests. */
  private async findTargetProjects(viewer: SignedInViewer, source: ProjectScope): Promise<Map<number, ProjectScope>> {
    const parentId = source.fork?.project_id ?? null;
    const parent = parentId === null ? null : await this.directory.findProject(parentId, viewer, 'copy');
    const targets = parent && mergeRequestPolicy.mayTarget(viewer, parent) ? [source, parent] : [source];
    return new Map(targets.map((project) => [project.id, project]));
  }
}

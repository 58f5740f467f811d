import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { VISIBILITIES } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { RefProtections } from '../../../code/protected-refs/ref-protections';
import { DESCENDS_SQL } from '../../../code/protected-refs/shared-branches';
import { SourceBranches } from './source-branches';
import type { RequestBranches } from './source-branches';

const descends = statement<{ sourceId: number; targetId: number }, { readonly found: boolean }>(
  'merge_requests_source_descends',
  `select true as found from directory_projects s, directory_projects t
   where s.id = :sourceId::bigint and t.id = :targetId::bigint and ${DESCENDS_SQL}`,
);

/** Source branches of forks that merge requests share with developers of the target. Source: reference repositories 8.18. */
@Injectable()
export class SourceBranchSharingPolicy {
  constructor(
    private readonly sources: SourceBranches,
    private readonly protections: RefProtections,
    private readonly database: Database,
  ) {}

  /**
   * Whether the viewer may share the source branch. It is in a fork of the target that is public or at least as open as
   * the target, no rule protects it, and the viewer may push there by their own role.
   */
  async mayShare(
    viewer: SignedInViewer,
    target: ProjectScope,
    { sourceProjectId, sourceBranch }: Pick<RequestBranches, 'sourceProjectId' | 'sourceBranch'>,
  ): Promise<boolean> {
    if (sourceProjectId === target.id) return false;
    const source = await this.sources.findProject(viewer, target, sourceProjectId);
    if (!source || source.archived || !isAtLeastAsVisible(source, target)) return false;
    const found = await this.database.run(descends, { sourceId: source.id, targetId: target.id });
    if (found.length === 0) return false;
    const { mayPush, isProtected, isShared } = (
      await this.protections.readAccess({ viewer, project: source })
    ).branchAccess(sourceBranch);
    return mayPush && !isProtected && !isShared;
  }
}

function isAtLeastAsVisible(source: ProjectScope, target: ProjectScope): boolean {
  return VISIBILITIES.indexOf(source.visibility) >= VISIBILITIES.indexOf(target.visibility);
}

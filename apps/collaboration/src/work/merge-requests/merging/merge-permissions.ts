import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { Viewer } from '@rookery/kernel';
import { RefProtections } from '../../../code/protected-refs/ref-protections';
import type { BranchAccess } from '../../../code/protected-refs/ref-protections';
import { SourceBranches } from '../versions/source-branches';

/** Rights on the branches of merge requests, by roles and the rules of the project. Source: reference repositories 6.1. */
@Injectable()
export class MergePermissions {
  constructor(
    private readonly protections: RefProtections,
    readonly sources: SourceBranches,
  ) {}

  /** Whether the viewer may merge into a branch of the project. `branch` is its short name. */
  async mayMergeInto(viewer: Viewer, project: ProjectScope, branch: string): Promise<boolean> {
    return !project.archived && (await this.protections.readAccess({ viewer, project })).branchAccess(branch).mayMerge;
  }

  /** Whether the viewer may push to a branch of the project. */
  async mayPushTo(viewer: Viewer, project: ProjectScope, branch: string): Promise<boolean> {
    return !project.archived && (await this.readBranchAccess(viewer, project, branch)).mayPush;
  }

  /** Reads the rights of the viewer on a branch, as far as rules and roles decide. */
  async readBranchAccess(viewer: Viewer, project: ProjectScope, branch: string): Promise<BranchAccess> {
    return (await this.protections.readAccess({ viewer, project })).branchAccess(branch);
  }

  /** Whether a merge of the viewer may remove the branch: no rule protects it, and the viewer may delete it. */
  async mayRemove(viewer: Viewer, project: ProjectScope, branch: string): Promise<boolean> {
    const { mayDelete, isProtected } = (await this.protections.readAccess({ viewer, project })).branchAccess(branch);
    return !project.archived && mayDelete && !isProtected;
  }
}

/**
 * Boolean SQL of `mayMergeInto` for the target of the row `i`, for lists of merge requests. `level` and `isAdmin` are
 * SQL expressions for the access of the viewer.
 */
export function mayMergeIntoTargetSql(level: string, isAdmin: string): string {
  // A star stands for any characters; backslash and the characters of `like` stand for themselves.
  const pattern = String.raw`replace(replace(replace(replace(b.name, '\', '\\'), '%', '\%'), '_', '\_'), '*', '%')`;
  const fitting = `from protected_branches b where b.project_id = i.project_id and i.target_branch like ${pattern}`;
  const isIncluded = `(l.level > 0 and (${isAdmin} or (l.level < 60 and ${level} >= l.level)))`;
  return `((${isAdmin} or ${level} >= 30) and (not exists (select 1 ${fitting}) or exists (select 1 ${fitting}
    and exists (select 1 from unnest(b.push_levels || b.merge_levels) l (level) where ${isIncluded}))))`;
}

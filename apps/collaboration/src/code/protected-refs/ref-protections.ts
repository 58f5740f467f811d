import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { matchesWildcard } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { includesCaller, isDeveloper, isMaintainer } from './access-levels';
import type { RuleCaller } from './access-levels';
import { canDevelopersMakeInitialPush, groupProtection } from './default-protection';
import { sharedBranches } from './shared-branches';

/** Rule as its statement returns it. For a tag, `push_levels` has the levels that may create it. */
export interface RuleRow {
  readonly kind: 'branch' | 'tag';
  readonly name: string;
  readonly allow_force_push: boolean;
  readonly push_levels: readonly number[];
  readonly merge_levels: readonly number[];
}

const selectProtectionRules = statement<{ projectId: number }, RuleRow>(
  'protected_refs_of_project',
  `select 'branch' as kind, name, allow_force_push, push_levels, merge_levels
   from protected_branches where project_id = :projectId::bigint
   union all
   select 'tag', name, false, create_levels, '{}'::integer[]
   from protected_tags where project_id = :projectId::bigint`,
);

/** Caller whose rights are read. The viewer of an import has no user id. */
export interface RefCaller extends RuleCaller {
  readonly viewer: Viewer | { readonly isAdmin: false; readonly userId: null; readonly job?: never };
}

/** Rights of the caller on a branch, as far as rules and roles decide. */
export interface BranchAccess {
  readonly isProtected: boolean;
  readonly mayPush: boolean;
  /** The caller may merge requests into the branch. */
  readonly mayMerge: boolean;
  readonly mayDelete: boolean;
  /** The caller may push only because a merge request shares the branch. They can neither create nor delete it. */
  readonly isShared: boolean;
  /** A push may replace commits of the branch. */
  readonly mayForcePush: boolean;
  readonly canDevelopersPush: boolean;
  readonly canDevelopersMerge: boolean;
}

export interface TagAccess {
  readonly isProtected: boolean;
  readonly mayCreate: boolean;
}

const DEVELOPERS = 30;

/**
 * Rights of a caller on the branches and tags of a project. Of several rules that fit a name, the most generous one
 * decides. Source: reference repositories 6.1.
 */
export class RefAccess {
  constructor(
    private readonly caller: RuleCaller,
    private readonly rules: readonly RuleRow[],
    /** Short names of branches that merge requests share with the caller. A rule for a branch cancels its sharing. */
    private readonly shared: ReadonlySet<string> = new Set(),
  ) {}

  /** The caller may push to branches that no rule protects. */
  get mayPushAny(): boolean {
    return isDeveloper(this.caller);
  }

  /** The caller may push to some branch, if it exists. */
  get mayPushSome(): boolean {
    return this.mayPushAny || [...this.shared].some((name) => this.branchAccess(name).isShared);
  }

  /** `name` is the short name of the branch, which need not exist. */
  branchAccess(name: string): BranchAccess {
    const rules = this.findMatchingRules('branch', name);
    const isProtected = rules.length > 0;
    const push = rules.flatMap((rule) => rule.push_levels);
    const merge = rules.flatMap((rule) => rule.merge_levels);
    const isPusher = this.mayPushAny && (!isProtected || includesCaller(push, this.caller));
    const isShared = !this.mayPushAny && !isProtected && this.shared.has(name);
    return {
      isProtected,
      mayPush: isPusher || isShared,
      mayMerge: isPusher || (this.mayPushAny && includesCaller(merge, this.caller)),
      mayDelete: isProtected ? isMaintainer(this.caller) : isPusher,
      isShared,
      mayForcePush: !isProtected || rules.some((rule) => rule.allow_force_push),
      canDevelopersPush: push.includes(DEVELOPERS),
      canDevelopersMerge: merge.includes(DEVELOPERS),
    };
  }

  /** `name` is the short name of the tag, which need not exist. */
  tagAccess(name: string): TagAccess {
    const rules = this.findMatchingRules('tag', name);
    const isProtected = rules.length > 0;
    const levels = rules.flatMap((rule) => rule.push_levels);
    return {
      isProtected,
      mayCreate: isDeveloper(this.caller) && (!isProtected || includesCaller(levels, this.caller)),
    };
  }

  private findMatchingRules(kind: RuleRow['kind'], name: string): RuleRow[] {
    return this.rules.filter((rule) => rule.kind === kind && matchesWildcard(rule.name, name));
  }
}

/** Reads the rules of projects for branches and tags. Source: reference repositories 6.1. */
@Injectable()
export class RefProtections {
  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
  ) {}

  /**
   * Reads the rules of a project once, and the branches that merge requests share with the caller. The caller's permission to
   * read the code is not checked here. Errors: those of `Directory.requireFresh`.
   */
  async readAccess(caller: RefCaller): Promise<RefAccess> {
    const [rules, shared] = await Promise.all([
      this.database.run(selectProtectionRules, { projectId: caller.project.id }),
      this.findSharedBranches(caller),
    ]);
    return new RefAccess(caller, rules, new Set(shared.map(({ name }) => name)));
  }

  /**
   * Whether developers may push to the repository of a project while it is empty. The settlement of the first push
   * reads the same setting for the first rule. `viewer` is null for an import. Errors: those of
   * `Directory.requireFresh`.
   */
  async canDevelopersPushFirst(projectId: number, viewer: Viewer | null): Promise<boolean> {
    // Settings of groups decide too, and the permission check covered only this project.
    if (viewer !== null) await this.directory.requireFresh(viewer);
    const [group] = await this.database.run(groupProtection, { projectId });
    return canDevelopersMakeInitialPush(group?.setting);
  }

  /**
   * Finds the branches of a fork to which open merge requests let the caller push. Returns none for tokens of jobs, which
   * do not get the right of their user to push to other projects.
   */
  private async findSharedBranches(caller: RefCaller): Promise<readonly { readonly name: string }[]> {
    const { project, viewer } = caller;
    if (viewer.userId === null || viewer.job || isDeveloper(caller)) return [];
    // Roles in the target projects decide too, and the permission check covered only this project.
    await this.directory.requireFresh(viewer);
    return this.database.run(sharedBranches, { projectId: project.id, userId: viewer.userId });
  }
}

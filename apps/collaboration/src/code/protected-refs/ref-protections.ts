import { Injectable } from '@nestjs/common';
import { matchesWildcard } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { includesCaller, isDeveloper, isMaintainer } from './access-levels';
import type { RuleCaller } from './access-levels';

/** Rule as its statement returns it. Shape: levels of tags are in `push_levels`. */
export interface RuleRow {
  readonly kind: 'branch' | 'tag';
  readonly name: string;
  readonly allow_force_push: boolean;
  readonly push_levels: readonly number[];
  readonly merge_levels: readonly number[];
}

const rulesOf = statement<{ projectId: number }, RuleRow>(
  'protected_refs_of_project',
  `select 'branch' as kind, name, allow_force_push, push_levels, merge_levels
   from protected_branches where project_id = :projectId::bigint
   union all
   select 'tag', name, false, create_levels, '{}'::integer[]
   from protected_tags where project_id = :projectId::bigint`,
);

/** Rights of the caller on a branch, as far as rules and roles decide. */
export interface BranchAccess {
  readonly isProtected: boolean;
  readonly mayPush: boolean;
  /** The caller may merge requests into the branch. */
  readonly mayMerge: boolean;
  readonly mayDelete: boolean;
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
  ) {}

  /** Shape: short name of the branch, which need not exist. */
  branch(name: string): BranchAccess {
    const rules = this.rulesFor('branch', name);
    const isProtected = rules.length > 0;
    const push = rules.flatMap((rule) => rule.push_levels);
    const merge = rules.flatMap((rule) => rule.merge_levels);
    const mayPush = isDeveloper(this.caller) && (!isProtected || includesCaller(push, this.caller));
    return {
      isProtected,
      mayPush,
      mayMerge: mayPush || (isDeveloper(this.caller) && includesCaller(merge, this.caller)),
      mayDelete: isProtected ? isMaintainer(this.caller) : mayPush,
      mayForcePush: !isProtected || rules.some((rule) => rule.allow_force_push),
      canDevelopersPush: push.includes(DEVELOPERS),
      canDevelopersMerge: merge.includes(DEVELOPERS),
    };
  }

  /** Shape: short name of the tag, which need not exist. */
  tag(name: string): TagAccess {
    const rules = this.rulesFor('tag', name);
    const isProtected = rules.length > 0;
    const levels = rules.flatMap((rule) => rule.push_levels);
    return {
      isProtected,
      mayCreate: isDeveloper(this.caller) && (!isProtected || includesCaller(levels, this.caller)),
    };
  }

  private rulesFor(kind: RuleRow['kind'], name: string): RuleRow[] {
    return this.rules.filter((rule) => rule.kind === kind && matchesWildcard(rule.name, name));
  }
}

/** Reads the rules of projects for branches and tags. Source: reference repositories 6.1. */
@Injectable()
export class RefProtections {
  constructor(private readonly database: Database) {}

  /** Reads the rules of a project once. The caller's permission to use the repository is for others to check. */
  async of(caller: RuleCaller): Promise<RefAccess> {
    return new RefAccess(caller, await this.database.run(rulesOf, { projectId: caller.project.id }));
  }
}

import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@rookery/kernel';
import { CLOCK, Conflict, Forbidden, matchesWildcard } from '@rookery/kernel';
import { declareAttachedTable, defineCollection, filter, statement, Work } from '@rookery/persistence';
import type { AllFilters, Collection, Tx } from '@rookery/persistence';
import { DEFAULT_LEVEL, includesCaller } from './access-levels';
import type { RuleCaller } from './access-levels';
import { defaultProtection, groupProtection } from './default-protection';
import type { DefaultProtection } from './default-protection';
import { ProtectedBranch } from './protected-branch.entity';
import type { DeveloperRights } from './protected-branch.entity';

/** Filters of lists of rules. */
export interface RuleFilters {
  readonly search?: string;
}

export const attachedProtectedBranches = declareAttachedTable({ table: 'protected_branches', project: 'project_id' });

const selectProtectedNames = statement<{ projectId: number }, { name: string }>(
  'protected_branches_names',
  'select name from protected_branches where project_id = :projectId::bigint',
);
interface DefaultRule extends DefaultProtection {
  readonly projectId: number;
  readonly name: string;
  readonly unprotectLevels: readonly number[];
}
const insertDefaultRule = statement<DefaultRule, never>(
  'protected_branches_add_default',
  `insert into protected_branches (project_id, name, allow_force_push, push_levels, merge_levels, unprotect_levels)
   values (:projectId::bigint, :name::text, :allowsForcePush::boolean, :pushLevels::integer[], :mergeLevels::integer[],
     :unprotectLevels::integer[])
   on conflict do nothing`,
);

const SEARCH: AllFilters<RuleFilters> = { search: filter.contains('row.name') };

/** Rules for the branches of a project, ordered by name. */
export const protectedBranches = defineCollection(ProtectedBranch, {
  within: 'projectId',
  order: { name: 'ASC' },
  filters: SEARCH,
  taken: { uq_protected_branches_name: () => new Conflict('Name has already been taken') },
});

/** Protects branches by rules, and removes the rules. Source: reference repositories 6.2. */
@Injectable()
export class ProtectedBranches {
  private readonly branches: Collection<ProtectedBranch, RuleFilters>;

  constructor(
    work: Work,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.branches = protectedBranches.on(work);
  }

  /**
   * Adds a rule for the new default branch of a project, unless a rule matches its name already. The nearest group with a
   * setting decides about the rule. Without a setting, the rule is for maintainers.
   */
  async protectDefault(tx: Tx, projectId: number, name: string): Promise<void> {
    const rules = await tx.run(selectProtectedNames, { projectId });
    if (rules.some((rule) => matchesWildcard(rule.name, name))) return;
    const [group] = await tx.run(groupProtection, { projectId });
    const protection = defaultProtection(group?.setting);
    if (protection)
      await tx.run(insertDefaultRule, { projectId, name, unprotectLevels: [DEFAULT_LEVEL], ...protection });
  }

  /** Adds or changes the rule with exactly this name, in the form of the deprecated routes. */
  async protect(
    caller: RuleCaller & { readonly userId: number },
    name: string,
    rights: DeveloperRights,
  ): Promise<void> {
    const [rule] = await this.findByName(caller, name);
    const by = { actorId: caller.userId, within: caller.project.id };
    if (rule) {
      await this.branches.change(rule.id, (row) => row.setDevelopers(rights, this.clock.now()), by);
      return;
    }
    const made = ProtectedBranch.create(caller.project.id, { name }, this.clock.now());
    made.setDevelopers(rights, made.createdAt);
    await this.branches.create(made, by);
  }

  /** Removes the rule with exactly this name, if there is one. Errors: Forbidden. */
  async unprotect(caller: RuleCaller & { readonly userId: number }, name: string): Promise<void> {
    const [rule] = await this.findByName(caller, name);
    if (!rule) return;
    const by = { actorId: caller.userId, within: caller.project.id };
    await this.branches.remove(rule.id, by, (row) => Promise.resolve(checkUnprotect(row, caller)));
  }

  private findByName({ project }: RuleCaller, name: string): Promise<ProtectedBranch[]> {
    return this.branches.listAll({ within: project.id, where: { name } });
  }
}

/** Errors: Forbidden for callers whom the rule does not let remove or change it. */
export function checkUnprotect(rule: ProtectedBranch, caller: RuleCaller): void {
  if (!includesCaller(rule.unprotectLevels, caller)) throw new Forbidden();
}

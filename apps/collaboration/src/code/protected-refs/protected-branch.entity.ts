import { assertAllUsed } from '@rookery/kernel';
import { Check, Column, Entity, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { applyAccessLevelChanges, DEFAULT_LEVEL, levelId, accessLevelsOfNewRule } from './access-levels';
import type { LevelChange, RuleLevel } from './access-levels';

/** Fields of a new rule. */
export interface NewProtectedBranch {
  readonly name: string;
  readonly push_access_level?: RuleLevel | null;
  readonly merge_access_level?: RuleLevel | null;
  readonly unprotect_access_level?: RuleLevel | null;
  readonly allow_force_push?: boolean | null;
  readonly allowed_to_push?: readonly LevelChange[];
  readonly allowed_to_merge?: readonly LevelChange[];
  readonly allowed_to_unprotect?: readonly LevelChange[];
}

/** Fields of a rule to update. An omitted field keeps its value. */
export type ProtectedBranchChange = Pick<
  NewProtectedBranch,
  'allow_force_push' | 'allowed_to_push' | 'allowed_to_merge' | 'allowed_to_unprotect'
>;

/** Deprecated form of a rule: whether developers are included. */
export interface DeveloperRights {
  readonly developers_can_push?: boolean;
  readonly developers_can_merge?: boolean;
}

const DEVELOPERS: RuleLevel = 30;

/**
 * Rule for branches whose names match `name`, in which `*` matches any characters. Source: reference repositories 6.2.
 */
@Entity('protected_branches')
@Check('ck_protected_branches_name', 'char_length(name) <= 255')
@Unique('uq_protected_branches_name', ['projectId', 'name'])
export class ProtectedBranch {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_protected_branches',
  })
  id: number;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'text' }) name: string;
  @Column({ type: 'boolean', default: false }) allowForcePush: boolean;
  /** Access levels, see `RULE_LEVELS`. */
  @Column({ type: 'integer', array: true }) pushLevels: number[];
  @Column({ type: 'integer', array: true }) mergeLevels: number[];
  @Column({ type: 'integer', array: true }) unprotectLevels: number[];
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;

  /** Errors: Unprocessable. */
  static create(projectId: number, input: NewProtectedBranch, now: Date): ProtectedBranch {
    const { name, allow_force_push: force, ...levels } = input;
    const { push_access_level: push, merge_access_level: merge, unprotect_access_level: unprotect, ...lists } = levels;
    const { allowed_to_push: pushList, allowed_to_merge: mergeList, allowed_to_unprotect: list, ...rest } = lists;
    assertAllUsed(rest);
    const branch = new ProtectedBranch();
    branch.projectId = projectId;
    branch.name = name;
    branch.allowForcePush = force ?? false;
    branch.pushLevels = accessLevelsOfNewRule(push, pushList);
    branch.mergeLevels = accessLevelsOfNewRule(merge, mergeList);
    branch.unprotectLevels = accessLevelsOfNewRule(unprotect, list);
    branch.createdAt = now;
    branch.updatedAt = now;
    return branch;
  }

  /** Errors: Unprocessable. */
  change(input: ProtectedBranchChange, now: Date): void {
    const { allow_force_push: force, allowed_to_push: push, allowed_to_merge: merge, ...others } = input;
    const { allowed_to_unprotect: unprotect, ...rest } = others;
    assertAllUsed(rest);
    this.allowForcePush = force ?? this.allowForcePush;
    const idOf = (action: 'push' | 'merge' | 'unprotect') => (level: number) => levelId(this.id, action, level);
    this.pushLevels = applyAccessLevelChanges(this.pushLevels, push ?? [], idOf('push'));
    this.mergeLevels = applyAccessLevelChanges(this.mergeLevels, merge ?? [], idOf('merge'));
    this.unprotectLevels = applyAccessLevelChanges(this.unprotectLevels, unprotect ?? [], idOf('unprotect'));
    this.updatedAt = now;
  }

  /** Includes or excludes developers. */
  setDevelopers({ developers_can_push: push, developers_can_merge: merge }: DeveloperRights, now: Date): void {
    if (push !== undefined) this.pushLevels = [push ? DEVELOPERS : DEFAULT_LEVEL];
    if (merge !== undefined) this.mergeLevels = [merge ? DEVELOPERS : DEFAULT_LEVEL];
    this.updatedAt = now;
  }
}

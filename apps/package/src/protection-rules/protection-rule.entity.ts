import { assertAllUsed, Unprocessable } from '@rookery/kernel';
import { Check, Column, Entity, PrimaryGeneratedColumn, Unique } from 'typeorm';
import type { ProtectedPackageType } from './package-name-pattern';
import { findPackageNamePatternProblem } from './package-name-pattern';

export const PUSH_LEVELS = ['maintainer', 'owner', 'admin'] as const;
export type PushLevel = (typeof PUSH_LEVELS)[number];
export const DELETE_LEVELS = ['owner', 'admin'] as const;
export type DeleteLevel = (typeof DELETE_LEVELS)[number];

/** Fields of a rule. Null clears an access level. An omitted field keeps its value. */
export interface ProtectionRuleInput {
  readonly package_name_pattern?: string;
  readonly package_type?: ProtectedPackageType;
  readonly minimum_access_level_for_push?: PushLevel | null;
  readonly minimum_access_level_for_delete?: DeleteLevel | null;
}

/**
 * Access levels for pushing and deleting packages whose name matches a pattern. Source: requirements 3 §2 Package
 * protection rule.
 */
@Entity('protection_rules')
@Check('ck_protection_rules_pattern', 'char_length(package_name_pattern) <= 255')
@Check('ck_protection_rules_push', `minimum_access_level_for_push in ('maintainer', 'owner', 'admin')`)
@Check('ck_protection_rules_delete', `minimum_access_level_for_delete in ('owner', 'admin')`)
@Unique('uq_protection_rules_pattern', ['projectId', 'packageType', 'packageNamePattern'])
export class ProtectionRule {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_protection_rules',
  })
  id: number;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'text' }) packageType: ProtectedPackageType;
  @Column({ type: 'text' }) packageNamePattern: string;
  /** Null: developers may push. */
  @Column({ name: 'minimum_access_level_for_push', type: 'text', nullable: true }) pushLevel: PushLevel | null;
  /** Null: maintainers may delete. */
  @Column({ name: 'minimum_access_level_for_delete', type: 'text', nullable: true }) deleteLevel: DeleteLevel | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;

  static create(projectId: number, input: ProtectionRuleInput, now: Date): ProtectionRule {
    const rule = new ProtectionRule();
    rule.projectId = projectId;
    rule.pushLevel = null;
    rule.deleteLevel = null;
    rule.createdAt = now;
    rule.change(input, now);
    return rule;
  }

  /**
   * Changes the given fields. Errors: Unprocessable when both levels are null, or when no package of the type can have
   * a matching name.
   */
  change(input: ProtectionRuleInput, now: Date): void {
    const { package_name_pattern, package_type, ...levels } = input;
    const { minimum_access_level_for_push: push, minimum_access_level_for_delete: remove, ...rest } = levels;
    assertAllUsed(rest);
    this.packageNamePattern = package_name_pattern ?? this.packageNamePattern;
    this.packageType = package_type ?? this.packageType;
    if (push !== undefined) this.pushLevel = push;
    if (remove !== undefined) this.deleteLevel = remove;
    this.updatedAt = now;
    const problems = [
      findPackageNamePatternProblem(this.packageType, this.packageNamePattern),
      this.pushLevel === null && this.deleteLevel === null
        ? 'A rule must have at least a minimum access role for push or delete.'
        : null,
    ].filter((problem) => problem !== null);
    if (problems.length > 0) throw new Unprocessable({ error: problems });
  }
}

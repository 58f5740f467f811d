import { Unprocessable } from '@rookery/kernel';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { ProtectedPackageType } from './package-name-pattern';
import { problemOfPattern } from './package-name-pattern';

export const PUSH_LEVELS = ['maintainer', 'owner', 'admin'] as const;
export type PushLevel = (typeof PUSH_LEVELS)[number];
export const DELETE_LEVELS = ['owner', 'admin'] as const;
export type DeleteLevel = (typeof DELETE_LEVELS)[number];

/** What a maintainer may say of a rule. Shape: null takes a level away, a missing key leaves it. */
export interface ProtectionRuleInput {
  readonly package_name_pattern?: string;
  readonly package_type?: ProtectedPackageType;
  readonly minimum_access_level_for_push?: PushLevel | null;
  readonly minimum_access_level_for_delete?: DeleteLevel | null;
}

/** Who may push or delete packages whose name matches. Source: requirements 3 §2 Package protection rule. */
@Entity('protection_rules')
export class ProtectionRule {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'BY DEFAULT' })
  id: number;

  @Column({ name: 'project_id', type: 'bigint' })
  projectId: number;

  @Column({ name: 'package_type', type: 'text' })
  packageType: ProtectedPackageType;

  @Column({ name: 'package_name_pattern', type: 'text' })
  packageNamePattern: string;

  /** Null means that a developer may push. */
  @Column({ name: 'minimum_access_level_for_push', type: 'text', nullable: true })
  pushLevel: PushLevel | null;

  /** Null means that a maintainer may delete. */
  @Column({ name: 'minimum_access_level_for_delete', type: 'text', nullable: true })
  deleteLevel: DeleteLevel | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt: Date;

  static write(projectId: number, input: ProtectionRuleInput, now: Date): ProtectionRule {
    const rule = new ProtectionRule();
    rule.projectId = projectId;
    rule.pushLevel = null;
    rule.deleteLevel = null;
    rule.createdAt = now;
    rule.change(input, now);
    return rule;
  }

  /** Errors: Unprocessable when no level is left or the pattern cannot name such a package. */
  change(input: ProtectionRuleInput, now: Date): void {
    this.packageNamePattern = input.package_name_pattern ?? this.packageNamePattern;
    this.packageType = input.package_type ?? this.packageType;
    if (input.minimum_access_level_for_push !== undefined) this.pushLevel = input.minimum_access_level_for_push;
    if (input.minimum_access_level_for_delete !== undefined) this.deleteLevel = input.minimum_access_level_for_delete;
    this.updatedAt = now;
    const problems = [
      problemOfPattern(this.packageType, this.packageNamePattern),
      this.pushLevel === null && this.deleteLevel === null
        ? 'A rule must have at least a minimum access role for push or delete.'
        : null,
    ].filter((problem) => problem !== null);
    if (problems.length > 0) throw new Unprocessable({ error: problems });
  }
}

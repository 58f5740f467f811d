import { assertAllUsed } from '@rookery/kernel';
import { Check, Column, Entity, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { accessLevelsOfNewRule } from './access-levels';
import type { LevelChange, RuleLevel } from './access-levels';

/** Fields of a new rule. */
export interface NewProtectedTag {
  readonly name: string;
  readonly create_access_level?: RuleLevel | null;
  readonly allowed_to_create?: readonly LevelChange[];
}

/** Rule for tags whose names match `name`, in which `*` matches any characters. Source: reference repositories 6.3. */
@Entity('protected_tags')
@Check('ck_protected_tags_name', 'char_length(name) <= 255')
@Unique('uq_protected_tags_name', ['projectId', 'name'])
export class ProtectedTag {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_protected_tags',
  })
  id: number;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'text' }) name: string;
  /** Access levels, see `RULE_LEVELS`. */
  @Column({ type: 'integer', array: true }) createLevels: number[];
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;

  /** Errors: Unprocessable. */
  static create(projectId: number, input: NewProtectedTag, now: Date): ProtectedTag {
    const { name, create_access_level: level, allowed_to_create: list, ...rest } = input;
    assertAllUsed(rest);
    const tag = new ProtectedTag();
    tag.projectId = projectId;
    tag.name = name;
    tag.createLevels = accessLevelsOfNewRule(level, list);
    tag.createdAt = now;
    tag.updatedAt = now;
    return tag;
  }
}

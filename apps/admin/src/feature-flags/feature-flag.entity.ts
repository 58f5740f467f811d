import { InvalidWithSentences, lengthProblems, assertAllUsed } from '@rookery/kernel';
import { Check, Column, Entity, PrimaryGeneratedColumn, Unique } from 'typeorm';

/** Fields of a flag without its strategies. Omitted fields keep their values on update. */
export interface FeatureFlagFields {
  readonly name?: string;
  readonly description?: string | null;
  readonly active?: boolean;
}

/** Units: characters. */
const LONGEST_NAME = 63;
const LONGEST_DESCRIPTION = 255;
const NAME = /^[a-z][a-z0-9_-]*$/;

/**
 * A feature of an application that can be switched on for some of its users. Source: reference packages-and-admin 9.2.
 */
@Entity('feature_flags')
@Check('ck_feature_flags_name', 'char_length(name) <= 63')
@Unique('uq_feature_flags_name', ['projectId', 'name'])
export class FeatureFlag {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_feature_flags',
  })
  id: number;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'text' }) name: string;
  @Column({ type: 'text', nullable: true }) description: string | null;
  @Column({ type: 'boolean', default: true }) active: boolean;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;

  static create(input: FeatureFlagFields, now: Date): FeatureFlag {
    const flag = new FeatureFlag();
    flag.description = null;
    flag.active = true;
    flag.createdAt = now;
    flag.change(input, now);
    return flag;
  }

  /** Changes the given fields. Errors: InvalidWithSentences. */
  change(input: FeatureFlagFields, now: Date): void {
    const { name = this.name, description = this.description, active = this.active, ...rest } = input;
    assertAllUsed(rest);
    this.name = name;
    this.description = description;
    this.active = active;
    this.updatedAt = now;
    const problems = this.findProblems();
    if (problems.length > 0) throw new InvalidWithSentences(problems);
  }

  private findProblems(): string[] {
    if (this.name.trim() === '') return ["Name can't be blank"];
    return [
      ...lengthProblems(this.name, LONGEST_NAME).map((problem) => `Name ${problem}`),
      ...(NAME.test(this.name)
        ? []
        : ["Name can contain only lowercase letters, digits, '_' and '-'. Must start with a letter"]),
      ...lengthProblems(this.description ?? '', LONGEST_DESCRIPTION).map((problem) => `Description ${problem}`),
    ];
  }
}

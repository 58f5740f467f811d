import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { USER_LIST_STRATEGY } from './strategy-rules';

const IDENTITY = { type: 'bigint', generatedIdentity: 'BY DEFAULT' } as const;

/** A rule that selects the users for whom a flag is on. Source: reference packages-and-admin 9.2. */
@Entity('feature_flag_strategies')
@Index('ix_feature_flag_strategies_feature_flag_id', ['featureFlagId', 'id'])
@Index('ix_feature_flag_strategies_user_list_id', ['userListId'], { where: 'user_list_id is not null' })
export class FeatureFlagStrategy {
  @PrimaryGeneratedColumn('identity', { ...IDENTITY, primaryKeyConstraintName: 'pk_feature_flag_strategies' })
  id: number;
  @ForeignKey('feature_flags', { name: 'fk_feature_flag_strategies_feature_flag_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  featureFlagId: number;
  @Column({ type: 'text' }) name: string;
  @Column({ type: 'jsonb', default: {} }) parameters: Record<string, unknown>;
  @ForeignKey('feature_flags_user_lists', { name: 'fk_feature_flag_strategies_user_list_id' })
  @Column({ type: 'bigint', nullable: true })
  userListId: number | null;

  /** Changes the given fields. An omitted list is kept, unless the strategy changes to one without a list. */
  change(sent: { name?: string; parameters?: Record<string, unknown>; userListId?: number | null }): void {
    this.name = sent.name ?? this.name;
    this.parameters = sent.parameters ?? this.parameters;
    if (sent.userListId !== undefined) this.userListId = sent.userListId;
    else if (this.name !== USER_LIST_STRATEGY) this.userListId = null;
  }
}

/** An environment that a strategy applies to. In its name, `*` matches any run of characters. */
@Entity('feature_flag_scopes')
@Check('ck_feature_flag_scopes_environment_scope', 'char_length(environment_scope) <= 255')
@Unique('uq_feature_flag_scopes_environment_scope', ['strategyId', 'environmentScope'], {
  deferrable: 'INITIALLY DEFERRED',
})
export class FeatureFlagScope {
  @PrimaryGeneratedColumn('identity', { ...IDENTITY, primaryKeyConstraintName: 'pk_feature_flag_scopes' }) id: number;
  @ForeignKey('feature_flag_strategies', { name: 'fk_feature_flag_scopes_strategy_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  strategyId: number;
  @Column({ type: 'text' }) environmentScope: string;
}

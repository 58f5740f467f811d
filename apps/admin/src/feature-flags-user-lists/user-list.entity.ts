import { InvalidWithSentences, lengthProblems, assertAllUsed } from '@rookery/kernel';
import { Check, Column, Entity, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { areUserXids, USER_XIDS_RULE } from './user-xids';

/** Fields of a user list. Omitted fields keep their values on update. */
export interface UserListInput {
  readonly name?: string;
  readonly user_xids?: string;
}

/** A list of application users, by external ids, for the strategies of feature flags. */
@Entity('feature_flags_user_lists')
@Check('ck_feature_flags_user_lists_name', 'char_length(name) <= 255')
@Unique('uq_feature_flags_user_lists_iid', ['projectId', 'iid'])
@Unique('uq_feature_flags_user_lists_name', ['projectId', 'name'])
@Index('ix_feature_flags_user_lists_project_id', ['projectId', 'id'])
export class UserList {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_feature_flags_user_lists',
  })
  id: number;
  @Column({ type: 'bigint' }) projectId: number;
  /** Number within the project. */
  @Column({ type: 'bigint' }) iid: number;
  @Column({ type: 'text' }) name: string;
  /** External ids of users, separated by commas: `a,b,c`. */
  @Column({ type: 'text' }) userXids: string;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;

  static create(input: Required<UserListInput>, now: Date): UserList {
    const list = new UserList();
    list.createdAt = now;
    list.updatedAt = now;
    list.change(input, now);
    return list;
  }

  /** Changes the given fields. Errors: InvalidWithSentences. */
  change(input: UserListInput, now: Date): void {
    const { name = this.name, user_xids = this.userXids, ...rest } = input;
    assertAllUsed(rest);
    if (name !== this.name || user_xids !== this.userXids) this.updatedAt = now;
    this.name = name;
    this.userXids = user_xids;
    const problems = [
      ...(name.trim() === '' ? ["Name can't be blank"] : []),
      ...lengthProblems(name, 255).map((problem) => `Name ${problem}`),
      ...(areUserXids(user_xids) ? [] : [`User xids user_xids ${USER_XIDS_RULE}`]),
    ];
    if (problems.length > 0) throw new InvalidWithSentences(problems);
  }
}

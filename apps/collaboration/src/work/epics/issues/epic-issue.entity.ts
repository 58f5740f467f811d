import { Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { Issue } from '../../issues/issue.entity';
import { Epic } from '../epic.entity';

/** Link of an issue to its epic; an issue has one epic at most. Source: reference work-tracking 5.6. */
@Entity('epic_issues')
@Unique('uq_epic_issues_issue_id', ['issueId'])
@Index('ix_epic_issues_epic_id', ['epicId', 'relativePosition', 'id'])
export class EpicIssue {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'pk_epic_issues',
  })
  id: number;
  @ForeignKey(() => Epic, { name: 'fk_epic_issues_epic_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  epicId: number;
  @ForeignKey(() => Issue, { name: 'fk_epic_issues_issue_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  issueId: number;
  /** Position in the epic, lowest first; below 0 for issues that were put before the first. */
  @Column({ type: 'bigint' }) relativePosition: number;
}

import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Issue } from '../../issues/issue.entity';
import { MergeRequest } from '../merge-request.entity';

/** Part of a merge request that names issues: title and description, or the messages of its commits. */
export type IssueSource = 'text' | 'commits';

/** An issue that a merge request mentions or closes. Source: reference repositories 8.17. */
@Entity('merge_request_issues')
@Check('ck_merge_request_issues_source', `source in ('text', 'commits')`)
@Index('ix_merge_request_issues_issue_id', ['issueId', 'mergeRequestId'])
export class MergeRequestIssue {
  @ForeignKey(() => MergeRequest, { name: 'fk_merge_request_issues_merge_request_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_merge_request_issues' })
  mergeRequestId: number;
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_merge_request_issues' }) source: IssueSource;
  @ForeignKey(() => Issue, { name: 'fk_merge_request_issues_issue_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_merge_request_issues' })
  issueId: number;
  /** Whether merging closes the issue; otherwise the part only mentions it. */
  @Column({ type: 'boolean' }) closes: boolean;
}

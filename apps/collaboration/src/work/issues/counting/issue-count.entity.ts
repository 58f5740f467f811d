import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Number of open issues of a project in its last event. Source: ADR 0110. */
@Entity('issue_counts')
@Check('ck_issue_counts_open', 'open_public_count between 0 and open_count')
@Index('ix_issue_counts_uncounted', ['projectId'], { where: 'counted_at is null' })
export class IssueCount {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_issue_counts' }) projectId: number;
  @Column({ type: 'integer', default: 0 }) openCount: number;
  /** Open issues that are not confidential. */
  @Column({ type: 'integer', default: 0 }) openPublicCount: number;
  /** Null until the issues of the project are counted for the first time. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) countedAt: Date | null;
}

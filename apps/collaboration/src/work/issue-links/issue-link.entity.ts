import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn } from 'typeorm';
import { Issue } from '../issues/issue.entity';

/** Relations of an issue to another one. `blocks` reads `is_blocked_by` from the other end. */
export const LINK_TYPES = ['relates_to', 'blocks', 'is_blocked_by'] as const;
export type LinkType = (typeof LINK_TYPES)[number];

/** A link: two issues are related, or the source blocks the target. Source: reference work-tracking 9.1. */
@Entity('issue_links')
@Check('ck_issue_links_two', 'source_id <> target_id')
@Check('ck_issue_links_link_type', `link_type in ('blocks', 'relates_to')`)
@Index('uq_issue_links_issues', { synchronize: false })
@Index('ix_issue_links_source_id', ['sourceId', 'id'])
@Index('ix_issue_links_target_id', ['targetId', 'id'])
export class IssueLink {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'pk_issue_links',
  })
  id: number;
  /** The blocking issue; of a plain relation the issue that it was created on. */
  @ForeignKey(() => Issue, { name: 'fk_issue_links_source_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  sourceId: number;
  @ForeignKey(() => Issue, { name: 'fk_issue_links_target_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  targetId: number;
  @Column({ type: 'text' }) linkType: 'blocks' | 'relates_to';
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
}

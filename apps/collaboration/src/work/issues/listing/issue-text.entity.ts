import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Issue } from '../issue.entity';

/**
 * What is searched of an issue: title and description, in lower case. The database keeps it (triggers on `issues`), and
 * it goes with its issue. It is apart from that because each note changes the issue's row, and would have all trigrams of
 * it written anew. Source: ADR 0161; docs/performance.md 8.
 */
@Entity('issue_texts')
@Index('ix_issue_texts_text', { synchronize: false })
export class IssueText {
  @ForeignKey(() => Issue, { name: 'fk_issue_texts_issue_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_issue_texts' })
  issueId: number;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'text' }) text: string;
}

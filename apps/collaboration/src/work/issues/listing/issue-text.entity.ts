import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Issue } from '../issue.entity';

/**
 * Search text of an issue: title and description in lower case. Triggers on `issues` maintain it, and a foreign key
 * deletes it with its issue. It is a table of its own because each note changes the issue's row, which would rewrite
 * all trigrams. Source: ADR 0161; docs/performance.md 8.
 */
@Entity('issue_texts')
@Index('ix_issue_texts_text', { synchronize: false })
export class IssueSearchText {
  @ForeignKey(() => Issue, { name: 'fk_issue_texts_issue_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_issue_texts' })
  issueId: number;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'text' }) text: string;
}

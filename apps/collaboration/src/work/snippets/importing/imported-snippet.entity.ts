import { declareAttachedTable } from '@rookery/persistence';
import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Snippet } from '../snippet.entity';

/** A personal snippet and the upstream one that it comes from, so that a repeated import changes nothing. */
@Entity('imported_snippets')
@Index('ix_imported_snippets_snippet_id', ['snippetId'])
export class ImportedSnippet {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_imported_snippets' }) authorId: number;
  /** Host of the upstream service. */
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_imported_snippets' }) source: string;
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_imported_snippets' }) upstreamId: string;
  @ForeignKey(() => Snippet, { name: 'fk_imported_snippets_snippet_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  snippetId: number;
}

export const attachedImportedSnippets = declareAttachedTable({
  table: 'imported_snippets',
  key: 'ctid',
  stays: {
    author_id: 'The foreign key removes the row with the personal snippet of a removed user.',
    upstream_id: 'An id of another host.',
    snippet_id: 'The foreign key removes the row with its snippet.',
  },
});

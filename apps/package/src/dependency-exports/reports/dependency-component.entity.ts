import { Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { DependencyReport } from './dependency-report.entity';

/** A license as a document declares it. One of the two is null. */
export interface ComponentLicense {
  readonly spdx: string | null;
  readonly name: string | null;
}

/** A component that depends on another one. */
export interface Ancestor {
  readonly name: string;
  readonly version: string | null;
}

/** A component of a CycloneDX document. Source: reference packages-and-admin 6.3, 6.4. */
@Entity('dependency_components')
@Unique('uq_dependency_components_report_id', ['reportId', 'position'])
@Index('ix_dependency_components_report_id_ref', ['reportId', 'ref'])
export class DependencyComponent {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_dependency_components',
  })
  id: number;
  @Column({ type: 'bigint' })
  @ForeignKey(() => DependencyReport, { name: 'fk_dependency_components_report_id', onDelete: 'CASCADE' })
  reportId: number;
  /** Place in the document, from 0. */
  @Column({ type: 'integer' }) position: number;
  /** Identifies the component across documents: the package URL, or a UUID of name and version. */
  @Column({ type: 'text', collation: 'C' }) ref: string;
  @Column({ type: 'text' }) name: string;
  @Column({ type: 'text', nullable: true }) version: string | null;
  @Column({ type: 'text' }) componentType: string;
  @Column({ type: 'text', nullable: true }) purl: string | null;
  @Column({ type: 'text', nullable: true }) packager: string | null;
  @Column({ type: 'jsonb', default: [] }) licenses: ComponentLicense[];
  /** The described application depends on it itself. */
  @Column({ type: 'boolean', default: false }) isTopLevel: boolean;
  @Column({ type: 'jsonb', default: [] }) ancestors: Ancestor[];
}

import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { PackageFile } from '../../packages/package-file.entity';
import type { Chart } from './chart';

/** A chart, or its provenance file, in a channel of a project. Source: reference packages-and-admin 4.8. */
@Entity('helm_files')
@Check('ck_helm_files_channel', 'char_length(channel) <= 255')
@Index('ix_helm_files_chart_name', ['projectId', 'channel', 'chartName', 'fileId'])
@Index('ix_helm_files_file_name', ['projectId', 'channel', 'fileName', 'fileId'])
export class HelmFile {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_helm_files' })
  @ForeignKey(() => PackageFile, { name: 'fk_helm_files_file_id', onDelete: 'CASCADE' })
  fileId: number;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'text' }) channel: string;
  @Column({ type: 'text' }) chartName: string;
  /** The same value as in `package_files`. */
  @Column({ type: 'text' }) fileName: string;
  /** Fields of `Chart.yaml` for the index; null for a provenance file. */
  @Column({ type: 'jsonb', nullable: true }) chart: Chart | null;
}

import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** The single row that counts changes of features and settings. Source: ADR 0180. */
@Entity('instance_versions')
@Check('ck_instance_versions_id', 'id = 1')
export class InstanceConfigVersion {
  @PrimaryColumn({ type: 'integer', primaryKeyConstraintName: 'pk_instance_versions' }) id: number;
  @Column({ type: 'bigint' }) version: number;
}

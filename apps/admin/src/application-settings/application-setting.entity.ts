import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A setting that an administrator has changed. Source: reference packages-and-admin 10.3. */
@Entity('application_settings')
export class ApplicationSetting {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_application_settings' }) name: string;
  @Column({ type: 'jsonb' }) value: unknown;
}

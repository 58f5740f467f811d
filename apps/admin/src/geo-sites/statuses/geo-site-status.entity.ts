import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { GeoSite } from '../geo-site.entity';
import type { Measured } from './site-status';

/** How a site was found when it was last asked. */
@Entity('geo_site_statuses')
export class GeoSiteStatus {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_geo_site_statuses' })
  @ForeignKey(() => GeoSite, { onDelete: 'CASCADE', name: 'fk_geo_site_statuses_geo_site_id' })
  geoSiteId: number;
  /** Where it was asked: of a site that is elsewhere now, nothing is known. */
  @Column({ type: 'text' }) url: string;
  @Column({ type: 'boolean' }) isHealthy: boolean;
  @Column({ type: 'text' }) health: string;
  @Column({ type: 'jsonb', nullable: true }) measured: Measured | null;
  @Column({ type: 'timestamptz', precision: 3 }) checkedAt: Date;
  /** When it was last found healthy there. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) healthyAt: Date | null;
}

import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { GeoSite } from '../geo-site.entity';
import type { SiteFacts } from './site-status';

/** Result of the last status check of a site. */
@Entity('geo_site_statuses')
export class GeoSiteStatus {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_geo_site_statuses' })
  @ForeignKey(() => GeoSite, { onDelete: 'CASCADE', name: 'fk_geo_site_statuses_geo_site_id' })
  geoSiteId: number;
  /** Address that was checked. If the site has another one by now, its status is unknown. */
  @Column({ type: 'text' }) url: string;
  @Column({ type: 'boolean' }) isHealthy: boolean;
  @Column({ type: 'text' }) health: string;
  @Column({ type: 'jsonb', nullable: true }) measured: SiteFacts | null;
  @Column({ type: 'timestamptz', precision: 3 }) checkedAt: Date;
  /** Time of the last healthy result at that address. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) healthyAt: Date | null;
}

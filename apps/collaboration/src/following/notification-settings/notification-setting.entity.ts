import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { NotificationLevel, SettingPlace } from './notification-levels';
import type { Switches } from './notification-switches';

/** Notification setting of a user, global or for one group or project. Source: reference work-tracking 8.1. */
@Entity('notification_settings')
@Check('ck_notification_settings_source_type', `source_type in ('global', 'namespace', 'project')`)
@Check(
  'ck_notification_settings_level',
  `level in ('disabled', 'participating', 'watch', 'global', 'mention', 'custom')`,
)
@Index('ix_notification_settings_watching', ['sourceType', 'sourceId', 'userId'], {
  where: `level in ('watch', 'custom')`,
})
export class NotificationSetting {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_notification_settings' }) userId: number;
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_notification_settings' })
  sourceType: SettingPlace['type'];
  /** 0 for the global setting. */
  @PrimaryColumn({ type: 'bigint', default: 0, primaryKeyConstraintName: 'pk_notification_settings' }) sourceId: number;
  @Column({ type: 'text' }) level: NotificationLevel;
  /** Switches that the user has set; they are kept while the level is not `custom`. */
  @Column({ type: 'jsonb', default: {} }) switches: Switches;
}

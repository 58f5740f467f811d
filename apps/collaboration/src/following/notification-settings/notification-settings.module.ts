import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { attachedNotificationSettings } from './notification-setting-removal';
import { NotificationSetting } from './notification-setting.entity';
import {
  GlobalNotificationSettingsController,
  GroupNotificationSettingsController,
  ProjectNotificationSettingsController,
} from './notification-settings.controller';
import { NotificationSettingsService } from './notification-settings.service';
import { SuspectMailAddress } from './suspect-address.entity';
import { SuspectMailAddresses } from './suspect-addresses';
import { OldMailRefusalsJob } from './suspect-addresses.job';

/** Notification settings of users: general ones, and ones for groups and projects; addresses that get no e-mail. */
@Owns(NotificationSetting, SuspectMailAddress)
@Attaches(attachedNotificationSettings)
@Module({
  controllers: [
    GlobalNotificationSettingsController,
    GroupNotificationSettingsController,
    ProjectNotificationSettingsController,
  ],
  providers: [NotificationSettingsService, SuspectMailAddresses, OldMailRefusalsJob],
  exports: [SuspectMailAddresses],
})
export class NotificationSettingsModule {}

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

/** Notification settings of users: general ones, and ones for groups and projects. */
@Owns(NotificationSetting)
@Attaches(attachedNotificationSettings)
@Module({
  controllers: [
    GlobalNotificationSettingsController,
    GroupNotificationSettingsController,
    ProjectNotificationSettingsController,
  ],
  providers: [NotificationSettingsService],
})
export class NotificationSettingsModule {}

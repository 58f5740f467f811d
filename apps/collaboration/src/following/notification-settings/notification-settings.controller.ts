import { Controller } from '@nestjs/common';
import { Endpoint, one, signedIn, projectOrGroup } from '@rookery/api-v4';
import type { Call, GroupScope, NoParams, ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { globalNotificationSetting, notificationSetting } from './notification-setting.presenter';
import { toSwitches, UpdateGlobalNotificationSettings, UpdateNotificationSettings } from './notification-settings.dto';
import { NotificationSettingsService } from './notification-settings.service';
import type {
  GlobalNotificationSetting,
  SettingParent,
  NotificationSettingView,
} from './notification-settings.service';

const SOURCE = 'requirements 1 §4 Notification settings; reference work-tracking 8.1';

@Controller('notification_settings')
export class GlobalNotificationSettingsController {
  constructor(private readonly settings: NotificationSettingsService) {}

  @Endpoint('GET', '', {
    about: "Returns the caller's general notification setting.",
    source: SOURCE,
    may: signedIn(),
    answers: one(globalNotificationSetting),
  })
  show({ viewer }: Call<NoParams, undefined, SignedInViewer>): Promise<GlobalNotificationSetting> {
    return this.settings.showGlobal(viewer.userId);
  }

  @Endpoint('PUT', '', {
    about: "Changes the caller's general notification setting.",
    source: SOURCE,
    may: signedIn(),
    params: UpdateGlobalNotificationSettings,
    answers: one(globalNotificationSetting),
    fails: [400],
  })
  update({
    params,
    viewer,
  }: Call<UpdateGlobalNotificationSettings, undefined, SignedInViewer>): Promise<GlobalNotificationSetting> {
    const { level, notification_email: email = null } = params;
    return this.settings.updateGlobal(viewer.userId, { level, switches: toSwitches(params), email });
  }
}

type ParentCall<P> = Call<P, ProjectScope | GroupScope, SignedInViewer>;

/** Creates the controller with the routes of projects or of groups. */
function createNotificationSettingsController(kind: 'project' | 'group') {
  const route = {
    source: SOURCE,
    within: projectOrGroup(kind),
    may: signedIn(),
    answers: one(notificationSetting),
  } as const;

  @Controller(`${kind}s/:id/notification_settings`)
  class PlacedNotificationSettingsController {
    constructor(readonly settings: NotificationSettingsService) {}

    @Endpoint('GET', '', { ...route, about: `Returns the caller's notification setting for a ${kind}.` })
    show({ viewer, within }: ParentCall<NoParams>): Promise<NotificationSettingView> {
      return this.settings.show(viewer.userId, toNotificationSettingParent(within));
    }

    @Endpoint('PUT', '', {
      ...route,
      about: `Changes the caller's notification setting for a ${kind}.`,
      params: UpdateNotificationSettings,
      fails: [400],
    })
    update({ params, viewer, within }: ParentCall<UpdateNotificationSettings>): Promise<NotificationSettingView> {
      const change = { level: params.level, switches: toSwitches(params) };
      return this.settings.update(viewer.userId, toNotificationSettingParent(within), change);
    }
  }
  Object.defineProperty(PlacedNotificationSettingsController, 'name', {
    value: kind === 'project' ? 'ProjectNotificationSettingsController' : 'GroupNotificationSettingsController',
  });
  return PlacedNotificationSettingsController;
}

export const ProjectNotificationSettingsController = createNotificationSettingsController('project');
export const GroupNotificationSettingsController = createNotificationSettingsController('group');

/** Epics are part of the highest plan and of groups only. Source: requirements 1 §4 Notification settings. */
function toNotificationSettingParent(scope: ProjectScope | GroupScope): SettingParent {
  return scope.kind === 'project'
    ? { type: 'project', id: scope.id, hasEpics: false }
    : { type: 'namespace', id: scope.id, hasEpics: scope.plan === 'ultimate' };
}

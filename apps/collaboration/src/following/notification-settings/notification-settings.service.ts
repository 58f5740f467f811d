import { Injectable } from '@nestjs/common';
import { IdentityClient } from '@rookery/directory';
import { Invalid, Refused } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { defaultLevel, NOTIFICATION_LEVELS } from './notification-levels';
import type { NotificationLevel, SettingPlace } from './notification-levels';
import type { Switches } from './notification-switches';
import { SuspectMailAddresses } from './suspect-addresses';

/** A stored setting. */
interface StoredSetting {
  readonly level: NotificationLevel;
  readonly switches: Switches;
}

/** A setting as the API shows it. `hasEpics` is true if the switch for epics has an effect in the place. */
export interface NotificationSettingView extends StoredSetting {
  readonly hasEpics: boolean;
}

/** The general setting of a user. `email` is the address to which notifications are sent. */
export interface GlobalNotificationSetting extends NotificationSettingView {
  readonly email: string;
}

/** Place of a setting and what it has. */
export type SettingParent = SettingPlace & { readonly hasEpics: boolean };

/** Changes to a setting. An omitted level and omitted switches keep their values. */
export interface SettingChange {
  readonly level?: string | undefined;
  readonly switches: Switches;
}

interface SettingParams {
  readonly user: number;
  readonly type: SettingPlace['type'];
  readonly id: number;
}

const readSetting = statement<SettingParams, StoredSetting>(
  'notification_settings_read',
  `select level, switches from notification_settings
   where user_id = :user::bigint and source_type = :type::text and source_id = :id::bigint`,
);
/** Merges switches in one statement, so that concurrent requests lose none. */
const writeSetting = statement<
  SettingParams & { readonly level: string | null; readonly initial: string; readonly switches: string },
  StoredSetting
>(
  'notification_settings_write',
  `insert into notification_settings as s (user_id, source_type, source_id, level, switches)
   values (:user::bigint, :type::text, :id::bigint, coalesce(:level::text, :initial::text), :switches::jsonb)
   on conflict (user_id, source_type, source_id) do update
     set level = coalesce(:level::text, s.level), switches = s.switches || excluded.switches
   returning level, switches`,
);

const GLOBAL = { type: 'global', hasEpics: true } as const;

/** Notification settings of users. Source: reference work-tracking 8.1. */
@Injectable()
export class NotificationSettingsService {
  constructor(
    private readonly database: Database,
    private readonly identity: IdentityClient,
    private readonly suspects: SuspectMailAddresses,
  ) {}

  async show(userId: number, place: SettingParent): Promise<NotificationSettingView> {
    const [row] = await this.database.run(readSetting, toNotificationSettingParams(userId, place));
    return { ...(row ?? { level: defaultLevel(place), switches: {} }), hasEpics: place.hasEpics };
  }

  /** Errors: Refused for an unknown level. */
  async update(userId: number, place: SettingParent, change: SettingChange): Promise<NotificationSettingView> {
    assertValidNotificationLevel(change.level);
    if (change.level === undefined && Object.keys(change.switches).length === 0) return this.show(userId, place);
    const [row] = await this.database.run(writeSetting, {
      ...toNotificationSettingParams(userId, place),
      level: change.level ?? null,
      initial: defaultLevel(place),
      switches: JSON.stringify(change.switches),
    });
    return { ...row!, hasEpics: place.hasEpics };
  }

  /** Errors: Unavailable while identity, which has the addresses of users, is away. */
  async showGlobal(userId: number): Promise<GlobalNotificationSetting> {
    const [setting, { email }] = await Promise.all([
      this.show(userId, GLOBAL),
      this.identity.notificationEmail({ user_id: userId, email: null }),
    ]);
    return { ...setting, email };
  }

  /**
   * Changes the general setting. A chosen address is not suspect any more. Errors: Refused for an unknown level; Invalid for an address that is not a confirmed one
   * of the user; Unavailable while identity is away. Nothing changes then.
   */
  async updateGlobal(
    userId: number,
    change: SettingChange & { readonly email: string | null },
  ): Promise<GlobalNotificationSetting> {
    assertValidNotificationLevel(change.level);
    const { outcome, email } = await this.identity.notificationEmail({ user_id: userId, email: change.email });
    if (outcome === 'not_verified') throw new Invalid({ notification_email: ['must be an email you have verified'] });
    if (change.email !== null) await this.suspects.clearAddress(change.email);
    return { ...(await this.update(userId, GLOBAL, change)), email };
  }
}

function toNotificationSettingParams(user: number, place: SettingPlace): SettingParams {
  return { user, type: place.type, id: place.type === 'global' ? 0 : place.id };
}

function assertValidNotificationLevel(level: string | undefined): void {
  if (level !== undefined && !NOTIFICATION_LEVELS.includes(level as NotificationLevel))
    throw new Refused(`'${level}' is not a valid level`, { verbatim: true });
}

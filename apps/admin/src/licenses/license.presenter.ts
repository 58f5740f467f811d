import { bool, day, instant, int, mapOf, nullable, presenter, text, choice } from '@rookery/api-v4';
import type { FieldType } from '@rookery/api-v4';
import type { LicenseView } from './licenses.service';

const never = nullable(day) as FieldType<null>;

/** All features are included, without a limit on users or time. Source: reference packages-and-admin 10.4. */
export const licensePresenter = presenter<LicenseView>('License').fields({
  id: [int, ({ license }) => license.id],
  plan: [choice<string>('ultimate'), () => 'ultimate'],
  created_at: [instant, ({ license }) => license.createdAt],
  starts_at: [day, ({ license }) => license.createdAt],
  expires_at: [never, () => null],
  historical_max: [int, ({ license }) => license.historicalMax],
  maximum_user_count: [int, ({ license }) => license.historicalMax],
  licensee: [mapOf(text), () => ({})],
  add_ons: [mapOf(int), () => ({})],
  expired: [bool, () => false],
  overage: [int, () => 0],
  user_limit: [int, () => 0],
  active_users: [int, ({ activeUsers }) => activeUsers],
});

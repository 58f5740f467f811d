import { IdOrPath, Text } from '@rookery/api-v4';

/** Credentials of an Unleash client. Source: reference packages-and-admin 9.3. */
export class IdentifyUnleashClient {
  @IdOrPath({ in: 'path' }) project_id: number | string;
  @Text({ optional: true, header: 'unleash-instanceid', about: 'The token of the project.' }) instance_id?: string;
  /** At most as long as a scope, because it is matched against thousands of scopes, which may contain many `*`. */
  @Text({ optional: true, max: 255, header: 'unleash-appname', about: 'The environment.' })
  app_name?: string;
}

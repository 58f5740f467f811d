import { IdOrPath, Text } from '@rookery/api-v4';

/** Who an Unleash client says it is. Source: reference packages-and-admin 9.3. */
export class OneUnleashClient {
  @IdOrPath({ in: 'path' }) project_id: number | string;
  @Text({ optional: true, header: 'unleash-instanceid', about: 'The token of the project.' }) instance_id?: string;
  /** No longer than a scope, which may have many `*`: each of thousands is matched against it. */
  @Text({ optional: true, max: 255, header: 'unleash-appname', about: 'The environment.' })
  app_name?: string;
}

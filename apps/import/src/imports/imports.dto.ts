import { Hash, Int, OneOf, Text } from '@rookery/api-v4';

const STRATEGIES = ['optimistic', 'pessimistic'] as const;
/** Anything else cannot be sent in a header. */
const CREDENTIAL = /^[\x21-\x7e]{1,1024}$/;

/** Source: reference identity-and-import 6.3. */
export class ImportRemote {
  @Text({ pattern: CREDENTIAL, about: 'Credential of the upstream host. It is deleted when the import ends.' })
  personal_access_token: string;
  @Int({ min: 1, about: 'Id of the upstream repository.' }) repo_id: number;
  @Text({ blank: 'refused', about: 'Full path of a group, or the username of the caller.' }) target_namespace: string;
  @Text({ optional: true, about: 'Name of the project. Default: the name upstream.' }) new_name?: string;
  @Text({
    optional: true,
    alias: 'github_hostname',
    about: 'Address of an upstream host. Default: the public service.',
  })
  remote_hostname?: string;
  @Hash({
    of: 'any',
    optional: true,
    about: 'Stages to switch on: `single_endpoint_notes_import`. Others have no effect.',
  })
  optional_stages?: Record<string, unknown>;
  @OneOf(STRATEGIES, {
    optional: true,
    about:
      'Whether the import fails with a list of objects (pessimistic, default), or goes on without it (optimistic).',
  })
  timeout_strategy?: (typeof STRATEGIES)[number];
  @Int({ optional: true, min: 1, max: 100, about: 'Objects in one page of an upstream list.' })
  pagination_limit?: number;
}

export class CancelImport {
  @Int({ about: 'Id of the project.' }) project_id: number;
}

import { Flag, HashOf, Int, OneOf, Text } from '@rookery/api-v4';

const STRATEGIES = ['optimistic', 'pessimistic'] as const;
/** Anything else cannot be sent in a header. */
const CREDENTIAL = /^[\x21-\x7e]{1,1024}$/;

class OptionalStages {
  @Flag({ optional: true, about: 'Whether attachments are copied.' }) attachments_import?: boolean;
  @Flag({ optional: true, about: 'Whether comments are read of each issue and pull request.' })
  single_endpoint_notes_import?: boolean;
}

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
  @HashOf(() => OptionalStages, { optional: true, about: 'Stages to switch on. Others have no effect.' })
  optional_stages?: OptionalStages;
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

/** A user name ends at the first colon of the credential. */
const USERNAME = /^[^:\p{C}]{1,255}$/u;
/** Key of a project, or `~` and a username. */
const KEY = /^(?!\.{1,2}$)[~\w.-]{1,255}$/;
/** Workspace and slug; `___` stands for the slash. */
const REPO_PATH = /^(?!\.{1,2}(?:\/|___))[\w.{}-]{1,255}?(?:\/|___)(?!\.{1,2}$)[\w.{}-]{1,255}$/;
const SLUG = /^(?!\.{1,2}$)[\w.-]{1,255}$/;

/** Source: reference identity-and-import 6.4. */
export class ImportRepohostServer {
  @Text({ alias: 'bitbucket_server_url', about: 'Address of the server.' }) repohost_server_url: string;
  @Text({ pattern: USERNAME, alias: 'bitbucket_server_username', about: 'Name of a user of the server.' })
  repohost_server_username: string;
  @Text({ pattern: CREDENTIAL, about: 'Token or password of that user. It is deleted when the import ends.' })
  personal_access_token: string;
  @Text({ pattern: KEY, alias: 'bitbucket_server_project', about: 'Key of the upstream project.' })
  repohost_server_project: string;
  @Text({ pattern: SLUG, alias: 'bitbucket_server_repo', about: 'Slug of the upstream repository.' })
  repohost_server_repo: string;
  @Text({ optional: true, about: 'Name of the project. Default: the name upstream.' }) new_name?: string;
  @Text({
    optional: true,
    alias: 'new_namespace',
    about: 'Full path of a group, or the username of the caller. Default: the username of the caller.',
  })
  target_namespace?: string;
  @OneOf(STRATEGIES, {
    optional: true,
    about:
      'Whether the import fails with a list of objects (pessimistic, default), or goes on without it (optimistic).',
  })
  timeout_strategy?: (typeof STRATEGIES)[number];
}

/** Source: reference identity-and-import 6.5. */
export class ImportRepohost {
  @Text({
    pattern: USERNAME,
    alias: ['bitbucket_username', 'bitbucket_email'],
    about: 'Name or e-mail address of a user of the service.',
  })
  cloudrepo_username: string;
  @Text({
    pattern: CREDENTIAL,
    alias: ['bitbucket_app_password', 'bitbucket_api_token'],
    about: 'Password or token of that user for programs. It is deleted when the import ends.',
  })
  cloudrepo_app_password: string;
  @Text({ pattern: REPO_PATH, about: 'Workspace and slug of the upstream repository; `___` may stand for the slash.' })
  repo_path: string;
  @Text({ blank: 'refused', about: 'Full path of a group, or the username of the caller.' }) target_namespace: string;
  @Text({ optional: true, about: 'Name of the project. Default: the name upstream.' }) new_name?: string;
}

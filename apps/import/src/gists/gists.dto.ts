import { Text } from '@rookery/api-v4';

/** Anything else cannot be sent in a header. */
const CREDENTIAL = /^[\x21-\x7e]{1,1024}$/;

/** Source: reference identity-and-import 6.2. */
export class ImportGists {
  @Text({ pattern: CREDENTIAL, about: 'Credential of the upstream host. It is deleted when the import ends.' })
  personal_access_token: string;
  @Text({
    optional: true,
    alias: 'github_hostname',
    about: 'Address of an upstream host. Default: the public service.',
  })
  remote_hostname?: string;
}

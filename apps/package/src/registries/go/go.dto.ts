import { Text } from '@rookery/api-v4';

/** Source: reference packages-and-admin 4.12. */
export class IdentifyGoFile {
  @Text({
    ...{ in: 'path', max: 1500 },
    about:
      'Module path, and `/@v/list`, `/@latest`, or `/@v/` with a version and `.info`, `.mod` or `.zip`. `!x` is a capital letter.',
  })
  path: string;
}

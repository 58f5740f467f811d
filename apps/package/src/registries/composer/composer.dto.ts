import { ExactlyOneOf, Text } from '@rookery/api-v4';

const FILE = /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?\/[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/;

/** The version of a branch is longer than its name. */
const MAX_REF = 240;

/** Source: reference packages-and-admin 4.11. */
@ExactlyOneOf('tag', 'branch')
export class PublishComposerVersion {
  @Text({ optional: true, max: MAX_REF, about: 'Tag whose commit is published.' }) tag?: string;
  @Text({ optional: true, max: MAX_REF, about: 'Branch whose commit is published.' }) branch?: string;
}

export class ShowComposerRepository {
  @Text({ in: 'path', max: 1000, about: 'Id or path.' }) id: string;
}

export class ShowComposerPackage {
  @Text({
    ...{ in: 'path', max: 520, pattern: /^[^/]+\/[^/]+\.json$/ },
    about: '`vendor/name.json` for releases, `vendor/name~dev.json` for versions of branches.',
  })
  package_name: string;
}

export class IdentifyComposerArchive {
  @Text({ in: 'path', max: 511, pattern: FILE, about: 'Name of the package.' }) package_name: string;
  @Text({ max: 64, pattern: /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/, about: 'Full id of the commit of a version.' })
  sha: string;
}

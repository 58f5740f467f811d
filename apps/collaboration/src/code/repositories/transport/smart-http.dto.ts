import { Text } from '@rookery/api-v4';

/** Path and headers of every request of a git client. */
export class IdentifyRepository {
  @Text({ in: 'path', about: 'Full path of the project, with or without `.git`.' }) full_path: string;
  @Text({
    in: 'header',
    header: 'git-protocol',
    optional: true,
    about: 'Version of the protocol, such as `version=2`.',
  })
  git_protocol?: string;
}

export class ListAdvertisedRefs extends IdentifyRepository {
  @Text({ optional: true, about: '`git-upload-pack` for fetches, `git-receive-pack` for pushes.' })
  service?: string;
}

import { Controller } from '@nestjs/common';
import { emptyOk, Endpoint, projectByPresentOrFormerPath, streamedBody } from '@rookery/api-v4';
import { NotImplemented } from '@rookery/kernel';
import { mayUseGitService } from '../git-access.permission';
import { createInvisibleProjectError } from './invisible-project';
import { IdentifyRepository } from './smart-http.dto';

const common = {
  within: projectByPresentOrFormerPath('full_path'),
  tokenScopes: 'any',
  failsAs: 'lfs',
  fails: [501],
  source: 'reference repositories 1.7',
  refusals: { parentAs: createInvisibleProjectError },
  may: mayUseGitService('git-upload-pack'),
  params: IdentifyRepository,
  answers: emptyOk(),
} as const;
const body = streamedBody({ maxBytes: 1024 * 1024, digests: 'none' });

/** Git LFS, which is not offered. Clients get a readable answer after the access check. */
@Controller()
export class LfsController {
  @Endpoint('POST', '//*full_path.git/info/lfs/objects/batch', {
    ...common,
    about: 'Refuses the batch request of Git LFS.',
    body,
  })
  batch(): never {
    throw createLfsDisabledError();
  }

  @Endpoint('GET', '//*full_path.git/info/lfs/locks', {
    ...common,
    about: 'Refuses the list of locks of Git LFS.',
  })
  locks(): never {
    throw createLfsDisabledError();
  }

  @Endpoint('POST', '//*full_path.git/info/lfs/locks', {
    ...common,
    about: 'Refuses a lock of Git LFS.',
    body,
  })
  lock(): never {
    throw createLfsDisabledError();
  }

  @Endpoint('POST', '//*full_path.git/info/lfs/locks/verify', {
    ...common,
    about: 'Refuses the check of locks of Git LFS.',
    body,
  })
  verify(): never {
    throw createLfsDisabledError();
  }
}

function createLfsDisabledError(): NotImplemented {
  return new NotImplemented('Git LFS is not enabled on this server, contact your admin.');
}

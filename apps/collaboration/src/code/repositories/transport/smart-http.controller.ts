import { Readable } from 'node:stream';
import { Controller } from '@nestjs/common';
import { Endpoint, file, projectByPresentOrFormerPath, streamedBody } from '@rookery/api-v4';
import type { Call, FileAnswer, ProjectScope, StreamedCall } from '@rookery/api-v4';
import { openAdvertisement, TRANSPORT_WAIT_MS, uploadPack } from '@rookery/git';
import type { PackService, RunningGit } from '@rookery/git';
import { Forbidden, isSignedIn, Unauthorized } from '@rookery/kernel';
import { currentWaiter, Links } from '@rookery/platform';
import { mayUseGitService, usesNamedGit } from '../git-access.permission';
import { ProjectRepositories } from '../project-repositories';
import { PushReceiver } from '../ref-updates/push-receiver';
import { convertGitFailures } from '../git-failures';
import { createInvisibleProjectError } from './invisible-project';
import { moveNotice } from './moved-project';
import { IdentifyRepository, ListAdvertisedRefs } from './smart-http.dto';

/** Largest negotiation of a fetch, inflated. Units: bytes. */
const MAX_NEGOTIATION = 10 * 1024 * 1024;
/** git limits the pack itself, by `REPOSITORY_PUSH_BYTES`. Units: bytes. */
const MAX_PUSH = 2 ** 40;

const common = {
  within: projectByPresentOrFormerPath('full_path'),
  tokenScopes: 'any',
  failsAs: 'text',
  source: 'reference repositories 1.1',
  refusals: { parentAs: createInvisibleProjectError },
  deadlineMs: TRANSPORT_WAIT_MS,
} as const;

/** Git over HTTP, protocols 0 to 2. Source: reference repositories 1. */
@Controller()
export class SmartHttpController {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly pushes: PushReceiver,
    private readonly links: Links,
  ) {}

  @Endpoint('GET', '//*full_path.git/info/refs', {
    ...common,
    about: 'Advertises the refs of a repository to a git client.',
    may: usesNamedGit,
    params: ListAdvertisedRefs,
    answers: file('application/*'),
    aliases: ['//*full_path/info/refs'],
  })
  async advertise({ params, within, isWriteForbidden }: Call<ListAdvertisedRefs, ProjectScope>): Promise<FileAnswer> {
    if (isWriteForbidden) throw new Forbidden();
    const service = params.service as PackService;
    const repository = await convertGitFailures(() => this.repositories.openRepository(within));
    const protocol = params.git_protocol;
    return createPackAnswer(service, 'advertisement', async (signal) => {
      const running = await openAdvertisement(repository, service, { protocol, signal });
      await recheckRightsOrKill(running);
      return Readable.from(prependPreamble(running.preamble, running.stdout), { objectMode: false });
    });
  }

  @Endpoint('POST', '//*full_path.git/git-upload-pack', {
    ...common,
    about: 'Serves one request of a fetch or clone.',
    may: mayUseGitService('git-upload-pack'),
    params: IdentifyRepository,
    body: streamedBody({
      maxBytes: MAX_NEGOTIATION,
      inflates: true,
      digests: 'none',
      types: ['application/x-git-upload-pack-request'],
    }),
    answers: file('application/x-git-upload-pack-result'),
    aliases: ['//*full_path/git-upload-pack'],
  })
  async upload({ params, within, body }: StreamedCall<IdentifyRepository, ProjectScope>): Promise<FileAnswer> {
    const repository = await convertGitFailures(() => this.repositories.openRepository(within));
    return createPackAnswer('git-upload-pack', 'result', async (signal) => {
      const running = await uploadPack(repository, { input: body, protocol: params.git_protocol, signal });
      await recheckRightsOrKill(running);
      return running.stdout;
    });
  }

  @Endpoint('POST', '//*full_path.git/git-receive-pack', {
    ...common,
    about: 'Receives a push.',
    may: mayUseGitService('git-receive-pack'),
    params: IdentifyRepository,
    body: streamedBody({
      maxBytes: MAX_PUSH,
      inflates: true,
      digests: 'none',
      types: ['application/x-git-receive-pack-request'],
    }),
    answers: file('application/x-git-receive-pack-result'),
    aliases: ['//*full_path/git-receive-pack'],
  })
  async receive({ params, within, viewer, body }: StreamedCall<IdentifyRepository, ProjectScope>): Promise<FileAnswer> {
    if (!isSignedIn(viewer)) throw new Unauthorized();
    const repository = await convertGitFailures(() => this.repositories.openRepository(within));
    const push = {
      ...{ project: within, viewer },
      input: body,
      notice: moveNotice(params.full_path, within, this.links.webUrl(`${within.fullPath}.git`)),
      recheckRights: () => {
        body.restartDeadline();
        return body.recheckRights();
      },
    };
    return createPackAnswer('git-receive-pack', 'result', (signal) =>
      this.pushes.receivePush(repository, { ...push, signal }),
    );
  }
}

/** Ends a process whose caller lost the right while the request waited for its start. Errors: the refusal. */
async function recheckRightsOrKill(running: RunningGit): Promise<void> {
  try {
    await currentWaiter()?.rights?.recheckBeforeRead();
  } catch (error) {
    running.kill(error);
    throw error;
  }
}

/**
 * Builds an answer from the output of git. `open` receives a signal, which is aborted if the client leaves before the
 * process has started.
 */
function createPackAnswer(
  service: PackService,
  part: 'advertisement' | 'result',
  open: (gone: AbortSignal) => Promise<Readable>,
): FileAnswer {
  return {
    mediaType: `application/x-${service}-${part}`,
    isNeverStored: true,
    headers: { expires: 'Fri, 01 Jan 1980 00:00:00 GMT', pragma: 'no-cache', 'x-accel-buffering': 'no' },
    stream: (_range, gone) => convertGitFailures(() => open(gone)),
  };
}

async function* prependPreamble(preamble: string, content: Readable): AsyncGenerator<Buffer> {
  if (preamble !== '') yield Buffer.from(preamble);
  for await (const chunk of content) yield chunk as Buffer;
}

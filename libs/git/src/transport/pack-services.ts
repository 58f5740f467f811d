import type { Readable } from 'node:stream';
import { protocolVariable } from '../process/environment';
import type { GitConfig } from '../process/environment';
import type { RunningGit } from '../process/git-processes';
import type { Repository } from '../repository/repository';
import type { PushTicket } from './push-hooks';

export type PackService = 'git-upload-pack' | 'git-receive-pack';

export interface PackRequest {
  /** Body of the request; it is not decoded here. */
  readonly input: Readable;
  /** Header `Git-Protocol`; a malformed one is ignored. */
  readonly protocol?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const ADVERTISEMENT_MS = 10_000;
/** git ends a fetch whose client sends nothing for so long. */
const CLIENT_SECONDS = 60;
/** A request of a shallow fetch ends after the depth was answered, which upload-pack takes for a client that has gone. */
const END_OF_ROUND = /^fatal: the remote end hung up unexpectedly\s*$/;

/** Streams the advertisement of a service, with the line that protocols 0 and 1 have in front. */
export async function openAdvertisement(
  repository: Repository,
  service: PackService,
  request: Omit<PackRequest, 'input'>,
): Promise<RunningGit & { readonly preamble: string }> {
  const program = service.slice('git-'.length);
  // No client asks for version 2 to push, and receive-pack does not speak it.
  const protocol = service === 'git-upload-pack' ? request.protocol : undefined;
  const running = await repository.open({
    args: [program, '--stateless-rpc', '--http-backend-info-refs', repository.directory],
    variables: protocolVariable(protocol),
    lane: 'transport',
    limits: { ms: ADVERTISEMENT_MS },
    signal: request.signal,
  });
  const isVersion2 = protocol !== undefined && /(?:^|:)version=2(?::|$)/.test(protocol);
  const line = `# service=${service}\n`;
  const preamble = isVersion2 ? '' : `${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`;
  return Object.assign(running, { preamble });
}

/** Serves one request of a fetch or clone. */
export function uploadPack(repository: Repository, request: PackRequest): Promise<RunningGit> {
  return repository.open({
    args: ['upload-pack', '--stateless-rpc', '--strict', `--timeout=${CLIENT_SECONDS}`, repository.directory],
    variables: protocolVariable(request.protocol),
    lane: 'transport',
    stdin: request.input,
    tolerates: END_OF_ROUND,
    signal: request.signal,
  });
}

/** Serves one push. The ticket of `PushHooks` names the checks that run before refs move. */
export function receivePack(
  repository: Repository,
  request: PackRequest & { readonly ticket: PushTicket; readonly maxPackBytes?: number },
): Promise<RunningGit> {
  const size: GitConfig =
    request.maxPackBytes === undefined ? [] : [['receive.maxInputSize', String(Math.max(1, request.maxPackBytes))]];
  return repository.open({
    args: ['receive-pack', '--stateless-rpc', repository.directory],
    variables: request.ticket.variables,
    config: [...request.ticket.config, ...size],
    lane: 'transport',
    stdin: request.input,
    endsWithInput: true,
    signal: request.signal,
  });
}

import { pipeline } from 'node:stream';
import type { Readable } from 'node:stream';
import { gitProtocolVariable, SHOWN_TO_IMPORTS } from '../process/environment';
import { invalidGitArgument } from '../process/git-error';
import type { RunningGit } from '../process/git-run';
import type { Repository } from '../repository/repository';
import { PushCommandsCheck } from './push-commands';
import { PushReportPathRedactor } from './push-report';
import type { PushTicket } from './push-hooks';

export type PackService = 'git-upload-pack' | 'git-receive-pack';

export interface PackRequest {
  /** Body of the request; it is not decoded here. */
  readonly input: Readable;
  /** Header `Git-Protocol`; a malformed one is ignored. */
  readonly protocol?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The client is an import, which may see and push `refs/imports`. */
  readonly isImport?: boolean | undefined;
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
  const variables = gitProtocolVariable(protocol);
  const running = await repository.open({
    args: [program, '--stateless-rpc', '--http-backend-info-refs', repository.directory],
    variables,
    config: request.isImport ? SHOWN_TO_IMPORTS : [],
    lane: 'transport',
    limits: { ms: ADVERTISEMENT_MS },
    signal: request.signal,
  });
  const isVersion2 = /(?:^|:)version=2(?::|$)/.test(variables['GIT_PROTOCOL'] ?? '');
  const line = `# service=${service}\n`;
  const preamble = isVersion2 ? '' : `${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`;
  return Object.assign(running, { preamble });
}

/** Serves one request of a fetch or clone. */
export function uploadPack(repository: Repository, request: PackRequest): Promise<RunningGit> {
  return repository.open({
    args: ['upload-pack', '--stateless-rpc', '--strict', `--timeout=${CLIENT_SECONDS}`, repository.directory],
    variables: gitProtocolVariable(request.protocol),
    lane: 'transport',
    stdin: request.input,
    tolerates: END_OF_ROUND,
    signal: request.signal,
  });
}

/** Room for the list of refs, which a deletion writes again. Units: bytes. */
const REFS_BYTES = 64 * 1024 * 1024;

/**
 * Serves one push. The ticket of `PushHooks` names the checks that run before refs move. Git completes a pack with
 * objects of the repository that its deltas need, so the file may become twice as large.
 * Bounds: `maxPackBytes` and the largest pack of the service.
 */
export async function receivePack(
  repository: Repository,
  request: PackRequest & { readonly ticket: PushTicket; readonly maxPackBytes?: number },
): Promise<RunningGit> {
  const maxBytes = Math.max(1, Math.min(request.maxPackBytes ?? repository.pushBytes, repository.pushBytes));
  const commands = pipeIntoPushCommandsCheck(request.input);
  const running = await repository.open({
    args: ['receive-pack', '--stateless-rpc', repository.directory],
    variables: request.ticket.variables,
    config: [
      ...request.ticket.config,
      ['receive.maxInputSize', String(maxBytes)],
      ...(request.isImport ? SHOWN_TO_IMPORTS : []),
    ],
    lane: 'transport',
    limits: { fileBytes: 2 * maxBytes + REFS_BYTES },
    stdin: commands,
    endsWithInput: true,
    signal: request.signal,
  });
  const report = new PushReportPathRedactor(repository.directory);
  // The error of either stream ends the other one; `ended` rejects with the reason, also if the caller reads nothing.
  report.on('error', () => undefined);
  pipeline(running.stdout, report, () => undefined);
  return { stdin: running.stdin, stdout: report, ended: running.ended, kill: (reason) => running.kill(reason) };
}

/** The input stays open if the commands are refused, so that the service can answer over its connection. */
function pipeIntoPushCommandsCheck(input: Readable): PushCommandsCheck {
  const commands = new PushCommandsCheck();
  // The process gets the error when it starts; until then an error must not end the process of the service.
  commands.on('error', () => undefined);
  input.once('error', (error) => commands.destroy(error));
  input.once('close', () => {
    if (!input.readableEnded) commands.destroy(invalidGitArgument('The push ended too early.'));
  });
  commands.once('close', () => input.unpipe(commands));
  return input.pipe(commands);
}

import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { access, chmod, constants, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { NO_OBJECT, isObjectId } from '../names/object-id';
import { isRefName } from '../names/ref-name';
import { quarantinedBytes } from '../objects/quarantine';
import type { GitConfig } from '../process/environment';
import type { Repository } from '../repository/repository';
import type { RefUpdate } from '../refs/update-refs';
import { MAX_COMMANDS_BYTES } from './push-commands';

/** Push as the hooks see it. `quarantined` sees the new objects; they are not part of the repository yet. */
export interface Push {
  readonly updates: readonly RefUpdate[];
  readonly quarantined: Repository;
  /** Size of the new objects on disk, which a pack with deltas of old objects may exceed. Units: bytes. */
  readonly storedBytes: number;
  readonly options: readonly string[];
  readonly signal: AbortSignal;
}

/** Checks of one push. */
export interface PushChecks {
  /** Decides before any ref moves. Returns null, or the text of the refusal for the user's terminal. */
  beforeUpdate(push: Push): Promise<string | null>;
  /** Runs after the refs have moved, before the client is answered. Returns text for the terminal, or null. */
  afterUpdate?(push: Omit<Push, 'quarantined' | 'storedBytes'>): Promise<string | null>;
}

/** Allows one receive-pack to ask for its checks. */
export interface PushTicket {
  readonly variables: Readonly<Record<string, string>>;
  readonly config: GitConfig;
  /** Ends the validity. The caller does so when the push has ended. */
  close(): void;
}

interface ExpectedPush {
  readonly repository: Repository;
  readonly checks: PushChecks;
}

/** Folder of the hook programs, next to `src` and `dist`. */
const HOOKS = resolve(__dirname, '../../hooks');
const MAX_OPTIONS = 100;
/** Room for all push options in hexadecimal digits. */
const MAX_HEADER_BYTES = 1024 * 1024;
const BAD_NAME = 'Rookery: The name of a ref is not allowed.';
const UNAVAILABLE = 'Rookery: The push could not be checked. Please try again later.';
const TIMED_OUT = 'Rookery: Push operation timed out. Please push fewer commits at once, or try again later.';
/** Longest decision about a push. Units: milliseconds. Source: reference repositories 1.4. */
const CHECK_MS = 60_000;

/**
 * Answers the hook programs of pushes over a private Unix socket. A hook that gets no answer, or an error, refuses the
 * push. Each push has a random token, which the program passes on from its environment; no user text is part of a
 * command line.
 * Errors of checks refuse the push with a general text; `report` gets the error.
 * Source: ADR 0183.
 */
export class PushHooks {
  private readonly pushes = new Map<string, ExpectedPush>();
  private server: Server | null = null;
  private folder = '';

  constructor(
    private readonly report: (error: unknown) => void,
    private readonly programs = HOOKS,
    private readonly checkMs = CHECK_MS,
  ) {}

  private get socket(): string {
    return join(this.folder, 'hooks.sock');
  }

  /** Errors: a missing hook program or one that cannot be executed, since git then moves refs without a check. */
  async start(): Promise<void> {
    for (const name of ['pre-receive', 'post-receive']) await access(join(this.programs, name), constants.X_OK);
    await access(join(this.programs, 'ask.cjs'), constants.R_OK);
    this.folder = await mkdtemp(join(tmpdir(), 'rookery-hooks-'));
    await chmod(this.folder, 0o700);
    const server = createServer(
      { maxHeaderSize: MAX_HEADER_BYTES },
      (request, response) => void this.answerRequest(request, response),
    );
    server.requestTimeout = 0;
    await new Promise<void>((listening, failed) => server.once('error', failed).listen(this.socket, listening));
    this.server = server;
  }

  async stop(): Promise<void> {
    const { server } = this;
    this.server = null;
    if (!server) return;
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Registers the checks of a push. Its ticket is passed to `receivePack`. */
  expectPush(repository: Repository, checks: PushChecks): PushTicket {
    const token = randomBytes(24).toString('hex');
    this.pushes.set(token, { repository, checks });
    return {
      variables: {
        ROOKERY_HOOK_NODE: process.execPath,
        ROOKERY_HOOK_SOCKET: this.socket,
        ROOKERY_PUSH_TOKEN: token,
      },
      config: [['core.hooksPath', this.programs]],
      close: () => void this.pushes.delete(token),
    };
  }

  private async answerRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const ended = new AbortController();
    response.once('close', () => {
      if (!response.writableEnded) ended.abort(new Error('The client of the push has gone.'));
    });
    try {
      const push = this.pushes.get(String(request.headers['x-push-token']));
      const body = await readPushHookBody(request);
      if (!push || body === null) return endResponse(response, 403, UNAVAILABLE);
      const said = await this.checkPush(push, request, body, ended);
      endResponse(response, said.isRefused ? 403 : 200, said.text);
    } catch (error) {
      this.report(error);
      endResponse(response, 403, UNAVAILABLE);
    }
  }

  private async checkPush(
    { repository, checks }: ExpectedPush,
    request: IncomingMessage,
    body: Buffer,
    ended: AbortController,
  ) {
    const updates = parsePushedRefUpdates(body);
    if (updates === null) return { isRefused: true, text: BAD_NAME };
    const push = { updates, options: parsePushOptions(request), signal: ended.signal };
    if (request.url === '/post-receive') {
      return { isRefused: false, text: (await checks.afterUpdate?.(push)) ?? '' };
    }
    if (request.url !== '/pre-receive') throw new Error('The hook is not known.');
    const quarantined = openQuarantine(repository, decodeURIComponent(String(request.headers['x-quarantine'] ?? '')));
    const decide = async (): Promise<string | null> => {
      const storedBytes = await quarantinedBytes(quarantined);
      return checks.beforeUpdate({ ...push, quarantined, storedBytes });
    };
    try {
      const refusal = await this.decideInTime(decide(), ended);
      return { isRefused: refusal !== null, text: refusal ?? '' };
    } finally {
      if (quarantined !== repository) repository.readers.closeView(quarantined);
    }
  }

  /** Returns the decision, or a refusal after the time limit. Then `ended` is aborted, so that the checks stop. */
  private async decideInTime(decision: Promise<string | null>, ended: AbortController): Promise<string | null> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((settle) => {
      timer = setTimeout(() => {
        ended.abort(new Error('The decision about the push took too long.'));
        settle(TIMED_OUT);
      }, this.checkMs);
    });
    try {
      return await Promise.race([decision, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A push that only deletes refs has no quarantine. */
function openQuarantine(repository: Repository, quarantinePath: string): Repository {
  if (quarantinePath === '') return repository;
  const objects = join(repository.directory, 'objects');
  // receive-pack may name the folder relative to the repository, which is its working directory.
  const folder = resolve(repository.directory, quarantinePath);
  if (!folder.startsWith(`${objects}/tmp_objdir-`)) throw new Error('The quarantine is not part of the repository.');
  return repository.withQuarantine({ objectDirectory: folder, alternates: [objects] });
}

/** Returns null if a ref has a name that this library cannot read: git allows bytes that are not UTF-8. */
function parsePushedRefUpdates(body: Buffer): RefUpdate[] | null {
  if (!isUtf8(body)) return null;
  const updates = body
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [oldId = '', newId = '', ...ref] = line.split(' ');
      if (!isObjectId(oldId) || !isObjectId(newId) || ref.length !== 1) throw new Error('The updates are malformed.');
      return { ref: ref[0]!, oldId: oldId as typeof NO_OBJECT, newId: newId as typeof NO_OBJECT };
    });
  return updates.every(({ ref }) => isRefName(ref)) ? updates : null;
}

/** Parses the options of a push. The hook sends each in a header of its own, encoded in hexadecimal digits. */
function parsePushOptions(request: IncomingMessage): string[] {
  const values = [request.headers['x-push-option'] ?? []].flat().join(',').split(',');
  const filled = values.map((value) => value.trim()).filter((value) => value !== '');
  return filled.slice(0, MAX_OPTIONS).map((value) => Buffer.from(value, 'hex').toString());
}

async function readPushHookBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_COMMANDS_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function endResponse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text === '' ? '' : `${text}\n`);
}

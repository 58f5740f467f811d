import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type {
  FindAttachmentsRequest,
  ImportedAttachment,
  ImportObjectsAnswer,
  ImportObjectsRequest,
  ImportPeopleRequest,
  ImportProjectAnswer,
  ImportProjectRequest,
  ImportSnippetRequest,
  ImportStateRequest,
  ImportTargetAnswer,
  ImportTargetRequest,
  LeftOutSnippetsRequest,
} from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { internalAuthorization, serveGit } from '@rookery/testing';

/** Routes of collaboration; all others are those of identity. */
const COLLABORATION: ReadonlySet<string> = new Set([
  INTERNAL_PATHS.importObjects,
  INTERNAL_PATHS.importSnippet,
  INTERNAL_PATHS.importLeftOut,
]);
/** Routes of package. */
const PACKAGE: ReadonlySet<string> = new Set([INTERNAL_PATHS.importAttachments, INTERNAL_PATHS.importAttachment]);
const DOOR = /^\/internal\/repositories\/(\d+)(\/.*)$/;

/**
 * Internal routes of identity and collaboration over real HTTP: identity's answers are set by the test, and repositories
 * of projects are served by the stock git server.
 */
export class FakeServices {
  readonly targets: ImportTargetRequest[] = [];
  readonly projects: ImportProjectRequest[] = [];
  readonly states: ImportStateRequest[] = [];
  readonly people: ImportPeopleRequest[] = [];
  readonly objects: ImportObjectsRequest[] = [];
  readonly snippets: ImportSnippetRequest[] = [];
  readonly leftOut: LeftOutSnippetsRequest[] = [];
  /** Stored files. `key` is `project_id/source`. */
  readonly files: { readonly key: string; readonly filename: string; readonly content: Buffer }[] = [];
  /** Runs after a file was stored, before the answer. */
  afterFile: () => Promise<void> = async () => undefined;
  /** Answers requests with a snippet. */
  onSnippet: (request: ImportSnippetRequest) => Promise<string | null> = async () => null;
  /** Whether one account owns the objects of all people. Otherwise a person has the upstream id and 1000. */
  isShared = false;
  /** Answers requests with objects. */
  onObjects: (request: ImportObjectsRequest) => Promise<ImportObjectsAnswer> = async () => ({ failed: [] });
  target: ImportTargetAnswer['outcome'] = 'allowed';
  project: ImportProjectAnswer = { outcome: 'missing' };
  /** Paths that get no answer but an error. */
  readonly away = new Set<string>();
  /** Status of these errors. */
  awayStatus = 503;
  /** Runs before a push is received. */
  beforePush: () => Promise<void> = async () => undefined;
  private readonly server: Server;

  private constructor(readonly folder: string) {
    this.server = createServer((request, response) => {
      this.serveRequest(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<FakeServices> {
    const services = new FakeServices(await mkdtemp(join(tmpdir(), 'rookery-fake-services-')));
    await new Promise<void>((listening) => services.server.listen(0, '127.0.0.1', listening));
    return services;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The bare repository of a project, which a test creates. */
  repositoryOf(projectId: number): string {
    return join(this.folder, String(projectId));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
    await rm(this.folder, { recursive: true, force: true });
  }

  private async serveRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url!, 'http://x').pathname;
    const door = DOOR.exec(path);
    const other = PACKAGE.has(path) ? 'package' : 'identity';
    const callee = door || COLLABORATION.has(path) ? 'collaboration' : other;
    if (request.headers.authorization !== internalAuthorization('import', callee)) {
      return void response.writeHead(401).end();
    }
    if (this.away.has(path)) return void response.writeHead(this.awayStatus).end();
    if (path === INTERNAL_PATHS.importObjects) return this.serveObjects(await readJsonBody(request), response);
    if (path === INTERNAL_PATHS.importAttachments) return this.serveAttachments(await readJsonBody(request), response);
    if (path === INTERNAL_PATHS.importAttachment) return this.storeAttachment(request, response);
    if (path === INTERNAL_PATHS.importSnippet) return this.serveSnippet(await readJsonBody(request), response);
    if (!door) return this.serveIdentity(path, await readJsonBody(request), response);
    if (request.method === 'POST') await this.beforePush();
    await serveGit(request, response, { root: this.folder, path: `/${door[1]}${door[2]}`, user: 'import' });
  }

  private async serveObjects(body: unknown, response: ServerResponse): Promise<void> {
    const request = body as ImportObjectsRequest;
    this.objects.push(request);
    const answer = await this.onObjects(request);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }

  private async serveSnippet(body: unknown, response: ServerResponse): Promise<void> {
    const request = body as ImportSnippetRequest;
    this.snippets.push(request);
    const problem = await this.onSnippet(request);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ problem }));
  }

  private serveAttachments(body: unknown, response: ServerResponse): void {
    const { project_id, sources } = body as FindAttachmentsRequest;
    const attachments = sources.map((source) => this.findAttachment(`${project_id}/${source}`));
    const own = this.files.filter(({ key }) => key.startsWith(`${project_id}/`));
    const total = { files: own.length, bytes: own.reduce((sum, { content }) => sum + content.length, 0) };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ attachments, total }));
  }

  private async storeAttachment(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const query = new URL(request.url!, 'http://x').searchParams;
    const key = `${query.get('project_id')}/${query.get('source')}`;
    const content = await buffer(request);
    this.files.push({ key, filename: query.get('filename')!, content });
    await this.afterFile();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(this.findAttachment(key)));
  }

  private findAttachment(key: string): ImportedAttachment | null {
    const at = this.files.findIndex((file) => file.key === key);
    if (at < 0) return null;
    const url = `/uploads/${at}/${encodeURIComponent(this.files[at]!.filename)}`;
    return { url, markdown: `[${this.files[at]!.filename}](${url})` };
  }

  private serveIdentity(path: string, body: unknown, response: ServerResponse): void {
    const answers: Readonly<Record<string, () => object>> = {
      [INTERNAL_PATHS.importTarget]: () => {
        this.targets.push(body as ImportTargetRequest);
        return { outcome: this.target };
      },
      [INTERNAL_PATHS.importProject]: () => {
        this.projects.push(body as ImportProjectRequest);
        return this.project;
      },
      [INTERNAL_PATHS.importPeople]: () => {
        const request = body as ImportPeopleRequest;
        this.people.push(request);
        const owners = request.people.map(({ id }) => ({
          user_id: this.isShared ? 999 : (id ?? 0) + 1000,
          is_shared: this.isShared,
        }));
        return { owners };
      },
      [INTERNAL_PATHS.importLeftOut]: () => {
        this.leftOut.push(body as LeftOutSnippetsRequest);
        return {};
      },
      [INTERNAL_PATHS.importState]: () => {
        this.states.push(body as ImportStateRequest);
        return { is_known: true };
      },
    };
    const answer = answers[path]?.();
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(answer ?? {}));
  }
}

async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  MergeRequestHeadAnswer,
  MergeRequestHeadRequest,
  PushedPipelines,
  PushedPipelinesRequest,
  PushVariablesStoredRequest,
  ResolvedRef,
  ResolveRefRequest,
  SourceArchiveRequest,
  SourceCommitAnswer,
  SourceCommitRequest,
  SourceFileAnswer,
  SourceFileRequest,
  SourceModuleRequest,
  SourceTag,
  SourceTagsRequest,
} from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { internalAuthorization } from '@rookery/testing';

export const COMMITTED_AT = '2026-01-02T03:04:05.000Z';

/** Returns a full commit id that consists of one digit. */
export const shaOf = (digit: string): string => digit.repeat(40);

const NO_PIPELINES: PushedPipelines = { project_id: null, user_id: null, refs: [], variables: [], inputs: {} };

/**
 * Collaboration's routes for refs and pushes over real HTTP. Every project has the same repository, except for projects in `empty`:
 * `main` at `1…`, `feature/a` at `2…`, the tag `v1` at `3…`, and `4…` on no branch. It records requests and can fail.
 */
export class FakeCollaboration {
  readonly asked: ResolveRefRequest[] = [];
  readonly empty = new Set<number>();
  /** Pipelines of pushes by id. */
  readonly pushes = new Map<number, PushedPipelines>();
  /** Pushes whose variables were reported as stored. */
  readonly stored: number[] = [];
  /** Heads of merge requests by iid. */
  readonly heads = new Map<number, MergeRequestHeadAnswer>();
  /** Files by project, ref and path, separated by blanks. `content` is null for a ref without the file. */
  readonly files = new Map<string, { readonly commit: string; readonly content: string | null }>();
  /** Commits by project and revision, separated by a blank. `files` maps paths to contents. */
  readonly commits = new Map<
    string,
    {
      readonly id: string;
      readonly committed_at: string;
      readonly files: Readonly<Record<string, string>>;
      readonly tags: readonly string[];
    }
  >();
  /** Tags by project. */
  readonly tags = new Map<number, readonly SourceTag[]>();
  refusesModules = false;
  /** Number of archives. */
  archives = 0;
  /** Callers of archives, in order. */
  readonly callers: string[] = [];
  /** Archives are refused as beyond the limit. */
  isBeyondLimit = false;
  isAway = false;
  /** Runs once before the next JSON answer. */
  beforeNext: (() => Promise<unknown>) | null = null;
  private server: Server | undefined;
  private readonly answers: Readonly<Record<string, (asked: never) => object>> = {
    [INTERNAL_PATHS.resolveRef]: (asked: ResolveRefRequest) => {
      this.asked.push(asked);
      return { commit: this.empty.has(asked.project_id) ? null : resolveTestRef(asked) };
    },
    [INTERNAL_PATHS.sourceCommit]: (asked: SourceCommitRequest) => this.findCommit(asked),
    [INTERNAL_PATHS.sourceTags]: ({ project_id: project, prefix }: SourceTagsRequest) => ({
      tags: (this.tags.get(project) ?? []).filter(({ name }) => name.startsWith(`${prefix}v`)),
    }),
    [INTERNAL_PATHS.sourceFile]: (asked: SourceFileRequest) => this.findFile(asked),
    [INTERNAL_PATHS.pushVariablesStored]: ({ push_id: id }: PushVariablesStoredRequest) => {
      this.stored.push(id);
      return {};
    },
    [INTERNAL_PATHS.mergeRequestHead]: ({ iid }: MergeRequestHeadRequest) =>
      this.heads.get(iid) ?? { is_found: false, head: null },
    [INTERNAL_PATHS.pushedPipelines]: ({ push_id: id }: PushedPipelinesRequest) => this.pushes.get(id) ?? NO_PIPELINES,
  };

  get url(): string {
    return `http://127.0.0.1:${(this.server!.address() as AddressInfo).port}`;
  }

  async start(): Promise<this> {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const isOurs = request.headers.authorization === internalAuthorization('package', 'collaboration');
        const text = Buffer.concat(chunks).toString();
        const isArchive = request.url === INTERNAL_PATHS.sourceArchive || request.url === INTERNAL_PATHS.sourceModule;
        if (isOurs && isArchive) this.callers.push((JSON.parse(text) as SourceArchiveRequest).caller);
        if (isArchive && this.isBeyondLimit) return response.writeHead(429, { 'retry-after': '7' }).end();
        if (isOurs && !this.isAway && request.url === INTERNAL_PATHS.sourceArchive)
          return response.end(this.renderArchive(JSON.parse(text) as SourceArchiveRequest));
        if (isOurs && !this.isAway && request.url === INTERNAL_PATHS.sourceModule) {
          if (this.refusesModules) return response.writeHead(404).end();
          return response.end(renderModule(JSON.parse(text) as SourceModuleRequest));
        }
        const answer = request.method === 'POST' ? this.answers[request.url!] : undefined;
        if (!isOurs || !answer || this.isAway) return response.writeHead(this.isAway ? 503 : 404).end();
        const before = this.beforeNext;
        this.beforeNext = null;
        void Promise.resolve(before?.()).then(() => response.end(JSON.stringify(answer(JSON.parse(text) as never))));
      });
    });
    await new Promise<void>((resolve) => this.server!.listen(0, '127.0.0.1', resolve));
    return this;
  }

  private findFile({ project_id: project, ref, path, max_bytes: most }: SourceFileRequest): SourceFileAnswer {
    const { commit = null, content = null } = this.files.get(`${project} ${ref} ${path}`) ?? {};
    if (content === 'too large') return { commit, content: null, is_too_large: true };
    if (content !== null && content.length > most) throw new Error('the file of a test is too large');
    return { commit, content: content === null ? null : Buffer.from(content).toString('base64'), is_too_large: false };
  }

  private findCommit({ project_id: project, rev, paths, finds_tags }: SourceCommitRequest): SourceCommitAnswer {
    const found = this.commits.get(`${project} ${rev ?? 'HEAD'}`);
    if (found === undefined) return { commit: null };
    const { files, tags, ...commit } = found;
    const contents = paths.map((path) => (path in files ? Buffer.from(files[path]!).toString('base64') : null));
    return { commit: { ...commit, contents, tags: finds_tags ? tags : [] } };
  }

  private renderArchive({ project_id: project, commit, prefix }: SourceArchiveRequest): string {
    this.archives += 1;
    return `zip of ${project} ${commit} ${prefix}`;
  }

  async stop(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }
}

const REFS: Readonly<Record<string, readonly [sha: string, isTag: boolean]>> = {
  main: [shaOf('1'), false],
  'feature/a': [shaOf('2'), false],
  v1: [shaOf('3'), true],
};
const BRANCHES: Readonly<Record<string, string | null>> = {
  [shaOf('1')]: 'main',
  [shaOf('2')]: 'feature/a',
  [shaOf('3')]: 'feature/a',
  [shaOf('4')]: null,
};

function resolveTestRef({ name, finds_branch: findsBranch }: ResolveRefRequest): ResolvedRef | null {
  const short = (name ?? 'main').replace(/^refs\/(heads|tags)\//, '');
  const ref = REFS[short];
  const sha = ref ? ref[0] : Object.keys(BRANCHES).find((id) => short.length >= 7 && id.startsWith(short));
  if (sha === undefined) return null;
  const branch = findsBranch ? BRANCHES[sha]! : null;
  return { sha, ref: ref ? short : null, is_tag: ref?.[1] ?? false, committed_at: COMMITTED_AT, branch };
}

function renderModule({ project_id: project, commit, folder, prefix }: SourceModuleRequest): string {
  return `module of ${project} ${commit} ${folder} ${prefix}`;
}

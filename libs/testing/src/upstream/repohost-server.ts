import type { ServerResponse } from 'node:http';
import { BasicAuthHost, sendJson } from './basic-host';
import type { ApiCall } from './basic-host';

type HostedObject = Readonly<Record<string, unknown>>;

/** Fields of a repository as the API of the server shows them. */
export interface ServerRepository extends HostedObject {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly public: boolean;
  readonly links: {
    readonly clone: readonly { readonly href: string; readonly name: string }[];
    readonly self: readonly { readonly href: string }[];
  };
}

const KEY = 'BIRD';
const REPOSITORY = /^\/projects\/([^/]+)\/repos\/([^/]+)(\/.*)?$/;
const DEFAULT_LIMIT = 25;

/**
 * A repository server that projects are imported from: its REST API 1.0 and git over HTTP on one port. Lists contain open
 * pull requests alone unless `state` asks for all, and the server lowers `limit`. Source: reference
 * identity-and-import 6.10.
 */
export class RepohostServer {
  /** Key of the project of all repositories. */
  readonly key = KEY;
  /** Largest page of the server, which lowers `limit`. */
  largestPage = 50;
  private readonly repositories = new Map<string, ServerRepository>();
  private readonly pullRequests = new Map<string, readonly HostedObject[]>();
  /** Activities by the path of their pull request, the newest first. */
  private readonly activities = new Map<string, readonly HostedObject[]>();

  private constructor(readonly host: BasicAuthHost) {}

  /** Starts the host on this port, or on a free one if `port` is 0. */
  static async start(port = 0): Promise<RepohostServer> {
    const refusal = toRepohostServerErrorBody('Authentication failed. Please check your credentials and try again.');
    const options = { apiPath: '/rest/api/1.0', gitPath: '/scm', refusal };
    const server: RepohostServer = new RepohostServer(
      await BasicAuthHost.start({ ...options, serve: (call, response) => server.answerRequest(call, response) }, port),
    );
    return server;
  }

  /** Adds a repository with one commit on `main`. Its working copy is the folder `slug` of the host's git client. */
  async add(slug: string, over: HostedObject = {}): Promise<ServerRepository> {
    await this.host.addRepository(KEY, slug);
    const { address: host, username, url } = this.host;
    const repository: ServerRepository = {
      ...{ id: this.repositories.size + 501, slug, name: slug, description: `About ${slug}`, public: false },
      project: { key: KEY, name: 'Birds', public: false },
      links: {
        clone: [
          { href: `ssh://git@${host}/${KEY}/${slug}.git`, name: 'ssh' },
          { href: `http://${username}@${host}/scm/${KEY}/${slug}.git`, name: 'http' },
        ],
        self: [{ href: `${url}/projects/${KEY}/repos/${slug}/browse` }],
      },
      ...over,
    };
    this.repositories.set(slug.toLowerCase(), repository);
    return repository;
  }

  putPullRequests({ slug }: ServerRepository, pullRequests: readonly HostedObject[]): void {
    this.pullRequests.set(slug.toLowerCase(), pullRequests);
  }

  /** Sets the activities of a pull request, which begin with the newest one. */
  putActivities({ slug }: ServerRepository, pullRequest: number, activities: readonly HostedObject[]): void {
    this.activities.set(`${slug.toLowerCase()}/${pullRequest}`, activities);
  }

  private answerRequest({ path, query }: ApiCall, response: ServerResponse): void {
    const [, key, slug, rest = ''] = REPOSITORY.exec(path) ?? [];
    const found = key === KEY ? this.repositories.get(slug!.toLowerCase()) : undefined;
    if (!found) return sendJson(response, 404, toRepohostServerErrorBody(`Repository ${key}/${slug} does not exist.`));
    const name = found.slug.toLowerCase();
    if (rest === '') return sendJson(response, 200, found);
    if (rest === '/branches/default') return sendJson(response, 200, { id: 'refs/heads/main', displayId: 'main' });
    if (rest === '/pull-requests') return this.sendPage(this.listPullRequests(name, query), query, response);
    const pullRequest = /^\/pull-requests\/(\d+)\/activities$/.exec(rest)?.[1];
    if (pullRequest === undefined) return sendJson(response, 404, toRepohostServerErrorBody('No such resource.'));
    this.sendPage(this.activities.get(`${name}/${pullRequest}`) ?? [], query, response);
  }

  /** Without `order=OLDEST` the newest pull request is the first. */
  private listPullRequests(name: string, query: URLSearchParams): readonly HostedObject[] {
    const all = this.pullRequests.get(name) ?? [];
    const state = query.get('state') ?? 'OPEN';
    const chosen = state === 'ALL' ? all : all.filter((one) => one['state'] === state);
    return query.get('order') === 'OLDEST' ? chosen : chosen.toReversed();
  }

  private sendPage(objects: readonly HostedObject[], query: URLSearchParams, response: ServerResponse): void {
    const start = Number(query.get('start') ?? 0);
    const limit = Math.min(this.largestPage, Number(query.get('limit') ?? DEFAULT_LIMIT));
    const values = objects.slice(start, start + limit);
    const isLastPage = start + limit >= objects.length;
    const nextPageStart = isLastPage ? null : start + limit;
    sendJson(response, 200, { size: values.length, limit, isLastPage, values, start, nextPageStart });
  }
}

function toRepohostServerErrorBody(message: string): object {
  return { errors: [{ context: null, message, exceptionName: null }] };
}

import type { ServerResponse } from 'node:http';
import { BasicAuthHost, sendJson } from './basic-host';
import type { ApiCall } from './basic-host';

type HostedObject = Readonly<Record<string, unknown>>;

/** Fields of a repository as the API of the service shows them. */
export interface CloudRepository extends HostedObject {
  readonly full_name: string;
  readonly name: string;
}

/** Lists of a repository below its address in the API. */
export type CloudList =
  | 'issues'
  | 'pullrequests'
  | `issues/${number}/comments`
  | `pullrequests/${number}/${'activity' | 'comments'}`;

const WORKSPACE = 'wren';
const API = '/2.0';
const DEFAULT_SIZE = 10;

/**
 * A repository service that projects are imported from: its REST API 2.0 and git over HTTP on one port. Lists contain open
 * pull requests alone unless `state` asks for all, without their reviewers, and ten objects by default. Source: reference
 * identity-and-import 6.11.
 */
export class RepohostCloud {
  readonly workspace = WORKSPACE;
  /** Largest page of the service, which lowers `pagelen`. */
  largestPage = 50;
  private readonly repositories = new Map<string, CloudRepository>();
  private readonly lists = new Map<string, readonly HostedObject[]>();

  private constructor(readonly host: BasicAuthHost) {}

  /** Starts the host on this port, or on a free one if `port` is 0. */
  static async start(port = 0): Promise<RepohostCloud> {
    const options = { apiPath: API, gitPath: '', refusal: toRepohostCloudErrorBody('Invalid credentials.') };
    const cloud: RepohostCloud = new RepohostCloud(
      await BasicAuthHost.start({ ...options, serve: (call, response) => cloud.answerRequest(call, response) }, port),
    );
    return cloud;
  }

  /** Address of the API. */
  get apiUrl(): string {
    return `${this.host.url}${API}`;
  }

  /** Adds a repository with one commit on `main`. Its working copy is the folder `slug` of the host's git client. */
  async add(slug: string, over: HostedObject = {}): Promise<CloudRepository> {
    await this.host.addRepository(WORKSPACE, slug);
    const { address, username, url } = this.host;
    const repository: CloudRepository = {
      ...{ full_name: `${WORKSPACE}/${slug}`, name: slug, description: `About ${slug}`, is_private: true },
      ...{ has_issues: true, has_wiki: false, mainbranch: { name: 'main' } },
      links: {
        html: { href: `${url}/${WORKSPACE}/${slug}` },
        clone: [
          { name: 'https', href: `http://${username}@${address}/${WORKSPACE}/${slug}.git` },
          { name: 'ssh', href: `git@${address}:${WORKSPACE}/${slug}.git` },
        ],
      },
      ...over,
    };
    this.repositories.set(repository.full_name, repository);
    return repository;
  }

  put({ full_name: name }: CloudRepository, list: CloudList, objects: readonly HostedObject[]): void {
    this.lists.set(`${name}/${list}`, objects);
  }

  private answerRequest({ path, query }: ApiCall, response: ServerResponse): void {
    if (path === '/user') return sendJson(response, 200, { username: this.host.username, type: 'user' });
    const [, name = '', rest = ''] = /^\/repositories\/([^/]+\/[^/]+)(?:\/(.+))?$/.exec(path) ?? [];
    const found = this.repositories.get(name);
    if (!found) return sendJson(response, 404, toRepohostCloudErrorBody(`Repository ${name} not found`));
    if (rest === '') return sendJson(response, 200, found);
    const one = /^pullrequests\/(\d+)$/.exec(rest)?.[1];
    const pullRequests = this.lists.get(`${name}/pullrequests`) ?? [];
    if (one !== undefined) return sendJson(response, 200, pullRequests.find(({ id }) => id === Number(one)) ?? {});
    if (rest === 'issues' && found['has_issues'] === false) {
      return sendJson(response, 404, toRepohostCloudErrorBody('Repository has no issue tracker.'));
    }
    const listed = this.lists.get(`${name}/${rest}`) ?? [];
    this.sendPage(
      rest === 'pullrequests' ? filterPullRequestsByState(listed, query) : listed,
      { path, query },
      response,
    );
  }

  private sendPage(objects: readonly HostedObject[], { path, query }: ApiCall, response: ServerResponse): void {
    const size = Math.min(this.largestPage, Number(query.get('pagelen') ?? DEFAULT_SIZE));
    const page = Number(query.get('page') ?? 1);
    const next = new URLSearchParams(query);
    next.set('page', String(page + 1));
    const isLast = page * size >= objects.length;
    const values = objects.slice((page - 1) * size, page * size);
    sendJson(response, 200, {
      ...{ values, page, pagelen: size, size: objects.length },
      ...(isLast ? {} : { next: `${this.apiUrl}${path}?${next.toString()}` }),
    });
  }
}

function filterPullRequestsByState(
  pullRequests: readonly HostedObject[],
  query: URLSearchParams,
): readonly HostedObject[] {
  const states = query.getAll('state');
  const chosen = states.length === 0 ? ['OPEN'] : states;
  const isAll = chosen.includes('ALL');
  return pullRequests
    .filter(({ state }) => isAll || chosen.includes(String(state)))
    .map(({ reviewers: _, participants: __, ...fields }) => fields);
}

function toRepohostCloudErrorBody(message: string): object {
  return { type: 'error', error: { message } };
}

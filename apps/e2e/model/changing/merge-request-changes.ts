import type { Project } from '../rules/forest';
import { withProject } from '../rules/forest-steps';
import type { Gateway, OpenedRequest } from '../playing/world';
import { ROOT_QUESTION } from './changes';
import type { Changes } from './changes';

/** Unique words of titles, files and messages begin with it. */
export const REQUEST_WORD = 'mergeable';

/** Creates projects with code, private forks of them, and merge requests. The caller must hold the forest. */
export class MergeRequestChanges {
  constructor(private readonly changes: Changes) {}

  /** Pushes code to a new project, and opens a merge request in it. A fault may leave it without one. */
  async open(gateway: Gateway, project: number): Promise<OpenedRequest | null> {
    const word = this.changes.world.name(REQUEST_WORD);
    const start = await this.commit(gateway, project, { branch: 'main', word: `base-${word}` });
    return start === null ? null : this.request(gateway, project, project, { branch: 'change', word });
  }

  /**
   * Creates a private fork of a project with code in a group. One of its branches has a merge request into the source, the
   * commit of another one is only in the fork.
   */
  async fork(gateway: Gateway, source: Project, home: number): Promise<void> {
    const { world } = this.changes;
    const { state } = world;
    const path = world.name('fork');
    const made = await this.changes.makeInForest(gateway, {
      kind: 'forks made',
      about: `the private fork ${path} of project ${source.id} is made in group ${home}`,
      asker: 'root',
      question: ROOT_QUESTION,
      method: 'POST',
      path: `/projects/${source.id}/fork`,
      json: { name: path, path, namespace_id: home, visibility: 'private' },
      retry: null,
      nextState: ({ status, body }) =>
        status === 201 ? withProject(state, { id: body.id, group: home, path, visibility: 'private' }) : null,
    });
    if (made?.status !== 201) return;
    const { id } = made.body as { readonly id: number };
    world.projects.add(id);
    await this.request(gateway, id, source.id, { branch: 'open', word: world.name(REQUEST_WORD) });
    const sha = await this.commit(gateway, id, { branch: 'kept', word: world.name('hidden') });
    if (sha !== null) world.forkCommits.push({ fork: id, source: source.id, sha });
  }

  /** Opens a merge request of a new branch. */
  private async request(
    gateway: Gateway,
    from: number,
    into: number,
    { branch, word }: { readonly branch: string; readonly word: string },
  ): Promise<OpenedRequest | null> {
    const sha = await this.commit(gateway, from, { branch, word });
    if (sha === null) return null;
    const json = { source_branch: branch, target_branch: 'main', target_project_id: into, title: word };
    const opened = await this.post(gateway, from, `/projects/${from}/merge_requests`, json);
    if (!opened) return null;
    const request = { project: into, iid: opened.iid as number, word, sha };
    this.changes.world.requests.push(request);
    return request;
  }

  /** Commits a file. Returns the id of the commit, null without an answer. */
  private async commit(
    gateway: Gateway,
    project: number,
    { branch, word }: { readonly branch: string; readonly word: string },
  ): Promise<string | null> {
    const json = {
      ...{ branch, commit_message: word, ...(branch === 'main' ? {} : { start_branch: 'main' }) },
      actions: [{ action: 'create', file_path: `${word}.txt`, content: word }],
    };
    const made = await this.post(gateway, project, `/projects/${project}/repository/commits`, json);
    return made && (made.id as string);
  }

  private async post(
    gateway: Gateway,
    project: number,
    path: string,
    json: object,
  ): Promise<{ readonly id: unknown; readonly iid?: unknown } | null> {
    const source = { kind: 'project', id: project } as const;
    const question = { service: 'collaboration', source, needs: 0, writes: true } as const;
    const call = await this.changes.caller.ask({ asker: 'root', gateway, question, method: 'POST', path, json });
    return call.status === 201 ? call.body : null;
  }
}

import type { DirectoryMergeSettings } from '@rookery/contracts';
import type { SeededService, SeededUser } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import type { Cast } from './app';
import type { MergePlace, MergeRequestScene } from './merge-request-scene';

/** A merge request in answers. */
export interface ShownMergeRequest {
  readonly id: number;
  readonly iid: number;
  readonly sha: string;
  readonly merge_commit_sha: string;
  readonly squash_commit_sha: string;
  readonly [field: string]: unknown;
}

let opened = 0;

/** Actions on the merge requests of a project, through the API and git. */
export class MergeActions {
  constructor(
    private readonly service: SeededService,
    readonly scene: MergeRequestScene,
    readonly place: MergePlace,
  ) {}

  /** Creates a project with a repository. `settings` are the settings of the project for merges. */
  static async in(
    service: SeededService,
    scene: MergeRequestScene,
    settings: DirectoryMergeSettings | null = null,
    over: Parameters<MergeRequestScene['place']>[0] = {},
  ): Promise<MergeActions> {
    return new MergeActions(service, scene, await scene.place({ merge_settings: settings, ...over }));
  }

  as(who: keyof Cast | SeededUser) {
    const user = typeof who === 'string' ? this.place.cast[who] : who;
    return this.service.app.as(this.service.seed.viewer(user));
  }

  /** Path of a merge request in the API. */
  path(iid: number): string {
    return `${this.place.path}/${iid}`;
  }

  /** Opens a merge request of a new branch with one commit for each title. */
  async open(
    fields: Record<string, unknown> = {},
    titles?: readonly string[],
    who: keyof Cast = 'developer',
  ): Promise<{ id: number; iid: number; source: string; commits: string[] }> {
    const source = `source-${++opened}`;
    const commits = await this.scene.branch(this.place, source, titles);
    const sent = { title: 'A change', source_branch: source, target_branch: 'main', ...fields };
    const { body } = await this.as(who).post(this.place.path).send(sent).expect(201);
    const { id, iid } = body as ShownMergeRequest;
    return { id, iid, source, commits };
  }

  merge(iid: number, body: Record<string, unknown> = {}, who: keyof Cast = 'developer') {
    return this.as(who)
      .put(`${this.path(iid)}/merge`)
      .send(body);
  }

  async shown(iid: number, who: keyof Cast = 'developer'): Promise<ShownMergeRequest> {
    return (await this.as(who).get(this.path(iid)).expect(200)).body as ShownMergeRequest;
  }

  /** Texts of the system notes, oldest first. */
  async notes(iid: number): Promise<string[]> {
    const query = { sort: 'asc', activity_filter: 'only_activity' };
    const { body } = await this.as('owner')
      .get(`${this.path(iid)}/notes`)
      .query(query);
    return (body as { body: string }[]).map((note) => note.body);
  }

  /** Parents and message of a commit of the server. */
  async commit(id: string): Promise<{ parents: string[]; message: string }> {
    const repository = (await this.service.app.get(ProjectRepositories).findRepository(this.place.project.id))!;
    const { stdout } = await repository.run({ args: ['show', '--no-patch', '--format=%P%n%B', id] });
    const [parents, ...message] = stdout.toString().split('\n');
    return { parents: parents!.split(' '), message: message.join('\n').replace(/\n+$/, '') };
  }

  /** Commits to `main` and pushes that. Returns the id of the commit. */
  async pushMain(title: string, file?: string): Promise<string> {
    await this.scene.git.ok(this.place.folder, 'fetch', '--quiet', 'origin');
    await this.scene.git.ok(this.place.folder, 'checkout', '--quiet', '-B', 'main', 'origin/main');
    return (await this.scene.push(this.place, 'main', [title], file))[0]!;
  }

  tip(branch: string): Promise<string> {
    return this.scene.ref(this.place, `refs/heads/${branch}`);
  }
}

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DirectoryProject } from '@rookery/contracts';
import { GitClient } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { castOf } from './app';
import type { Cast } from './app';
import { GitFront } from './git-front';

/** A project with a cast whose repository has a commit on `main`, and a clone of it. */
export interface MergePlace {
  readonly project: DirectoryProject;
  readonly cast: Cast;
  readonly fullPath: string;
  /** Path of its merge requests in the API. */
  readonly path: string;
  /** Folder of the clone, for the git client. */
  readonly folder: string;
  readonly mainSha: string;
}

/** Projects with branches that a stock git client pushes. */
export class MergeRequestScene {
  private places = 0;

  private constructor(
    private readonly service: SeededService,
    readonly git: GitClient,
    private readonly front: GitFront,
  ) {}

  static async start(service: SeededService): Promise<MergeRequestScene> {
    const front = await new GitFront(service.app, () => service.seed.anonymous()).start();
    return new MergeRequestScene(service, await GitClient.make(), front);
  }

  async stop(): Promise<void> {
    await this.front.stop();
    await this.git.close();
  }

  /** A project whose maintainer pushed a commit. */
  async place(over: Partial<DirectoryProject> = {}): Promise<MergePlace> {
    const { seed } = this.service;
    const group = await seed.group({ visibility: over.visibility ?? 'public' });
    const project = await seed.project({ namespace_id: group.id, ...over });
    const cast = await castOf(seed, project);
    const fullPath = `${group.full_path}/${project.path}`;
    const folder = `place-${++this.places}`;
    await this.git.init(folder, this.urlFor(fullPath, cast.maintainer));
    const mainSha = (await this.git.ok(folder, 'rev-parse', 'HEAD')).trim();
    await this.git.ok(folder, 'push', '--quiet', 'origin', 'main');
    // The first push protects the branch; most tests merge as developers.
    await this.service.database.query('delete from protected_branches where project_id = $1', [project.id]);
    return { project, cast, fullPath, path: `/api/v4/projects/${project.id}/merge_requests`, folder, mainSha };
  }

  /** A fork of a project with a cast of its own, and a clone of it. */
  async fork(of: MergePlace, over: Partial<DirectoryProject> = {}): Promise<MergePlace> {
    const { seed } = this.service;
    const group = await seed.group({ visibility: over.visibility ?? 'public' });
    const fork = { project_id: of.project.id, network_id: of.project.fork?.network_id ?? of.project.id, branch: null };
    const project = await seed.project({ namespace_id: group.id, fork, ...over });
    const cast = await castOf(seed, project);
    const fullPath = `${group.full_path}/${project.path}`;
    const folder = `place-${++this.places}`;
    await this.git.ok('.', 'clone', '--quiet', this.urlFor(fullPath, cast.maintainer), folder);
    await this.service.database.query('delete from protected_branches where project_id = $1', [project.id]);
    return {
      project,
      cast,
      fullPath,
      path: `/api/v4/projects/${project.id}/merge_requests`,
      folder,
      mainSha: of.mainSha,
    };
  }

  /** Pushes a new branch from `main` with one commit for each title. Returns the ids of the commits, oldest first. */
  async branch(place: MergePlace, name: string, titles: readonly string[] = ['A change']): Promise<string[]> {
    await this.git.ok(place.folder, 'checkout', '--quiet', '-B', name, 'origin/main');
    return this.push(place, name, titles);
  }

  /** Commits one file for each title on a branch, and pushes it. Returns the ids of the commits, oldest first. */
  async push(place: MergePlace, name: string, titles: readonly string[], file?: string): Promise<string[]> {
    await this.git.ok(place.folder, 'checkout', '--quiet', name);
    const ids: string[] = [];
    for (const title of titles) {
      const path = file ?? `${name}-${title}`.replaceAll(/[^a-zA-Z0-9-]/g, '_');
      ids.push(await this.git.commit(place.folder, title, path));
    }
    await this.git.ok(place.folder, 'push', '--quiet', '--force', 'origin', name);
    return ids;
  }

  /**
   * Commits whole files on a branch and pushes it. A new branch starts at `from`, by default at `main` of the server. A
   * file whose content is null is deleted. Returns the id of the commit.
   */
  async files(
    place: MergePlace,
    name: string,
    files: Readonly<Record<string, string | Buffer | null>>,
    from?: string,
  ): Promise<string> {
    const { folder } = place;
    const exists = (await this.git.run(folder, 'rev-parse', '--verify', `refs/heads/${name}`)).code === 0;
    if (exists && from === undefined) await this.git.ok(folder, 'checkout', '--quiet', name);
    else await this.git.ok(folder, 'checkout', '--quiet', '-B', name, from ?? 'origin/main');
    for (const [path, content] of Object.entries(files)) {
      const file = join(this.git.folder, folder, path);
      await mkdir(dirname(file), { recursive: true });
      if (content === null) await rm(file);
      else await writeFile(file, content);
    }
    await this.git.ok(folder, 'add', '--all');
    await this.git.ok(folder, 'commit', '--quiet', '--allow-empty', '-m', `Files of ${name}`);
    await this.git.ok(folder, 'push', '--quiet', '--force', 'origin', name);
    return (await this.git.ok(folder, 'rev-parse', 'HEAD')).trim();
  }

  /** Deletes a branch as a git client does. */
  async drop(place: MergePlace, name: string): Promise<void> {
    await this.git.ok(place.folder, 'push', '--quiet', 'origin', `:${name}`);
  }

  /** Returns the id that a ref of the server has; empty without the ref. */
  async ref({ fullPath, cast }: MergePlace, name: string): Promise<string> {
    const listed = await this.git.ok('.', 'ls-remote', this.urlFor(fullPath, cast.maintainer), name);
    return listed.split('\t', 1)[0]!;
  }

  /** Address of a repository for a user. */
  urlFor(fullPath: string, user: SeededUser): string {
    const password = `user-${user.id}`;
    this.front.accept(password, () => this.service.seed.viewer(user));
    return this.front.url(`${fullPath}.git`, password);
  }
}

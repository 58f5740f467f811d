import type { DirectoryProject } from '@rookery/contracts';
import type { Role, Viewer } from '@rookery/kernel';
import type { SeededService, RoleCase, TestApp } from '@rookery/testing';
import { startAdmin } from './app';

/** A project with a member of each role, and requests for its feature flags. */
export class FlagsOfAProject {
  private readonly members = new Map<Role, Viewer>();

  constructor(
    readonly service: SeededService,
    readonly project: DirectoryProject,
  ) {}

  static async start(): Promise<FlagsOfAProject> {
    const service = await startAdmin();
    const { id: namespace_id } = await service.seed.group({ path: 'acme' });
    return new FlagsOfAProject(
      service,
      await service.seed.project({ visibility: 'private', namespace_id, path: 'eggs.js' }),
    );
  }

  readonly fullPath = 'acme/eggs.js';

  get app(): TestApp {
    return this.service.app;
  }

  path(rest: string, project = this.project): string {
    return `/api/v4/projects/${project.id}/${rest}`;
  }

  /** Creates a user with this role in the project. */
  async member(role: Role = 'developer'): Promise<Viewer> {
    const known = this.members.get(role);
    if (known) return known;
    const { seed } = this.service;
    const person = await seed.user();
    await seed.member(person, this.project, role);
    const viewer = seed.viewer(person);
    this.members.set(role, viewer);
    return viewer;
  }

  /** Creates another project with the same developer. */
  async anotherProject(): Promise<DirectoryProject> {
    const { seed } = this.service;
    const project = await seed.project({ visibility: 'private' });
    const { userId } = await this.member();
    await seed.member({ id: userId! }, project, 'developer');
    return project;
  }

  async post<T = Record<string, unknown>>(
    rest: string,
    body: object,
    status = 201,
    project = this.project,
  ): Promise<T> {
    const response = await this.app
      .as(await this.member())
      .post(this.path(rest, project))
      .send(body);
    if (response.status !== status) throw new Error(`${response.status} ${response.text}`);
    return response.body as T;
  }

  /** Parameters of the suite `visibility`. */
  async from(
    visibility: 'private' | 'internal' | 'public',
    standing: RoleCase,
    rest: string,
    levels: Partial<DirectoryProject> = {},
  ) {
    const { seed } = this.service;
    const own = await seed.project({ visibility, ...levels });
    const path = this.path(rest, own);
    if (standing === 'anonymous') return { viewer: seed.anonymous(), path };
    const person = await seed.user({ admin: standing === 'admin', external: standing === 'external' });
    if (!['admin', 'external', 'outsider'].includes(standing)) await seed.member(person, own, standing as Role);
    return { viewer: seed.viewer(person), path };
  }
}

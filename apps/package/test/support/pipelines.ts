import type { DirectoryProject } from '@rookery/contracts';
import type { Role, Viewer } from '@rookery/kernel';
import type { DirectorySeed, SeededUser, TestApp } from '@rookery/testing';
import { startPackage } from './app';
import type { PackageService } from './app';
import { FakeCollaboration } from './fake-collaboration';

export interface PipelineJson {
  readonly id: number;
  readonly iid: number;
  readonly status: string;
  readonly [name: string]: unknown;
}

/** The package service next to a double of collaboration. */
export class PipelineScene {
  private constructor(
    readonly service: PackageService,
    readonly collaboration: FakeCollaboration,
  ) {}

  static async open(): Promise<PipelineScene> {
    const collaboration = await new FakeCollaboration().start();
    return new PipelineScene(await startPackage({ COLLABORATION_URL: collaboration.url }), collaboration);
  }

  get app(): TestApp {
    return this.service.app;
  }

  get seed(): DirectorySeed {
    return this.service.seed;
  }

  async close(): Promise<void> {
    await this.service.close();
    await this.collaboration.stop();
  }

  /** A project, private by default, with a member of each of these roles. */
  async project(
    members: Partial<Record<Role, SeededUser>>,
    over: Partial<DirectoryProject> = {},
  ): Promise<DirectoryProject> {
    const project = await this.seed.project({ visibility: 'private', ...over });
    for (const [role, user] of Object.entries(members)) await this.seed.member(user, project, role as Role);
    return project;
  }

  /** A viewer with this relation to a project, as the shared suite `visibility` names it. */
  async viewer(standing: string, project: DirectoryProject): Promise<Viewer> {
    if (standing === 'anonymous') return this.seed.anonymous();
    const user = await this.seed.user({ admin: standing === 'admin', external: standing === 'external' });
    if (!['admin', 'external', 'outsider'].includes(standing)) await this.seed.member(user, project, standing as Role);
    return this.seed.viewer(user);
  }

  /** Starts a pipeline by the API. */
  async pipeline(viewer: Viewer, project: DirectoryProject, params: object = {}): Promise<PipelineJson> {
    const { body } = await this.app
      .as(viewer)
      .post(`/api/v4/projects/${project.id}/pipeline`)
      .send({ ref: 'main', ...params })
      .expect(201);
    return body as PipelineJson;
  }
}

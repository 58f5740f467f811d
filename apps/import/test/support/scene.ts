import type { DirectoryProject } from '@rookery/contracts';
import { egressSettings } from '@rookery/egress';
import { gitSettings } from '@rookery/git';
import type { SignedInViewer } from '@rookery/kernel';
import { RemoteHost, startSeededService } from '@rookery/testing';
import type { HostedRepository, SeededService, SeededUser } from '@rookery/testing';
import type { Agent } from 'supertest';
import { migrations } from '../../src/database';
import { importSettings } from '../../src/import.config';
import { ImportModule } from '../../src/import.module';
import { ImportJob } from '../../src/imports/running/import.job';
import { StateReportsJob } from '../../src/imports/running/state-reports.job';
import { FakeServices } from './fake-services';

type JsonBody = Readonly<Record<string, unknown>>;

export interface StartedImport {
  readonly project: DirectoryProject;
  readonly projectId: number;
  readonly importId: number;
  readonly repository: HostedRepository;
}

/** The import service between an upstream host and the services that it writes to. */
export class ImportScene {
  private constructor(
    readonly service: SeededService,
    readonly host: RemoteHost,
    readonly inside: FakeServices,
    readonly owner: SeededUser,
  ) {}

  static async open(
    env: Readonly<Record<string, string>> = {},
    otherHosts: readonly { readonly address: string }[] = [],
  ): Promise<ImportScene> {
    const host = await RemoteHost.start();
    const inside = await FakeServices.start();
    const service = await startSeededService({
      service: 'import',
      module: ImportModule,
      migrations,
      settings: [egressSettings, gitSettings, importSettings],
      env: {
        EGRESS_ALLOW: [host, ...otherHosts].map(({ address }) => address).join(','),
        IDENTITY_URL: inside.url,
        COLLABORATION_URL: inside.url,
        PACKAGE_URL: inside.url,
        ...env,
      },
    });
    return new ImportScene(service, host, inside, await service.seed.user());
  }

  as(user: SeededUser, over: Partial<SignedInViewer> = {}): Agent {
    return this.service.app.as({ ...this.service.seed.viewer(user), ...over });
  }

  /** Parameters for importing a repository of the host. */
  parameters({ id }: Pick<HostedRepository, 'id'>, over: JsonBody = {}): JsonBody {
    const { token: personal_access_token, url: remote_hostname } = this.host;
    return { personal_access_token, repo_id: id, target_namespace: this.owner.username, remote_hostname, ...over };
  }

  /** Starts an import of a repository, by default a new one, into a new project of the owner. */
  async started(name: string, over: JsonBody = {}, given?: HostedRepository): Promise<StartedImport> {
    const repository = given ?? (await this.host.add(name));
    const project = await this.prepareProject(name);
    await this.as(this.owner).post('/api/v4/import/remote').send(this.parameters(repository, over)).expect(201);
    return { project, projectId: project.id, importId: await this.importOf(project.id), repository };
  }

  /** Creates the project, with its repository, that identity answers for the next import. */
  async prepareProject(name: string): Promise<DirectoryProject> {
    const { seed } = this.service;
    const project = await seed.project({
      namespace_id: this.owner.namespace_id,
      path: name,
      name,
      visibility: 'private',
    });
    await seed.member(this.owner, project, 'owner');
    this.inside.project = {
      outcome: 'created',
      project: {
        ...{ id: project.id, name, full_path: `${this.owner.username}/${name}` },
        name_with_namespace: `${this.owner.name} / ${name}`,
      },
    };
    const repositoryOf = this.inside.repositoryOf(project.id);
    await this.host.git.ok('.', 'init', '--quiet', '--bare', '--initial-branch=main', repositoryOf);
    return project;
  }

  /** Returns the id of the import of a project. */
  async importOf(projectId: number): Promise<number> {
    const [row] = await this.service.database.query<{ id: number }>(
      'select id from project_imports where project_id = $1',
      [projectId],
    );
    return row!.id;
  }

  /** Runs a try of the job. */
  run(importId: number, attempt = 1, signal = new AbortController().signal): Promise<void> {
    const progress = async (): Promise<void> => undefined;
    return this.service.app
      .get(ImportJob)
      .run({ params: { import_id: importId }, attempt, dueAt: new Date(), signal, progress });
  }

  /** Reports the state of an import to identity. */
  report(importId: number): Promise<void> {
    const { signal } = new AbortController();
    const progress = async (): Promise<void> => undefined;
    return this.service.app
      .get(StateReportsJob)
      .report({ params: { import_id: importId }, attempt: 1, dueAt: new Date(), signal, progress });
  }

  row(importId: number): Promise<Record<string, unknown> | undefined> {
    return this.service.database
      .query<Record<string, unknown>>('select * from project_imports where id = $1', [importId])
      .then(([row]) => row);
  }

  /** Names and values of the refs of a bare repository. */
  async refs(folder: string): Promise<string[]> {
    const text = await this.host.git.ok('.', '--git-dir', folder, 'for-each-ref', '--format=%(refname) %(objectname)');
    return text.split('\n').filter((line) => line !== '');
  }

  async close(): Promise<void> {
    await this.service.close();
    await this.host.stop();
    await this.inside.stop();
  }
}

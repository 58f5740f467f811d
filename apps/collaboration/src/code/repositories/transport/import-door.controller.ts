import { Readable } from 'node:stream';
import { Controller } from '@nestjs/common';
import { StreamedInternalRoute } from '@rookery/api-v4';
import type { InternalStream, InternalUpload, ProjectScope } from '@rookery/api-v4';
import { INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { openAdvertisement } from '@rookery/git';
import { ACCESS_LEVELS, NotFound } from '@rookery/kernel';
import { ProjectRepositories } from '../project-repositories';
import { PushReceiver } from '../ref-updates/push-receiver';
import { convertGitFailures } from '../git-failures';

const SERVICE = 'git-receive-pack';

/**
 * Git over HTTP for the import service, which pushes imported repositories. The rules of pushes apply as to an owner of the
 * project. The push has no user, so feeds do not show it. Source: ADR 0191.
 */
@Controller()
export class ImportGitHttpController {
  constructor(
    private readonly directory: Directory,
    private readonly repositories: ProjectRepositories,
    private readonly pushes: PushReceiver,
  ) {}

  @StreamedInternalRoute('GET', INTERNAL_PATHS.importRefs, INTERNAL_CALLERS.importRefs)
  async advertise({ params, query }: InternalUpload): Promise<InternalStream> {
    if (query['service'] !== SERVICE) throw new NotFound();
    const project = await this.findProject(params);
    const repository = await convertGitFailures(() => this.repositories.openRepository(project));
    const { preamble, stdout } = await convertGitFailures(() =>
      openAdvertisement(repository, SERVICE, { isImport: true }),
    );
    const stream = Readable.from(prependPreamble(preamble, stdout), { objectMode: false });
    return { mediaType: `application/x-${SERVICE}-advertisement`, stream };
  }

  @StreamedInternalRoute('POST', INTERNAL_PATHS.importPush, INTERNAL_CALLERS.importPush)
  async receive({ params, input }: InternalUpload): Promise<InternalStream> {
    const project = await this.findProject(params);
    const repository = await convertGitFailures(() => this.repositories.openRepository(project));
    const recheckRights = async (): Promise<void> => void (await this.findProject(params));
    const push = { project, viewer: null, input, notice: null, recheckRights };
    const stream = await convertGitFailures(() => this.pushes.receivePush(repository, push));
    return { mediaType: `application/x-${SERVICE}-result`, stream };
  }

  /** Errors: NotFound for a project that is missing or archived; Unavailable if the copy of the directory is late. */
  private async findProject({ project_id: id }: Readonly<Record<string, string>>): Promise<ProjectScope> {
    await this.directory.assertCurrent();
    const project = (await this.directory.findProjects([Number(id)])).get(Number(id));
    if (!project || project.archived) throw new NotFound('Project');
    return { ...project, level: ACCESS_LEVELS.owner };
  }
}

async function* prependPreamble(preamble: string, content: Readable): AsyncGenerator<Buffer> {
  yield Buffer.from(preamble);
  for await (const chunk of content) yield chunk as Buffer;
}

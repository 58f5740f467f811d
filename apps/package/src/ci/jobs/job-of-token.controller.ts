import { Controller } from '@nestjs/common';
import { Endpoint, one, signedIn } from '@rookery/api-v4';
import type { Call, NoParams } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { Unauthorized } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { JobTokens } from './job-tokens';
import { jobPresenter } from './job.presenter';
import { JobsQueries } from './jobs.queries';
import type { JobRow } from './jobs.queries';

@Controller()
export class JobOfTokenController {
  constructor(
    private readonly tokens: JobTokens,
    private readonly jobs: JobsQueries,
    private readonly directory: Directory,
  ) {}

  @Endpoint('GET', '/job', {
    source: 'reference identity-and-import 4.10',
    may: signedIn(),
    tokenScopes: 'any',
    about: 'Returns the running job whose token is the credential of the request. Other credentials are refused.',
    answers: one(jobPresenter),
    fails: [401],
  })
  async show({ viewer }: Call<NoParams, undefined, SignedInViewer>): Promise<JobRow> {
    await this.directory.requireFresh(viewer);
    const job = viewer.job && (await this.tokens.findRunningJob({ id: viewer.job.id }));
    const project = job && (await this.directory.findProjects([job.project_id])).get(job.project_id);
    if (!project) throw new Unauthorized();
    return this.jobs.findJob(project, job.id);
  }
}

import { Controller } from '@nestjs/common';
import { projectCreated } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Jobs } from '@rookery/jobs';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { measureRepository } from './measure-repository';
import { addRepository, toNewRepositoryParams } from './repository-rows';

/** Schedules the first commits of new projects, so that they exist even if no request uses the repositories. */
@Controller()
export class FirstCommitsConsumer {
  constructor(
    private readonly directory: Directory,
    private readonly jobs: Jobs,
  ) {}

  @Consume(projectCreated, { effect: 'first-commit' })
  async begin({ tx, events }: EffectBatch<typeof projectCreated>): Promise<void> {
    const begun = events.filter(({ data }) => data.initialize_with_readme === true);
    if (begun.length === 0) return;
    await this.directory.assertCurrentFor(tx, begun);
    const living = await this.directory.findProjects(begun.map(({ data }) => data.project_id));
    for (const project of living.values()) {
      await tx.run(addRepository, toNewRepositoryParams(project));
      // The job opens the repository, which writes the commit.
      await this.jobs.enqueue(tx, measureRepository, { project_id: project.id });
    }
  }
}

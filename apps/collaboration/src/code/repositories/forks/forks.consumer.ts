import { Controller } from '@nestjs/common';
import { projectForked } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Jobs } from '@rookery/jobs';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { measureRepository } from '../measure-repository';
import { addRepository, toNewRepositoryParams } from '../repository-rows';

/** Copies the repositories of new forks soon, so that later changes and the removal of the source do not matter. */
@Controller()
export class ForksConsumer {
  constructor(
    private readonly directory: Directory,
    private readonly jobs: Jobs,
  ) {}

  @Consume(projectForked, { effect: 'copy-repository' })
  async copy({ tx, events }: EffectBatch<typeof projectForked>): Promise<void> {
    await this.directory.assertCurrentFor(tx, events);
    const living = await this.directory.findProjects(events.map(({ data }) => data.project_id));
    for (const { data } of events) {
      const { project_id: id, source_project_id: source, branch = null } = data;
      if (!living.has(id)) continue;
      await tx.run(
        addRepository,
        toNewRepositoryParams({ id, fork: { project_id: source, network_id: source, branch } }),
      );
      // The job opens the repository, which copies it.
      await this.jobs.enqueue(tx, measureRepository, { project_id: id });
    }
  }
}

import { Controller } from '@nestjs/common';
import { anyone, createdMessage, Endpoint, streamedBody } from '@rookery/api-v4';
import type { StreamedCall } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { CreateArtifact } from './artifacts.dto';
import { MAX_REPORT_BYTES, DependencyReportIntake } from './report-intake';

/** The file with the other parts of its form. Units: bytes. */
const MAX_BODY_BYTES = MAX_REPORT_BYTES + 1024 ** 2;

@Controller()
export class ArtifactsController {
  constructor(
    private readonly intake: DependencyReportIntake,
    private readonly directory: Directory,
  ) {}

  @Endpoint('POST', '/jobs/:id/artifacts', {
    about:
      'Hands in a CycloneDX document of a job, as the part `file` of a form. The token of the running job authenticates.',
    source: 'reference packages-and-admin 6.4',
    may: anyone(),
    tokenScopes: 'any',
    params: CreateArtifact,
    body: streamedBody({ maxBytes: MAX_BODY_BYTES }),
    answers: createdMessage(),
    fails: [400, 401, 403, 404],
  })
  async create({ params, viewer, body }: StreamedCall<CreateArtifact>): Promise<void> {
    await this.directory.requireFresh(viewer);
    const { id: jobId, ...query } = params;
    await this.intake.storeReport({ jobId, body, query, job: viewer.job });
  }
}

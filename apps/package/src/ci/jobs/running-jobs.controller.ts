import { Controller } from '@nestjs/common';
import { InternalRoute } from '@rookery/api-v4';
import type { InternalRequest } from '@rookery/api-v4';
import { INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import type { RunningJobAnswer } from '@rookery/contracts';
import { JobTokens } from './job-tokens';

/** Answers identity with the job of a token, while the job runs. Source: ADR 0190. */
@Controller()
export class RunningJobsController {
  constructor(private readonly tokens: JobTokens) {}

  @InternalRoute('POST', INTERNAL_PATHS.runningJob, INTERNAL_CALLERS.runningJob)
  async show({ body: { digest, id } }: InternalRequest): Promise<RunningJobAnswer> {
    const isDigest = typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest);
    const job = isDigest
      ? await this.tokens.findRunningJob({ digest: Buffer.from(digest, 'hex') })
      : Number.isSafeInteger(id)
        ? await this.tokens.findRunningJob({ id: id as number })
        : null;
    if (!job || job.user_id === null) return { job: null };
    return { job: { id: job.id, project_id: job.project_id, user_id: job.user_id } };
  }
}

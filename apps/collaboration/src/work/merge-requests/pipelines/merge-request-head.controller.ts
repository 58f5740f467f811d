import { Controller } from '@nestjs/common';
import { InternalRoute } from '@rookery/api-v4';
import type { InternalRequest } from '@rookery/api-v4';
import { INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import type { MergeRequestHeadAnswer } from '@rookery/contracts';
import { InvalidParameters } from '@rookery/kernel';
import { MergeRequestHeads } from './merge-request-heads';

/** Finds the commits of pipelines of merge requests, for the package service. Source: reference repositories 8.16. */
@Controller()
export class MergeRequestHeadController {
  constructor(private readonly heads: MergeRequestHeads) {}

  @InternalRoute('POST', INTERNAL_PATHS.mergeRequestHead, INTERNAL_CALLERS.mergeRequestHead)
  show({ body: { project_id: project, iid } }: InternalRequest): Promise<MergeRequestHeadAnswer> {
    if (!Number.isSafeInteger(project)) throw new InvalidParameters(['project_id is invalid']);
    if (!Number.isSafeInteger(iid)) throw new InvalidParameters(['iid is invalid']);
    return this.heads.findHead(project as number, iid as number);
  }
}

import { Flag, Int, ListOf, OneOf, Text } from '@rookery/api-v4';
import { PIPELINE_STATUSES } from '../pipelines/pipeline-statuses';
import { IdentifyPipeline } from '../pipelines/pipelines.dto';
import type { JobListing } from './jobs.queries';

type JobStatus = (typeof PIPELINE_STATUSES)[number];

/** Source: reference identity-and-import 7.5. */
export class ListJobs implements JobListing {
  @ListOf({ oneOf: PIPELINE_STATUSES }, { optional: true, about: 'Only jobs with one of these statuses.' })
  scope?: JobStatus[];
}

export class ListPipelineJobs extends IdentifyPipeline implements JobListing {
  @ListOf({ oneOf: PIPELINE_STATUSES }, { optional: true, about: 'Only jobs with one of these statuses.' })
  scope?: JobStatus[];
  @Flag({ default: false, about: 'Also lists jobs that a later job of the same name replaced.' })
  include_retried: boolean;
}

export class IdentifyJob {
  @Int({ in: 'path', about: 'Id of the job.' }) job_id: number;
}

export class CreateJob extends IdentifyPipeline {
  @Text({ blank: 'refused' }) name: string;
  @Text({ default: 'test', about: 'Stage of the job.' }) stage: string;
}

/** Statuses that a runner may set. */
const REPORTED = ['running', 'success', 'failed', 'canceled'] as const;

export class UpdateJob {
  @Int({ about: 'Id of the job.' }) id: number;
  @Text({ about: 'Token of the job.' }) token: string;
  @OneOf(REPORTED, { about: '`running` changes nothing.' }) state: (typeof REPORTED)[number];
  @Text({ optional: true, max: 255, about: 'Reason of a failed job. Default: `unknown_failure`.' })
  failure_reason?: string;
}

import { pipeline } from 'node:stream';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Injectable } from '@nestjs/common';
import { Jobs } from '@rookery/jobs';
import { Forbidden, InvalidParameters, Refused, TooLarge, Unauthorized } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { JobTokens } from '../../ci/jobs/job-tokens';
import type { TokenJob } from '../../ci/jobs/job-tokens';
import { PipelineRows } from '../../ci/pipelines/pipeline-rows';
import { PipelineRunPermissions } from '../../ci/pipelines/pipeline-run-permissions';
import { PackageFiles } from '../../packages/package-files';
import type { StoredFile } from '../../packages/package-files';
import { readUploadForm } from '../../packages/upload-form';
import type { ContentPart } from '../../packages/upload-form';
import { readDependencyReport } from '../dependency-jobs';

/** Largest document, inflated. Units: bytes. Source: reference packages-and-admin 6.4. */
export const MAX_REPORT_BYTES = 20 * 1024 ** 2;
/** Documents of one job. */
const MAX_REPORTS = 50;
/** Units: characters. */
const MAX_FILE_NAME = 255;
const FORMATS = ['gzip', 'raw'];

const FIELDS = ['token', 'artifact_type', 'artifact_format'] as const;
type UploadField = (typeof FIELDS)[number];

/** A report while it arrives. Fields of the query take precedence over those of the form. */
export interface ReportUpload {
  readonly jobId: number;
  readonly body: Readable & { readonly mediaType: string };
  /** The job of the credential of the request; undefined without one. */
  readonly job: { readonly id: number } | undefined;
  readonly query: Readonly<Partial<Record<UploadField, string>>>;
}
/** A token as a parameter, or the job whose token was the credential of the request. */
type JobProof = string | { readonly id: number };
type ReportContent = { readonly fileName: string; readonly file: StoredFile };

const OF_JOB = statement<{ job: number; name: string }, { sha256: string | null; count: number }>(
  'dependency_reports_of_job',
  `select max(sha256) filter (where file_name = :name) as sha256, count(*) as count
   from dependency_reports where job_id = :job::bigint`,
);
interface AddReportParams {
  readonly project: number;
  readonly pipeline: number;
  readonly job: number;
  readonly name: string;
  readonly sha256: string;
  readonly size: number;
}
const ADD = statement<AddReportParams, { id: number }>(
  'dependency_reports_add',
  `insert into dependency_reports (project_id, pipeline_id, job_id, file_name, sha256, size)
   values (:project::bigint, :pipeline::bigint, :job::bigint, :name, :sha256, :size::bigint) returning id`,
);

/** Takes CycloneDX documents from running jobs. Source: reference packages-and-admin 6.4. */
@Injectable()
export class DependencyReportIntake {
  constructor(
    private readonly work: Work,
    private readonly files: PackageFiles,
    private readonly tokens: JobTokens,
    private readonly pipelines: PipelineRows,
    private readonly users: PipelineRunPermissions,
    private readonly jobs: Jobs,
  ) {}

  /**
   * Stores a document, which a job reads afterwards. The same document under the same name is taken once.
   * Errors: Unauthorized without the token of the running job before the file, and when the job ended meanwhile;
   * Forbidden if its user may not run pipelines; InvalidParameters; Refused for a second document under a name and for
   * too many; TooLarge.
   */
  async storeReport({ jobId, body, query, job }: ReportUpload): Promise<void> {
    const textOf = (fields: ReadonlyMap<UploadField, string>, name: UploadField): string =>
      query[name] ?? fields.get(name) ?? '';
    const store = async ({ source, fileName, fields }: ContentPart<UploadField>): Promise<ReportContent> => {
      await this.authorizeJob(jobId, job ?? textOf(fields, 'token'));
      return { fileName, file: await this.storeInflated(source, textOf(fields, 'artifact_format')) };
    };
    const { fields, content } = await readUploadForm(body, { fields: FIELDS, file: 'file' }, store);
    const token = job ?? textOf(fields, 'token');
    await this.authorizeJob(jobId, token);
    const problems = findUploadProblems(content, textOf(fields, 'artifact_type'), textOf(fields, 'artifact_format'));
    if (problems.length > 0) throw new InvalidParameters(problems);
    await this.work.run((tx) => this.addReport(tx, jobId, token, content!));
  }

  /** Errors: Unauthorized without a running job of this id and token; Forbidden if its user may not run pipelines. */
  private async authorizeJob(jobId: number, token: JobProof): Promise<void> {
    const { project_id: projectId, user_id: userId } = await this.requireRunningJob(jobId, token);
    if (!(await this.users.findRunnableProject(projectId, userId))?.canRun) throw new Forbidden();
  }

  private async requireRunningJob(jobId: number, token: JobProof, tx?: Tx): Promise<TokenJob> {
    const job =
      typeof token === 'string'
        ? await this.tokens.findJobInAnyState(token, tx)
        : await this.tokens.findRunningJob(token, tx);
    if (job?.id !== jobId || !job.is_running) throw new Unauthorized();
    return job;
  }

  /** Stores the document inflated, so that the limit of its size counts. */
  private async storeInflated(source: Readable, format: string): Promise<StoredFile> {
    // Errors reach the reader of the last stream.
    const content = format === 'gzip' ? pipeline(source, createGunzip(), () => undefined) : source;
    try {
      return await this.files.storeFile(content, MAX_REPORT_BYTES);
    } catch (error) {
      if (error instanceof Refused) throw new TooLarge();
      if (isGzipError(error)) throw new InvalidParameters(['file is invalid']);
      throw error;
    }
  }

  /** The lock of the pipeline orders this write and the end of the job. */
  private async addReport(tx: Tx, jobId: number, token: JobProof, { fileName, file }: ReportContent): Promise<void> {
    const { project_id: project, pipeline_id: pipelineId } = await this.requireRunningJob(jobId, token, tx);
    await this.pipelines.lockPipeline(tx, pipelineId, project);
    await this.requireRunningJob(jobId, token, tx);
    const [present] = await tx.run(OF_JOB, { job: jobId, name: fileName });
    if (present!.sha256 === file.sha256) return;
    if (present!.sha256 !== null)
      throw new Refused('another artifact of the same type already exists', { verbatim: true });
    if (present!.count >= MAX_REPORTS) throw new Refused(`a job has at most ${MAX_REPORTS} reports`);
    const { sha256, size } = file;
    const [added] = await tx.run(ADD, { project, pipeline: pipelineId, job: jobId, name: fileName, sha256, size });
    await this.jobs.enqueue(tx, readDependencyReport, { report_id: added!.id });
  }
}

function findUploadProblems(content: ReportContent | null, type: string, format: string): string[] {
  if (content === null) return ['file is missing'];
  return [
    ...(type === 'cyclonedx' ? [] : ['artifact_type does not have a valid value']),
    ...(format === '' || FORMATS.includes(format) ? [] : ['artifact_format does not have a valid value']),
    ...(content.fileName === '' || content.fileName.length > MAX_FILE_NAME ? ['file name is invalid'] : []),
  ];
}

function isGzipError(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code !== undefined && /^Z_(?:DATA|BUF|NEED_DICT)/.test(code);
}

import { Injectable } from '@nestjs/common';
import { Directory, withinGroupSql } from '@rookery/directory';
import type { ProjectFacts } from '@rookery/directory';
import { NotFound } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { CollaborationClient } from '../../ci/pipelines/collaboration-client';
import { FINISHED_STATUSES } from '../../ci/pipelines/pipeline-statuses';
import type { ReportProperty, ReportTool } from '../reports/dependency-report.entity';
import { DependencyReportReader } from '../reports/dependency-report-reader';

/** A valid report of a pipeline. */
export interface SourceReport {
  readonly id: number;
  readonly input_file: string | null;
  readonly packager: string | null;
  readonly tools: readonly ReportTool[];
  readonly properties: readonly ReportProperty[];
}

/** The pipeline whose reports describe the dependencies of a project. */
export interface DependencySource {
  readonly projectId: number;
  readonly fullPath: string;
  readonly name: string;
  readonly sha: string;
  readonly reports: readonly SourceReport[];
}

/** Projects of a group that are read at once. */
const PAGE = 100;
const finished = FINISHED_STATUSES.map((status) => `'${status}'`).join(', ');

const PROJECTS_OF_GROUP = statement<{ below: readonly number[]; after: number; count: number }, { id: number }>(
  'dependency_sources_projects',
  `select project.id from directory_projects project
   join directory_namespaces home on home.id = project.namespace_id
   where ${withinGroupSql({ namespace: 'home', traversalIds: ':below' })} and not project.archived
     and project.id > :after::bigint
     and exists (select 1 from dependency_reports r where r.project_id = project.id)
   order by project.id limit :count::int`,
);
/** Pipelines with reports, newest first. The newest one counts whose reports are not all invalid. */
const PIPELINES = statement<{ project: number; ref: string }, { id: number }>(
  'dependency_sources_pipelines',
  `select p.id from pipelines p
   where p.project_id = :project::bigint and p.ref = :ref and not p.is_tag and p.status in (${finished})
     and exists (select 1 from dependency_reports r where r.pipeline_id = p.id and r.state <> 'invalid')
   order by p.id desc limit 1`,
);
const PIPELINE = statement<{ id: number }, { project_id: number; sha: string }>(
  'dependency_sources_pipeline',
  'select project_id, sha from pipelines where id = :id::bigint',
);
const REPORTS = statement<{ pipeline: number }, SourceReport>(
  'dependency_sources_reports',
  `select id, input_file, packager, tools, properties from dependency_reports
   where pipeline_id = :pipeline::bigint and state = 'valid' order by id`,
);

/**
 * Finds the reports that describe dependencies: of a project those of the newest finished pipeline of its default branch
 * that has any. Documents that are not read yet are read first. Source: reference packages-and-admin 6.4.
 */
@Injectable()
export class DependencyReportSources {
  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    private readonly collaboration: CollaborationClient,
    private readonly reading: DependencyReportReader,
  ) {}

  /** Errors: NotFound for a deleted project; Unavailable. */
  async ofProject(projectId: number, signal: AbortSignal): Promise<DependencySource | null> {
    const ref = await this.findDefaultBranch(projectId);
    if (ref === null) return null;
    for (;;) {
      const [pipeline] = await this.database.run(PIPELINES, { project: projectId, ref });
      if (!pipeline) return null;
      const source = await this.ofPipeline(pipeline.id, signal);
      // All reports turned out to be invalid: the pipeline before counts.
      if (source.reports.length > 0) return source;
    }
  }

  /** Returns the sources of the projects of a group, archived ones excluded. Errors: as `ofProject`. */
  async *ofGroup(groupId: number, signal: AbortSignal): AsyncGenerator<DependencySource> {
    const group = (await this.directory.findNamespaces([groupId])).get(groupId);
    if (!group) throw new NotFound('Group');
    for (let after = 0; ;) {
      const page = await this.database.run(PROJECTS_OF_GROUP, { below: group.traversalIds, after, count: PAGE });
      for (const { id } of page) {
        signal.throwIfAborted();
        const source = await this.ofProject(id, signal);
        if (source) yield source;
      }
      if (page.length < PAGE) return;
      after = page.at(-1)!.id;
    }
  }

  /** Returns the reports of a pipeline. Errors: NotFound for a deleted pipeline or project. */
  async ofPipeline(id: number, signal: AbortSignal): Promise<DependencySource> {
    await this.reading.readAll([id], signal);
    const [pipeline] = await this.database.run(PIPELINE, { id });
    const project = pipeline && (await this.directory.findProjects([pipeline.project_id])).get(pipeline.project_id);
    if (!project) throw new NotFound();
    const reports = await this.database.run(REPORTS, { pipeline: id });
    return { projectId: project.id, fullPath: project.fullPath, name: project.name, sha: pipeline.sha, reports };
  }

  /** Describes a project that has no reports. Errors: NotFound. */
  async withoutReports(projectId: number): Promise<DependencySource> {
    const { id, fullPath, name } = await this.requireProject(projectId);
    return { projectId: id, fullPath, name, sha: '', reports: [] };
  }

  /** Returns the default branch; null for an empty repository. */
  private async findDefaultBranch(projectId: number): Promise<string | null> {
    const project = await this.requireProject(projectId);
    if (project.defaultBranch !== null) return project.defaultBranch;
    return (await this.collaboration.resolveRef({ project_id: projectId, name: null }))?.ref ?? null;
  }

  private async requireProject(id: number): Promise<ProjectFacts> {
    const project = (await this.directory.findProjects([id])).get(id);
    if (!project) throw new NotFound('Project');
    return project;
  }
}

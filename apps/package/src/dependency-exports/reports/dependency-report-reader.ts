import { Injectable } from '@nestjs/common';
import { Database, statement, Work } from '@rookery/persistence';
import type { RowOf, Tx } from '@rookery/persistence';
import { PackageFiles } from '../../packages/package-files';
import { readCycloneDx } from './cyclonedx-reader';
import type { DocumentFacts } from './cyclonedx-reader';
import type { DependencyReport } from './dependency-report.entity';
import { InvalidJsonDocument } from './json-picker';

type PendingReport = RowOf<DependencyReport, 'id' | 'sha256'>;

const LOCK = statement<{ id: number }, PendingReport>(
  'dependency_reports_lock',
  `select id, sha256 from dependency_reports where id = :id::bigint and state = 'pending' for update`,
);
const ADD_COMPONENTS = statement<{ report: number; rows: string }, never>(
  'dependency_components_add',
  `insert into dependency_components (report_id, position, ref, name, version, component_type, purl, packager, licenses)
   select :report::bigint, position, ref, name, version, component_type, purl, packager, licenses
   from jsonb_to_recordset(:rows::jsonb) as given (position integer, ref text, name text, version text,
     component_type text, purl text, packager text, licenses jsonb)`,
);
const SET_DEPENDENTS = statement<{ report: number; rows: string }, never>(
  'dependency_components_set_dependents',
  `update dependency_components c set is_top_level = given.is_top_level,
     ancestors = coalesce((select jsonb_agg(jsonb_build_object('name', p.name, 'version', p.version) order by p.position)
       from dependency_components p where p.report_id = :report::bigint and p.position = any(given.parents)), '[]')
   from jsonb_to_recordset(:rows::jsonb) as given (position integer, is_top_level boolean, parents integer[])
   where c.report_id = :report::bigint and c.position = given.position`,
);
interface SetValidParams {
  readonly id: number;
  readonly inputFile: string | null;
  readonly packager: string | null;
  readonly tools: string;
  readonly properties: string;
}
const SET_VALID = statement<SetValidParams, never>(
  'dependency_reports_set_valid',
  `update dependency_reports set state = 'valid', input_file = :inputFile, packager = :packager, tools = :tools::jsonb,
     properties = :properties::jsonb
   where id = :id::bigint`,
);
const SET_INVALID = statement<{ id: number; problem: string }, never>(
  'dependency_reports_set_invalid',
  `update dependency_reports set state = 'invalid', problem = :problem where id = :id::bigint and state = 'pending'`,
);
const PENDING = statement<{ pipelines: readonly number[] }, { id: number }>(
  'dependency_reports_pending',
  `select id from dependency_reports where pipeline_id = any(:pipelines::bigint[]) and state = 'pending' order by id`,
);

const BATCH = 2000;

/**
 * Reads the documents that jobs handed in, once. Components and state of a report are written in one transaction, so
 * that a killed process leaves a pending report. Source: reference packages-and-admin 6.4.
 */
@Injectable()
export class DependencyReportReader {
  constructor(
    private readonly work: Work,
    private readonly database: Database,
    private readonly files: PackageFiles,
  ) {}

  /** Reads a pending report and stores its components. A second caller waits for the first. Errors: Unavailable. */
  async readReport(id: number, signal: AbortSignal): Promise<void> {
    try {
      await this.work.run((tx) => this.readInTransaction(tx, id, signal));
    } catch (error) {
      if (!(error instanceof InvalidJsonDocument)) throw error;
      await this.work.run((tx) => tx.run(SET_INVALID, { id, problem: error.message }));
    }
  }

  /** Reads the pending reports of these pipelines. */
  async readAll(pipelines: readonly number[], signal: AbortSignal): Promise<void> {
    for (const { id } of await this.database.run(PENDING, { pipelines })) await this.readReport(id, signal);
  }

  private async readInTransaction(tx: Tx, id: number, signal: AbortSignal): Promise<void> {
    // Another process may be reading the document, which takes longer than a statement usually may.
    await tx.allowLongStatements();
    const [report] = await tx.run(LOCK, { id });
    if (!report) return;
    const body = await this.files.openAttached(report.sha256, null);
    const abort = (): void => void body.destroy(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      const facts = await readCycloneDx(body, async (components) => {
        await tx.run(ADD_COMPONENTS, { report: id, rows: JSON.stringify(components) });
      });
      await this.finishReport(tx, id, facts);
    } finally {
      signal.removeEventListener('abort', abort);
      body.destroy();
    }
  }

  private async finishReport(tx: Tx, id: number, facts: DocumentFacts): Promise<void> {
    const dependents = facts.graph.listDependents();
    for (let at = 0; at < dependents.length; at += BATCH)
      await tx.run(SET_DEPENDENTS, { report: id, rows: JSON.stringify(dependents.slice(at, at + BATCH)) });
    const { inputFile, packager } = facts;
    const [tools, properties] = [JSON.stringify(facts.tools), JSON.stringify(facts.properties)];
    await tx.run(SET_VALID, { id, inputFile, packager, tools, properties });
  }
}

import { Injectable } from '@nestjs/common';
import { Database, statement } from '@rookery/persistence';
import type { RowOf } from '@rookery/persistence';
import type { DependencyComponent } from '../reports/dependency-component.entity';

/** A component in a file of a project. */
export type Occurrence = RowOf<
  DependencyComponent,
  'id' | 'position' | 'name' | 'version' | 'packager' | 'licenses' | 'isTopLevel' | 'ancestors'
>;
/** A component, however many documents name it. */
export type DistinctComponent = RowOf<
  DependencyComponent,
  'ref' | 'name' | 'version' | 'componentType' | 'purl' | 'licenses'
>;

const PAGE = 1000;

const OCCURRENCES = statement<{ report: number; after: number; count: number }, Occurrence>(
  'dependency_components_occurrences',
  `select id, position, name, version, packager, licenses, is_top_level, ancestors from dependency_components
   where report_id = :report::bigint and position > :after::int order by position limit :count::int`,
);
const DISTINCT = statement<{ reports: readonly number[]; after: string; count: number }, DistinctComponent>(
  'dependency_components_distinct',
  `select distinct on (ref) ref, name, version, component_type, purl, licenses from dependency_components
   where report_id = any(:reports::bigint[]) and ref > :after collate "C" order by ref, id limit :count::int`,
);

/** Reads the components of reports in pages, so that an export of any size needs little memory. */
@Injectable()
export class ComponentsQueries {
  constructor(private readonly database: Database) {}

  /** Returns the components of a report in the order of its document. */
  async *ofReport(report: number): AsyncGenerator<Occurrence> {
    for (let after = -1; ;) {
      const page = await this.database.run(OCCURRENCES, { report, after, count: PAGE });
      yield* page;
      if (page.length < PAGE) return;
      after = page.at(-1)!.position;
    }
  }

  /** Returns each component of several reports once, sorted by its reference. */
  async *distinct(reports: readonly number[]): AsyncGenerator<DistinctComponent> {
    for (let after = ''; ;) {
      const page = await this.database.run(DISTINCT, { reports, after, count: PAGE });
      yield* page;
      if (page.length < PAGE) return;
      after = page.at(-1)!.ref;
    }
  }
}

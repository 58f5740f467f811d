import { Injectable } from '@nestjs/common';
import { Database, statement } from '@rookery/persistence';
import type { RowOf } from '@rookery/persistence';
import type { DependencyComponent } from '../reports/dependency-component.entity';

/** A component in a file of a project. */
export type Occurrence = RowOf<
  DependencyComponent,
  'id' | 'position' | 'name' | 'version' | 'packager' | 'licenses' | 'isTopLevel' | 'ancestors'
>;
/** A component that one or several documents name. */
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
  // Each report gives its own page by its index: one scan over all reports would read and sort them whole for each page.
  `select distinct on (ref) ref, name, version, component_type, purl, licenses
   from unnest(:reports::bigint[]) as report (id) cross join lateral (
     select distinct on (c.ref) c.id, c.ref, c.name, c.version, c.component_type, c.purl, c.licenses
     from dependency_components c where c.report_id = report.id and c.ref > :after collate "C"
     order by c.ref, c.id limit :count::int) as page
   order by ref, page.id limit :count::int`,
);

/** Reads the components of reports in pages, so that an export of any size needs little memory. */
@Injectable()
export class DependencyComponentsQueries {
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
  async *listDistinct(reports: readonly number[]): AsyncGenerator<DistinctComponent> {
    for (let after = ''; ;) {
      const page = await this.database.run(DISTINCT, { reports, after, count: PAGE });
      yield* page;
      if (page.length < PAGE) return;
      after = page.at(-1)!.ref;
    }
  }
}

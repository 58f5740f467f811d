import { Injectable } from '@nestjs/common';
import { NotFound } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import type { PackageFileRow } from '../../packages/listing/packages.queries';
import { INSTALLABLE_STATUSES, literalListSql } from '../../packages/package-types';
import type { Chart } from './chart';

/** A chart of a channel. */
export interface IndexedChart {
  readonly file_id: number;
  readonly name: string;
  readonly version: string;
  readonly chart: Chart;
  readonly file_name: string;
  readonly sha256: string;
  readonly created_at: Date;
}

/** State of a channel. `newest` is null for a channel without charts. */
export interface ChannelState {
  readonly digest: string;
  readonly newest: Date | null;
}

type ChannelParams = { readonly project: number; readonly channel: string };

/** Files of one statement. */
const BATCH = 100;
const FILES = `from helm_files h
   join package_files f on f.id = h.file_id and not f.is_pending_destruction
   join packages p on p.id = f.package_id and p.status in (${literalListSql(INSTALLABLE_STATUSES)})
   where h.project_id = :project::bigint and h.channel = :channel`;

const STATE = statement<ChannelParams, ChannelState>(
  'helm_channel_state',
  `select md5(coalesce(string_agg(f.id::text, ',' order by f.id), '')) as digest, max(f.created_at) as newest
   ${FILES} and h.chart is not null`,
);
const CHARTS = statement<ChannelParams & { name: string; file: number }, IndexedChart>(
  'helm_charts',
  `select f.id as file_id, p.name, p.version, h.chart, f.file_name, f.sha256, f.created_at
   ${FILES} and h.chart is not null and (h.chart_name, h.file_id) > (:name, :file::bigint)
   order by h.chart_name, h.file_id limit ${BATCH}`,
);
const NEWEST = statement<ChannelParams & { file: string }, PackageFileRow>(
  'helm_newest_file',
  `select f.id, f.package_id, f.file_name, f.size, f.sha256, f.sha1, f.md5, f.created_at, f.updated_at
   ${FILES} and h.file_name = :file order by h.file_id desc limit 1`,
);

/** Charts of the channels of a project. Source: reference packages-and-admin 4.8. */
@Injectable()
export class HelmQueries {
  constructor(private readonly database: Database) {}

  /** Returns a text that changes with the charts of a channel, and the time of the newest one. */
  async readState(project: number, channel: string): Promise<ChannelState> {
    return (await this.database.run(STATE, { project, channel }))[0]!;
  }

  /**
   * Yields the charts of a channel, name by name. Each item has all versions of one name, in the order of their
   * uploads.
   */
  async *listCharts(project: number, channel: string): AsyncGenerator<readonly IndexedChart[]> {
    let [name, file] = ['', 0];
    let ofName: IndexedChart[] = [];
    for (;;) {
      const rows = await this.database.run(CHARTS, { project, channel, name, file });
      for (const row of rows) {
        if (ofName.length > 0 && ofName[0]!.name !== row.name) {
          yield ofName;
          ofName = [];
        }
        ofName.push(row);
      }
      if (rows.length < BATCH) break;
      ({ name, file_id: file } = rows.at(-1)!);
    }
    if (ofName.length > 0) yield ofName;
  }

  /** Returns the newest chart with this file name, or its provenance. Errors: NotFound. */
  async findNewest(project: number, channel: string, fileName: string): Promise<PackageFileRow> {
    const [found] = await this.database.run(NEWEST, { project, channel, file: fileName });
    if (!found) throw new NotFound();
    const chartName = fileName.replace(/\.prov$/, '');
    if (chartName === fileName) return found;
    const [chart] = await this.database.run(NEWEST, { project, channel, file: chartName });
    // The provenance of an older upload of the version does not fit the chart.
    if (chart && chart.id > found.id) throw new NotFound();
    return found;
  }
}

import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { InvalidParameters, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { PackageFileRow } from '../../packages/listing/packages.queries';
import { PackageFiles } from '../../packages/package-files';
import type { StoredFile } from '../../packages/package-files';
import { PackagePublishing } from '../../packages/publishing/package-publishing';
import { PackageUploadGate } from '../../packages/publishing/upload-gate';
import { MAX_SKIPPED_BYTES, readUploadForm } from '../../packages/upload-form';
import { PackageProtections } from '../../protection-rules/protections';
import { invalidHelmChartRefusal } from './chart';
import type { Chart } from './chart';
import { readHelmChartArchive } from './chart-archive';

/** A form with a chart. `declaredSize` is null if unknown. Units: bytes. */
export type HelmForm = Readable & { readonly mediaType: string; readonly declaredSize: number | null };

const ADD = statement<
  { file: number; project: number; channel: string; name: string; fileName: string; chart: string | null },
  never
>(
  'helm_files_add',
  `insert into helm_files (file_id, project_id, channel, chart_name, file_name, chart)
   values (:file::bigint, :project::bigint, :channel, :name, :fileName, :chart::jsonb)`,
);

/** Serializes uploads with the same file name in a channel. */
const LOCK_FILE_NAME = statement<{ project: number; channel: string; fileName: string }, never>(
  'helm_lock_file_name',
  `select pg_advisory_xact_lock(hashtextextended('helm ' || :project::bigint || ' ' || :channel || '/' || :fileName, 0))`,
);
/** Finds another chart with this file name: `a` of version `1.0.0-2.0.0` has that of `a-1.0.0` of version `2.0.0`. */
const SAME_FILE_NAME = statement<
  { project: number; channel: string; name: string; fileName: string },
  { readonly id: number }
>(
  'helm_same_file_name',
  `select h.file_id as id from helm_files h where h.project_id = :project::bigint and h.channel = :channel
   and h.file_name = :fileName and h.chart_name <> :name limit 1`,
);

/** Uploads of Helm charts. Source: reference packages-and-admin 4.8. */
@Injectable()
export class HelmService {
  constructor(
    private readonly work: Work,
    private readonly gate: PackageUploadGate,
    private readonly protections: PackageProtections,
    private readonly files: PackageFiles,
    private readonly publishing: PackagePublishing,
  ) {}

  /**
   * Publishes the chart of a form in a channel. Its description names it, so that a protected name is refused after the
   * file is stored. Errors: Refused for a chart that is invalid or too large, Forbidden for a protected name and beyond a
   * limit of storage, InvalidParameters for a form without a chart; those of the body.
   */
  async uploadChart(project: ProjectScope, viewer: SignedInViewer, channel: string, form: HelmForm): Promise<void> {
    const maxBytes = this.gate.fileLimit(project, 'helm');
    if (form.declaredSize !== null && form.declaredSize > maxBytes + MAX_SKIPPED_BYTES)
      throw new Refused('File is too large');
    await this.gate.refuseBeyondStorage(project, 0);
    const { fields, content } = await readUploadForm(form, { fields: ['prov'], file: 'chart' }, ({ source }) =>
      this.files.storeFile(source, maxBytes),
    );
    if (content === null) throw new InvalidParameters(['chart is missing']);
    const chart = await readHelmChartArchive(await this.files.reopenStored(content));
    await this.protections.refusePush(project, viewer, 'helm', chart.name);
    const provenance = fields.get('prov');
    const signature =
      provenance === undefined ? null : await this.files.storeFile(Readable.from([Buffer.from(provenance)]), maxBytes);
    await this.publishChart(project, viewer, channel, { chart, content, signature });
  }

  private async publishChart(
    project: ProjectScope,
    viewer: SignedInViewer,
    channel: string,
    upload: { readonly chart: Chart; readonly content: StoredFile; readonly signature: StoredFile | null },
  ): Promise<void> {
    const { chart, content, signature } = upload;
    const { name, version } = chart;
    const named = { project, creatorId: viewer.userId, type: 'helm', name, version } as const;
    const fileName = `${name}-${version}.tgz`;
    await this.work.run(async (tx) => {
      const place = { project: project.id, channel, fileName };
      await tx.run(LOCK_FILE_NAME, place);
      const [other] = await tx.run(SAME_FILE_NAME, { ...place, name });
      if (other) throw invalidHelmChartRefusal(`${fileName} is the file of another chart`);
      const add = ({ id: file, file_name }: PackageFileRow, shown: string | null): Promise<unknown> =>
        tx.run(ADD, { file, project: project.id, channel, name, fileName: file_name, chart: shown });
      await add(await this.publishing.publishFile(tx, { ...named, fileName, content }), JSON.stringify(chart));
      if (signature === null) return;
      await add(
        await this.publishing.publishFile(tx, { ...named, fileName: `${fileName}.prov`, content: signature }),
        null,
      );
    });
  }
}

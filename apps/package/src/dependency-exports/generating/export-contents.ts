import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { BlobError, BlobStorage } from '@rookery/blobs';
import type { StoredBlob } from '@rookery/blobs';
import type { Clock } from '@rookery/kernel';
import { API_VERSION, CLOCK } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import type { ExportRow } from '../dependency-exports.queries';
import { DependencyComponentsQueries } from './components.queries';
import { writeCycloneDx16Sbom, writeSbom } from './cyclonedx-formats';
import type { DocumentMaker } from './cyclonedx-formats';
import { DependencyReportSources } from './dependency-sources';
import type { DependencySource } from './dependency-sources';
import { writeDependencyCsv, writeDependencyListJson, writeFlatDependencyJson } from './list-formats';

/** Units: bytes. */
const MAX_FILE_BYTES = 4 * 1024 ** 3;

/** Writes the files of exports into the blob store, page by page. Source: reference packages-and-admin 6.3. */
@Injectable()
export class ExportContents {
  constructor(
    private readonly blobs: BlobStorage,
    private readonly sources: DependencyReportSources,
    private readonly components: DependencyComponentsQueries,
    private readonly links: Links,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Errors: those of the sources and the store; the reason of the signal. */
  async writeExport(row: ExportRow, signal: AbortSignal): Promise<StoredBlob> {
    try {
      return await this.blobs.put(await this.openContent(row, signal), { maxBytes: MAX_FILE_BYTES, signal });
    } catch (error) {
      if (error instanceof BlobError && error.reason === 'source') throw error.cause ?? error;
      throw error;
    }
  }

  private async openContent(row: ExportRow, signal: AbortSignal): Promise<Readable> {
    const { export_type: type } = row;
    if (type === 'csv') return writeDependencyCsv(this.listSources(row, signal), this.components);
    return textsAsBytes(await this.writeTexts(row, signal));
  }

  private async writeTexts(row: ExportRow, signal: AbortSignal): Promise<AsyncGenerator<string>> {
    switch (row.export_type) {
      case 'dependency_list':
        return writeDependencyListJson(this.listSources(row, signal), this.components);
      case 'sbom':
        return writeSbom(
          await this.sources.ofPipeline(row.pipeline_id!, signal),
          this.components,
          this.createDocumentMaker(),
        );
      case 'cyclonedx_1_6_json':
        return writeCycloneDx16Sbom(
          await this.findProjectSource(row, signal),
          this.components,
          this.createDocumentMaker(),
        );
      default:
        return writeFlatDependencyJson(this.listSources(row, signal), this.components);
    }
  }

  /** Returns the sources of an export of lists: of one project, or of all projects of a group. */
  private async *listSources(
    { project_id, group_id }: ExportRow,
    signal: AbortSignal,
  ): AsyncGenerator<DependencySource> {
    if (project_id === null) return yield* this.sources.ofGroup(group_id!, signal);
    const source = await this.sources.ofProject(project_id, signal);
    if (source) yield source;
  }

  /** A project without reports has a document without components. */
  private async findProjectSource({ project_id }: ExportRow, signal: AbortSignal): Promise<DependencySource> {
    return (await this.sources.ofProject(project_id!, signal)) ?? (await this.sources.withoutReports(project_id!));
  }

  private createDocumentMaker(): DocumentMaker {
    return { version: API_VERSION, url: this.links.webUrl('').replace(/\/$/, ''), now: this.clock.now() };
  }
}

const MIN_CHUNK = 32 * 1024;

/** Joins short texts, so that the store gets few large chunks. */
function textsAsBytes(texts: AsyncGenerator<string>): Readable {
  return Readable.from(joinTextsIntoChunks(texts), { objectMode: false });
}

async function* joinTextsIntoChunks(texts: AsyncGenerator<string>): AsyncGenerator<Buffer> {
  let waiting = '';
  for await (const text of texts) {
    waiting += text;
    if (waiting.length < MIN_CHUNK) continue;
    yield Buffer.from(waiting);
    waiting = '';
  }
  if (waiting !== '') yield Buffer.from(waiting);
}

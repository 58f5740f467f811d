import { gzipSync } from 'node:zlib';
import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import type { Test } from 'supertest';
import { GenerateDependencyExportJob } from '../../src/dependency-exports/generating/generation.job';
import type { PipelineScene } from './pipelines';

/** A running job of an outside runner. */
export interface RunningJob {
  readonly id: number;
  readonly token: string;
  readonly pipelineId: number;
}

/** A component of a document. */
export const component = (name: string, version?: string, more: object = {}): object => ({
  ...{ type: 'library', name, 'bom-ref': name },
  ...(version === undefined ? {} : { version, purl: `pkg:npm/${name}@${version}` }),
  ...more,
});

/** A CycloneDX document, 1.5 by default. */
export const cycloneDx = (components: readonly object[], more: object = {}): object => ({
  ...{ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1 },
  ...{ serialNumber: 'urn:uuid:3e671687-395b-41f5-a30f-a58921a69b79', components },
  ...more,
});

export interface Handing {
  readonly name?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly isGzip?: boolean;
}

/** Requests of a CI and its runner about dependencies. */
export class DependencyScene {
  constructor(readonly scene: PipelineScene) {}

  /** Starts a pipeline with a running job. */
  async job(viewer: Viewer, project: DirectoryProject, ref = 'main'): Promise<RunningJob> {
    const { id: pipelineId } = await this.scene.pipeline(viewer, project, { ref });
    const { body } = await this.scene.app
      .as(viewer)
      .post(`/api/v4/projects/${project.id}/pipelines/${pipelineId}/jobs`)
      .send({ name: 'sbom' })
      .expect(201);
    const { id, token } = body as { id: number; token: string };
    return { id, token, pipelineId };
  }

  /** Hands in a document as a runner does. */
  hand({ id, token }: RunningJob, document: object | string, { name, query, isGzip }: Handing = {}): Test {
    const text = typeof document === 'string' ? document : JSON.stringify(document);
    return this.scene.app
      .as(this.scene.seed.anonymous())
      .post(`/api/v4/jobs/${id}/artifacts`)
      .query({ token, artifact_type: 'cyclonedx', ...(isGzip ? { artifact_format: 'gzip' } : {}), ...query })
      .attach('file', isGzip ? gzipSync(text) : Buffer.from(text), name ?? 'bom.cdx.json');
  }

  async end({ id, token }: RunningJob, state = 'success'): Promise<void> {
    await this.scene.app.as(this.scene.seed.anonymous()).put(`/api/v4/jobs/${id}`).send({ token, state }).expect(200);
  }

  /** Runs a pipeline that reports one document. */
  async report(viewer: Viewer, project: DirectoryProject, document: object, ref?: string): Promise<RunningJob> {
    const job = await this.job(viewer, project, ref);
    await this.hand(job, document).expect(201);
    await this.end(job);
    return job;
  }

  /** Executes one try of the job that writes an export. */
  generate(id: number, { attempt = 1, signal = new AbortController().signal } = {}): Promise<void> {
    const progress = (): Promise<void> => Promise.resolve();
    const run = { params: { export_id: id }, attempt, dueAt: new Date(), signal, progress };
    return this.scene.app.get(GenerateDependencyExportJob).generate(run);
  }

  /** Creates an export, writes it and returns its file. `of` is a path such as `projects/7`. */
  async exported(viewer: Viewer, of: string, type: string): Promise<{ readonly text: string; readonly name: string }> {
    const { body } = await this.scene.app
      .as(viewer)
      .post(`/api/v4/${of}/dependency_list_exports`)
      .send({ export_type: type })
      .expect(201);
    await this.generate(body.id);
    const file = await this.scene.app
      .as(viewer)
      .get(`/api/v4/dependency_list_exports/${body.id}/download`)
      .buffer(true)
      .parse((response, done) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => done(null, Buffer.concat(chunks).toString()));
      })
      .expect(200);
    return { text: file.body as string, name: String(file.headers['content-disposition']) };
  }
}

import { gzipSync } from 'node:zlib';
import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import type { TestApp } from '@rookery/testing';
import { parse } from 'yaml';
import { tarballOf } from './npm';

export function helmPath({ id }: Pick<DirectoryProject, 'id'>): string {
  return `/api/v4/projects/${id}/packages/helm`;
}

/** An archive with this `Chart.yaml`. */
export function archiveOf(chartYaml: string): Promise<Buffer> {
  return tarballOf({ 'chart/Chart.yaml': chartYaml, 'chart/values.yaml': 'replicas: 1\n' });
}

/** `Chart.yaml` of a small chart. */
export function chartYaml(name: string, version: string, more = ''): string {
  return `apiVersion: v2\nname: ${name}\nversion: ${version}\n${more}`;
}

export interface ChartForm {
  readonly channel?: string;
  readonly archive: Buffer;
  readonly provenance?: string;
}

/** Uploads a chart as the plugin cm-push does. */
export function upload(app: TestApp, viewer: Viewer, project: Pick<DirectoryProject, 'id'>, form: ChartForm) {
  const { channel = 'stable', archive, provenance } = form;
  const request = app.as(viewer).post(`${helmPath(project)}/api/${channel}/charts`);
  void request.attach('chart', archive, { filename: 'chart.tgz', contentType: 'application/octet-stream' });
  return provenance === undefined ? request : request.attach('prov', Buffer.from(provenance), 'chart.tgz.prov');
}

export async function uploaded(
  app: TestApp,
  viewer: Viewer,
  project: Pick<DirectoryProject, 'id'>,
  o: { name?: string; version?: string; more?: string; channel?: string; provenance?: string } = {},
): Promise<Buffer> {
  const { name = 'eggs', version = '1.0.0', more = '', ...form } = o;
  const archive = await archiveOf(chartYaml(name, version, more));
  await upload(app, viewer, project, { ...form, archive }).expect(201, { message: '201 Created' });
  return archive;
}

export interface ChartEntry {
  readonly name: string;
  readonly version: string;
  readonly urls: readonly string[];
  readonly digest: string;
  readonly [field: string]: unknown;
}
export interface IndexDocument {
  readonly apiVersion: string;
  readonly generated?: string;
  readonly serverInfo: { readonly contextPath: string };
  readonly entries: Readonly<Record<string, readonly ChartEntry[]>>;
}

/** Reads an index as strictly as Helm does: no key twice, plain types. */
export function parseIndex(text: string): IndexDocument {
  return parse(text, { uniqueKeys: true, strict: true }) as IndexDocument;
}

/** An archive whose entry inflates to this many bytes. */
export function bombOf(size: number): Promise<Buffer> {
  return tarballOf({ 'chart/a.txt': ' '.repeat(size), 'chart/Chart.yaml': chartYaml('bomb', '1.0.0') });
}

/** Bytes that are compressed, but no archive. */
export const NO_ARCHIVE = gzipSync(Buffer.from('no archive'));

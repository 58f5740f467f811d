import { createHash } from 'node:crypto';
import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import type { TestApp } from '@rookery/testing';
import type { Response } from 'supertest';
import { ZipFile } from 'yazl';

export const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');

export function pypiPath(project: DirectoryProject): string {
  return `/api/v4/projects/${project.id}/packages/pypi`;
}

export interface PypiForm {
  readonly name?: string;
  readonly version?: string;
  readonly file?: string;
  readonly content?: Buffer | string;
  /** Further text parts, before the file. */
  readonly fields?: Readonly<Record<string, string | readonly string[]>>;
}

/** Uploads a file as twine does: text parts first, the file last. */
export function upload(app: TestApp, viewer: Viewer, project: DirectoryProject, form: PypiForm = {}) {
  const { name = 'my-pkg', version = '1.0', content = 'content' } = form;
  const { file = `${name.replaceAll('-', '_')}-${version}.tar.gz`, fields = {} } = form;
  const request = app.as(viewer).post(pypiPath(project)).field('name', name).field('version', version);
  for (const [field, values] of Object.entries(fields))
    for (const value of [values].flat()) void request.field(field, value);
  void request.field(':action', 'file_upload').field('protocol_version', '1');
  return request.attach('content', Buffer.from(content), { filename: file, contentType: 'application/octet-stream' });
}

export async function uploaded(...args: Parameters<typeof upload>): Promise<Response> {
  return upload(...args).expect(201, { message: '201 Created' });
}

/** A wheel with these entries. */
export async function wheelOf(entries: Readonly<Record<string, string | Uint8Array>>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(entries)) zip.addBuffer(Buffer.from(content as string), name);
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

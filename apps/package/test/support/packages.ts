import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import type { TestApp } from '@rookery/testing';
import type { Response } from 'supertest';

/** Path of a generic package file. `file` may have folders. */
export function genericPath(project: DirectoryProject, name: string, version: string, file: string): string {
  return `/api/v4/projects/${project.id}/packages/generic/${name}/${version}/${file}`;
}

/** Uploads a file of a generic package, and returns the stored file. */
export async function uploaded(
  app: TestApp,
  viewer: Viewer,
  project: DirectoryProject,
  o: { name?: string; version?: string; file?: string; content?: string; status?: 'default' | 'hidden' } = {},
): Promise<{ id: number; package_id: number; file_name: string; size: number; [name: string]: unknown }> {
  const { name = 'tool', version = '1.0.0', file = 'tool.bin', content = `content of ${file}`, status } = o;
  const response: Response = await app
    .as(viewer)
    .put(genericPath(project, name, version, file))
    .query({ select: 'package_file', ...(status ? { status } : {}) })
    .type('application/octet-stream')
    .send(Buffer.from(content))
    .expect(200);
  return response.body;
}

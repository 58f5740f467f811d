import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import type { TestApp } from '@rookery/testing';
import type { Response } from 'supertest';

/** Path of a file in the Maven repository of a project. */
export function mavenPath({ id }: Pick<DirectoryProject, 'id'>, file: string): string {
  return `/api/v4/projects/${id}/packages/maven/${file}`;
}

/** Uploads a file to the Maven repository of a project. */
export function putMaven(app: TestApp, viewer: Viewer, url: string, content: string | Buffer) {
  return app.as(viewer).put(url).type('application/octet-stream').send(Buffer.from(content));
}

/** Downloads a file as bytes. */
export async function getMaven(app: TestApp, viewer: Viewer, url: string): Promise<Response & { text: string }> {
  const response = await app
    .as(viewer)
    .get(url)
    .buffer(true)
    .parse((stream, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => done(null, Buffer.concat(chunks)));
    });
  return Object.assign(response, { text: String(response.body) });
}

import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { DirectoryProject } from '@rookery/contracts';
import type { Role, Viewer } from '@rookery/kernel';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import type { Response } from 'supertest';
import { pack } from 'tar-stream';
import { startPackage } from './app';
import type { PackageService } from './app';

export interface NpmVersionSpec {
  readonly name: string;
  readonly version: string;
  /** Further fields of package.json. */
  readonly manifest?: object;
  readonly tag?: string;
  /** Content of the tarball; one with the manifest without it. */
  readonly tarball?: Buffer;
}

/** Paths of the registries. */
export const npmOf = {
  project: ({ id }: { readonly id: number }): string => `/api/v4/projects/${id}/packages/npm`,
  group: ({ id }: { readonly id: number }): string => `/api/v4/groups/${id}/-/packages/npm`,
  instance: '/api/v4/packages/npm',
};

/** A tarball with these files. */
export async function tarballOf(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const entries = pack();
  for (const [name, text] of Object.entries(files)) entries.entry({ name }, text);
  entries.finalize();
  const parts: Buffer[] = [];
  for await (const part of entries as AsyncIterable<Buffer>) parts.push(part);
  return gzipSync(Buffer.concat(parts));
}

/** A publish document in the order of the keys of npm. */
export async function documentOf(spec: NpmVersionSpec): Promise<Record<string, unknown>> {
  const { name, version, tag = 'latest' } = spec;
  const manifest = { name, version, ...spec.manifest };
  const tarball = spec.tarball ?? (await tarballOf({ 'package/package.json': JSON.stringify(manifest) }));
  const dist = {
    integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
    shasum: createHash('sha1').update(tarball).digest('hex'),
    tarball: `http://elsewhere/${name}.tgz`,
  };
  return {
    ...{ _id: name, name, 'dist-tags': { [tag]: version }, access: null },
    versions: { [version]: { ...manifest, _id: `${name}@${version}`, dist } },
    _attachments: {
      [`${name}-${version}.tgz`]: {
        content_type: 'application/octet-stream',
        ...{ data: tarball.toString('base64'), length: tarball.length },
      },
    },
  };
}

/** The path of a package as npm writes it. */
export function npmPath(registry: string, name: string): string {
  return `${registry}/${name.replace('/', '%2f')}`;
}

/** Sends a document. */
export async function put(app: TestApp, viewer: Viewer, path: string, document: object | string): Promise<Response> {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  return app.as(viewer).put(path).type('application/json').send(text);
}

/** Publishes a version to a project. */
export async function published(
  app: TestApp,
  viewer: Viewer,
  project: DirectoryProject,
  spec: NpmVersionSpec,
): Promise<{ readonly id: number }> {
  const response = await put(app, viewer, npmPath(npmOf.project(project), spec.name), await documentOf(spec));
  if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(response.body)}`);
  return response.body as { id: number };
}

/** Adds a member to a project. */
export async function memberOf(seed: DirectorySeed, project: DirectoryProject, role: Role): Promise<Viewer> {
  const user = await seed.user();
  await seed.member(user, project, role);
  return seed.viewer(user);
}

/** The package service with a private project. */
export interface NpmSuite {
  readonly service: PackageService;
  readonly seed: DirectorySeed;
  readonly app: TestApp;
  readonly project: DirectoryProject;
  readonly developer: Viewer;
  readonly maintainer: Viewer;
}

export async function startNpm(): Promise<NpmSuite> {
  const service = await startPackage();
  const { seed, app } = service;
  const project = await seed.project({ visibility: 'private' });
  const [developer, maintainer] = [
    await memberOf(seed, project, 'developer'),
    await memberOf(seed, project, 'maintainer'),
  ];
  return { service, seed, app, project, developer, maintainer };
}

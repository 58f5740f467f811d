import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import type { TestApp } from '@rookery/testing';
import { wheelOf } from './pypi';

export function nugetPath({ id }: Pick<DirectoryProject, 'id'>): string {
  return `/api/v4/projects/${id}/packages/nuget`;
}

/** A description. Shape: `more` are further elements. */
export function nuspecOf(id: string, version: string, more = ''): string {
  return `\ufeff<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd"><metadata>
  <id>${id}</id><version>${version}</version><authors>Ada &amp; Bob</authors><description>Eggs.</description>${more}
</metadata></package>`;
}

/** An archive with this description. */
export function nupkgOf(nuspec: string, more: Readonly<Record<string, string>> = {}): Promise<Buffer> {
  return wheelOf({ 'eggs.nuspec': nuspec, 'lib/net8.0/eggs.dll': 'binary', ...more });
}

/** Pushes an archive as dotnet does. */
export function push(app: TestApp, viewer: Viewer, path: string, archive: Buffer, part = 'package') {
  return app
    .as(viewer)
    .put(path)
    .attach(part, archive, { filename: 'package.nupkg', contentType: 'application/octet-stream' });
}

export async function pushed(
  app: TestApp,
  viewer: Viewer,
  project: Pick<DirectoryProject, 'id'>,
  o: { id?: string; version?: string; more?: string } = {},
): Promise<Buffer> {
  const { id = 'Nest.Eggs', version = '1.0.0', more } = o;
  const archive = await nupkgOf(nuspecOf(id, version, more));
  await push(app, viewer, nugetPath(project), archive).expect(201, { message: '201 Created' });
  return archive;
}

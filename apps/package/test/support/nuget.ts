import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import type { TestApp } from '@rookery/testing';
import { sha256, wheelOf } from './pypi';

export function nugetPath({ id }: Pick<DirectoryProject, 'id'>): string {
  return `/api/v4/projects/${id}/packages/nuget`;
}

/** Returns a `.nuspec` description. `more` has further elements. */
export function nuspecOf(id: string, version: string, more = ''): string {
  return `\ufeff<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd"><metadata>
  <id>${id}</id><version>${version}</version><authors>Ada &amp; Bob</authors><description>Eggs.</description>${more}
</metadata></package>`;
}

/** An archive with this description. */
export function nupkgOf(nuspec: string, more: Readonly<Record<string, string | Buffer>> = {}): Promise<Buffer> {
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

/** A file of symbols in the portable format, as ECMA-335 II.24.2 describes it. `guid` has 32 hexadecimal digits. */
export function pdbOf(guid: string, content = 'symbols'): Buffer {
  const number = (bytes: 2 | 4, value: number): Buffer => {
    const buffer = Buffer.alloc(bytes);
    buffer.writeUIntLE(value, 0, bytes);
    return buffer;
  };
  const version = Buffer.from('PDB v1.0\0\0\0\0');
  const streams = [
    { name: '#Strings\0\0\0\0', bytes: Buffer.from(content) },
    { name: '#Pdb\0\0\0\0', bytes: Buffer.concat([pdbIdOf(guid), Buffer.alloc(12)]) },
  ];
  const headersBytes = streams.reduce((sum, { name }) => sum + 8 + name.length, 0);
  let offset = 16 + version.length + 4 + headersBytes;
  const headers = streams.map(({ name, bytes }) => {
    const header = Buffer.concat([number(4, offset), number(4, bytes.length), Buffer.from(name)]);
    offset += bytes.length;
    return header;
  });
  const root = [Buffer.from('BSJB'), number(2, 1), number(2, 1), number(4, 0), number(4, version.length), version];
  return Buffer.concat([
    ...root,
    number(2, 0),
    number(2, streams.length),
    ...headers,
    ...streams.map((one) => one.bytes),
  ]);
}

/** The checksum of a file of symbols that debuggers send. */
export function symbolChecksum(pdb: Buffer, guid: string): string {
  const zeroed = Buffer.from(pdb);
  const at = zeroed.indexOf(pdbIdOf(guid));
  return sha256(zeroed.fill(0, at, at + 20));
}

/** The GUID in the order of its bytes in a file, and a time stamp. */
function pdbIdOf(guid: string): Buffer {
  const bytes = Buffer.from(guid, 'hex');
  const parts = [bytes.subarray(0, 4), bytes.subarray(4, 6), bytes.subarray(6, 8)].map((part) =>
    Buffer.from(part).reverse(),
  );
  return Buffer.concat([...parts, bytes.subarray(8), Buffer.from('a1b2c3d4', 'hex')]);
}

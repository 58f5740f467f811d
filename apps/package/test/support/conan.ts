import { createHash } from 'node:crypto';
import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import type { TestApp } from '@rookery/testing';

type Project = Pick<DirectoryProject, 'id'>;

export const RECIPE_REVISION = 'a'.repeat(32);
export const BINARY = '1'.repeat(40);
export const BINARY_REVISION = 'b'.repeat(32);
export const INFO_TEXT =
  '[settings]\n    os=Linux\n    arch=x86_64\n\n[options]\n    shared=False\n\n[requires]\n    zlib/1.3\n\n[full_requires]\n    zlib/1.3:99\n\n[recipe_hash]\n    77\n\n[env]\n    A=b\n';

/** Path of a registry below a project. */
export const conanOf = ({ id }: Project): string => `/api/v4/projects/${id}/packages/conan`;
export const INSTANCE = '/api/v4/packages/conan';

/** Path of a recipe in version 2 of the protocol. `reference` is `name/version/user/channel`. */
export const recipeV2 = (registry: string, reference = 'hello/1.0/me/stable'): string =>
  `${registry}/v2/conans/${reference}`;
export const revisionOf = (recipe: string, revision = RECIPE_REVISION): string => `${recipe}/revisions/${revision}`;
export const binaryOf = (revision: string, binary = BINARY): string => `${revision}/packages/${binary}`;
export const binaryRevisionOf = (binary: string, revision = BINARY_REVISION): string =>
  `${binary}/revisions/${revision}`;

export const sha1Of = (content: string): string => createHash('sha1').update(content).digest('hex');

/** Uploads a file as Conan does, with its digest. */
export function put(app: TestApp, viewer: Viewer, path: string, content: string) {
  return app.as(viewer).put(path).set('x-checksum-sha1', sha1Of(content)).send(Buffer.from(content));
}

/** Uploads the files of a revision in order. `below` is the path of the revision. */
export async function uploadedFiles(
  app: TestApp,
  viewer: Viewer,
  below: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, content] of Object.entries(files))
    await put(app, viewer, `${below}/files/${name}`, content).expect(200);
}

/** Uploads a recipe with one binary package. */
export async function uploadedRecipe(
  app: TestApp,
  viewer: Viewer,
  registry: string,
  o: { readonly reference?: string; readonly revision?: string; readonly info?: string } = {},
): Promise<void> {
  const revision = revisionOf(recipeV2(registry, o.reference), o.revision);
  await uploadedFiles(app, viewer, revision, {
    'conanfile.py': 'recipe',
    'conanmanifest.txt': `manifest ${o.revision}`,
  });
  await uploadedFiles(app, viewer, binaryRevisionOf(binaryOf(revision)), {
    'conan_package.tgz': 'archive',
    'conaninfo.txt': o.info ?? INFO_TEXT,
    'conanmanifest.txt': 'manifest of the package',
  });
}

/** Uploads a recipe with one binary package as version 1 of the protocol does. `files` is the path of its revision. */
export async function uploadedV1(app: TestApp, viewer: Viewer, files: string): Promise<void> {
  const all = {
    'export/conanfile.py': 'recipe',
    'export/conanmanifest.txt': 'manifest',
    [`package/${BINARY}/0/conan_package.tgz`]: 'archive',
    [`package/${BINARY}/0/conaninfo.txt`]: INFO_TEXT,
    [`package/${BINARY}/0/conanmanifest.txt`]: 'manifest of the package',
  };
  for (const [name, content] of Object.entries(all)) await put(app, viewer, `${files}/${name}`, content).expect(200);
}

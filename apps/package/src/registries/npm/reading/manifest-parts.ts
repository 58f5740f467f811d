/** A stored manifest. `id` is that of its package. Units: `size` in bytes. */
export interface SizedManifest {
  readonly id: number;
  readonly size: number;
}

/** Maximum number of manifests that one query reads. */
const MAX_COUNT = 500;
/** Maximum size of the manifests that one query reads, unless one alone is larger. Units: bytes. */
const MAX_BYTES = 2 * 1024 ** 2;

/** Divides manifests into parts that are read at a time. The ids keep the given order. No part is empty. */
export function batchManifestIds(manifests: readonly SizedManifest[]): readonly (readonly number[])[] {
  const parts: number[][] = [];
  let bytes = 0;
  for (const { id, size } of manifests) {
    const last = parts.at(-1);
    bytes += size;
    if (last !== undefined && last.length < MAX_COUNT && bytes <= MAX_BYTES) last.push(id);
    else {
      parts.push([id]);
      bytes = size;
    }
  }
  return parts;
}

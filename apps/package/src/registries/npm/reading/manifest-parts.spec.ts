import { batchManifestIds } from './manifest-parts';

const MIB = 1024 ** 2;
const sizedManifests = (...sizes: number[]) => sizes.map((size, index) => ({ id: index + 1, size }));

it('ends a part of manifests before 2 MiB, and gives a larger one a part of its own', () => {
  expect(batchManifestIds(sizedManifests(MIB, MIB, 1, 4 * MIB, 1, 1))).toEqual([[1, 2], [3], [4], [5, 6]]);
});

it('ends a part after 500 manifests', () => {
  expect(
    batchManifestIds(sizedManifests(...Array.from({ length: 1001 }, () => 0))).map(({ length }) => length),
  ).toEqual([500, 500, 1]);
  expect(batchManifestIds([])).toEqual([]);
});

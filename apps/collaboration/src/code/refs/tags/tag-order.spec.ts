import type { ObjectId, RefName } from '@rookery/git';
import { sortTagsByVersion } from './tag-order';

const refs = ['nightly', 'v1.10.0', '1.9', 'v1.10.0-rc.2', 'v2', '1.9.1', 'v1.10.0-rc.10', 'alpha', 'V3.0.0'].map(
  (shortName) => ({ shortName, name: `refs/tags/${shortName}` as RefName, id: '' as ObjectId }),
);
const names = (sort: 'asc' | 'desc') => sortTagsByVersion(refs, sort).map(({ shortName }) => shortName);

const VERSIONS = ['1.9', '1.9.1', 'v1.10.0-rc.2', 'v1.10.0-rc.10', 'v1.10.0', 'v2', 'V3.0.0'];

it('orders tags by semantic version, those without a version last', () => {
  expect(names('asc')).toEqual([...VERSIONS, 'alpha', 'nightly']);
  expect(names('desc')).toEqual([...VERSIONS.toReversed(), 'alpha', 'nightly']);
});

import { readSettings, pickSettings } from '@rookery/platform';
import { gitSettings, parseStorageFolders } from './git.config';

const read = (text: string) =>
  parseStorageFolders(pickSettings(readSettings([gitSettings], { ROOKERY_REPOSITORIES: text }), gitSettings).storages);

describe('storages', () => {
  it('are one folder, or several with names', () => {
    expect(read('')).toEqual(new Map([['default', '/var/lib/rookery/repositories']]));
    expect(read('/data/a=b')).toEqual(new Map([['default', '/data/a=b']]));
    expect(read('default=/a, fast-1=/b=c')).toEqual(
      new Map([
        ['default', '/a'],
        ['fast-1', '/b=c'],
      ]),
    );
  });

  it.each(['relative', 'default=relative', '/a,/b', 'fast=/a', 'default=/a,default=/b', 'De fault=/a', '../x=/a'])(
    'are not %j',
    (text) => {
      expect(() => read(text)).toThrow('ROOKERY_REPOSITORIES');
    },
  );
});

import { resolveAddresses, checkedDestination, parseAllowedDestinations } from './destination';
import { EgressError } from './egress-error';

const rules = { listed: parseAllowedDestinations(['forge.internal:8443', '[::1]:80', '10.0.0.7:443']), ports: [443] };
const rejectLookup = (): Promise<string[]> => Promise.reject(new Error('a name was looked up'));

function refusalOf(text: string): string {
  try {
    checkedDestination(text, rules);
    return 'allowed';
  } catch (error) {
    expect(error).toBeInstanceOf(EgressError);
    expect((error as EgressError).reason).toBe('address refused');
    return (error as EgressError).message;
  }
}

describe('the URL', () => {
  it.each([
    'https://forge.example',
    'https://forge.example:443/a?b',
    'https://FORGE.example./',
    'https://bücher.example',
  ])('%s is allowed', (text) => expect(checkedDestination(text, rules)).toMatchObject({ isListed: false }));

  it.each(['http://forge.internal:8443/x', 'https://FORGE.internal.:8443', 'http://[0:0:0:0:0:0:0:1]', 'https://10.7'])(
    '%s is listed',
    (text) => expect(checkedDestination(text, rules)).toMatchObject({ isListed: true }),
  );

  it.each([
    ['http://forge.example', /is not https on port 443, and forge\.example:80 is not in EGRESS_ALLOW/],
    ['https://forge.example:8443', /is not https on port 443/],
    ['https://forge.internal:8444', /is not https on port 443/],
    ['https://forge.internal.evil.example:8443', /is not https on port 443/],
    ['https://name@forge.example', /holds a name or a password/],
    ['https://:word@forge.example', /holds a name or a password/],
    ['https://forge.example:443@evil.example', /holds a name or a password/],
    ['file:///etc/passwd', /is not one of http or https/],
    ['gopher://forge.example', /is not one of http or https/],
    ['data:text/plain,x', /is not one of http or https/],
    ['https://', /is not a URL/],
    ['forge.example', /is not a URL/],
    ['https://forge.example\\@evil.example', /is not a URL/],
    ['https://forge.exa\nmple', /is not a URL/],
    [' https://forge.example', /is not a URL/],
    [`https://forge.example/${'x'.repeat(2048)}`, /is not a URL/],
    [`https://${'x.'.repeat(130)}example`, /has no host/],
  ])('%s is refused', (text, why) => expect(refusalOf(text)).toMatch(why));
});

describe('the addresses of a host', () => {
  it.each([
    ...[
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f.1',
      '0177.0.0.1',
      '%31%32%37.0.0.1',
      '１２７。０。０．１',
      '①②⑦.0.0.1',
    ],
    ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[fd00::1]'],
    ...['10.0.0.1', '169.254.169.254', '100.64.0.1', '0.0.0.0', '192.168.0.1', '[fe80::1]'],
  ])('%s is checked without a DNS lookup', async (host) => {
    await expect(resolveAddresses(checkedDestination(`https://${host}/`, rules), rejectLookup)).rejects.toMatchObject({
      reason: 'address refused',
    });
  });

  it.each([[['127.0.0.1']], [['1.1.1.1', '10.0.0.1']], [['::ffff:1.1.1.1']], [['1.1.1.1', 'fe80::1']], [['nonsense']]])(
    'a name with %j is refused entirely',
    async (addresses) => {
      const destination = checkedDestination('https://forge.example', rules);
      await expect(resolveAddresses(destination, () => Promise.resolve(addresses))).rejects.toMatchObject({
        reason: 'address refused',
        message: expect.not.stringContaining(addresses[0]!) as string,
      });
    },
  );

  it('are those of the first lookup', async () => {
    const answers = [['93.184.215.14'], ['127.0.0.1']];
    const destination = checkedDestination('https://forge.example', rules);
    expect(await resolveAddresses(destination, () => Promise.resolve(answers.shift()!))).toEqual(['93.184.215.14']);
  });

  it('may be private for a host that the operator listed', async () => {
    const destination = checkedDestination('http://forge.internal:8443', rules);
    expect(await resolveAddresses(destination, () => Promise.resolve(['10.0.0.1']))).toEqual(['10.0.0.1']);
    expect(await resolveAddresses(checkedDestination('https://10.0.0.7', rules), rejectLookup)).toEqual(['10.0.0.7']);
  });

  it('must exist', async () => {
    const destination = checkedDestination('https://forge.example', rules);
    await expect(resolveAddresses(destination, () => Promise.resolve([]))).rejects.toMatchObject({
      reason: 'name unknown',
    });
  });
});

describe('EGRESS_ALLOW', () => {
  it('is normalized as URLs are', () => {
    const listed = parseAllowedDestinations([
      'FORGE.Internal:80',
      'ｆorge.example:443',
      '[0:0::1]:8080',
      '0x7f.1:9000',
    ]);
    expect([...listed]).toEqual(['forge.internal:80', 'forge.example:443', '[::1]:8080', '127.0.0.1:9000']);
  });

  it.each([
    'forge',
    'forge:',
    'forge:0',
    'forge:70000',
    '*.forge:443',
    '10.0.0.0/8:443',
    'a@forge:443',
    'https://forge:443',
    '::1:80',
    ':80',
  ])('refuses %s', (item) =>
    expect(() => parseAllowedDestinations([item])).toThrow('which is not of the form host:port'),
  );
});

import { Links } from './links';

describe('links', () => {
  it.each(['http://localhost:8080', 'http://localhost:8080/', 'https://host/rookery//'])(
    'begin with the base of %s',
    (base) => {
      const links = new Links(base);
      const trimmed = base.replace(/\/+$/, '');
      expect(links.webUrl('/a%2Fb/-/issues/1')).toBe(`${trimmed}/a%2Fb/-/issues/1`);
      expect(links.webUrl('rob')).toBe(`${trimmed}/rob`);
      expect(links.apiUrl('projects/1')).toBe(`${trimmed}/api/v4/projects/1`);
    },
  );
});

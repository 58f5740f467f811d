import { readGeneratedRoutes } from '../routes/committed';
import { redactPathForLog } from './redact-path';

describe('the logged path', () => {
  it('is omitted for routes with a secret in their template', () => {
    const omitted = Object.keys(readGeneratedRoutes()).filter(
      (template) => redactPathForLog('/any', template) === null,
    );
    expect(omitted).toEqual([
      '/-/project/{id}/uploads/{secret}/{filename}',
      '/api/v4/groups/{id}/-/packages/npm/-/user/token/{token}',
      '/api/v4/packages/npm/-/user/token/{token}',
      '/api/v4/projects/{id}/packages/npm/-/user/token/{token}',
    ]);
  });

  it('has no secret where the template has a parameter of another name', () => {
    const path = '/-/sent_notifications/Issue.7.8.abc/unsubscribe';
    expect(redactPathForLog(path, '/-/sent_notifications/{key}/unsubscribe')).toBe(
      '/-/sent_notifications/[secret]/unsubscribe',
    );
  });

  it('is the path, escapes included, if it contains no secret', () => {
    const path = '/api/v4/projects/mina%2Fwren/repository/files/a%20b%2Fc/raw';
    expect(redactPathForLog(path, '/api/v4/projects/{id}/repository/files/{file_path}/raw')).toBe(path);
    expect(redactPathForLog('/', undefined)).toBe('/');
  });
});

import { createHash } from 'node:crypto';
import type { ConfirmCallerAnswer, ConfirmCallerRequest } from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import type { IdentityApp, Person } from '../support/app';
import { startIdentity } from '../support/app';
import { FakePackage } from '../support/fake-package';
import { internalCall, resolve } from '../support/internal-calls';

const TOKEN = 'glcbt-abcdefghijklmnopqrst';
const packages = new FakePackage();
let identity: IdentityApp;
let ada: Person;

beforeAll(async () => {
  await packages.start();
  identity = await startIdentity({ PACKAGE_URL: packages.url });
});
beforeEach(async () => {
  ada = await identity.person(`ada${packages.asked.length}`);
  packages.job = { id: 5, project_id: 9, user_id: ada.id };
});
afterAll(async () => {
  await identity.close();
  await packages.stop();
});

const resolveJobToken = (token: string | null = TOKEN) => resolve(identity, token, { job: true });
const confirmJobCaller = (over: Partial<ConfirmCallerRequest> = {}): Promise<ConfirmCallerAnswer> => {
  const claims = { admin: false, external: false, bot: false, scopes: ['read_repository'], impersonator_id: null };
  const question = { user_id: ada.id, token_id: 0, job_id: 5, ...claims, ...over };
  return internalCall(identity, INTERNAL_PATHS.confirmCaller, question, 'package');
};

describe('the token of a job', () => {
  it('acts as the user of the job, with the newest version of the directory', async () => {
    const answer = await resolveJobToken();
    expect(answer).toEqual({
      ...{ outcome: 'valid', version: expect.any(Number), epoch: expect.any(String) },
      holder: {
        ...{ user_id: ada.id, username: ada.username, admin: false, external: false, bot: false },
        ...{ token_id: null, scopes: ['read_repository'], impersonator_id: null, maker_id: null, expires_at: null },
        job: { id: 5, project_id: 9 },
      },
    });
    expect(packages.asked.at(-1)).toEqual({ digest: createHash('sha256').update(TOKEN).digest('hex') });
    await identity.person(`later${packages.asked.length}`);
    expect((await resolveJobToken()).version).toBeGreaterThan(answer.version);
  });

  it('is unknown once the job has ended, and without a digest', async () => {
    packages.job = null;
    expect(await resolveJobToken()).toMatchObject({ outcome: 'unknown' });
    const before = packages.asked.length;
    expect(await resolveJobToken(null)).toMatchObject({ outcome: 'unknown' });
    expect(packages.asked).toHaveLength(before);
  });

  it('is unknown for a user who does not exist, and refused with the reason for a blocked one', async () => {
    packages.job = { id: 5, project_id: 9, user_id: 987654321 };
    expect(await resolveJobToken()).toMatchObject({ outcome: 'unknown' });
    packages.job = { id: 5, project_id: 9, user_id: ada.id };
    await identity.root.post(`/api/v4/users/${ada.id}/block`).expect(201);
    expect(await resolveJobToken()).toMatchObject({ outcome: 'user_refused', reason: 'Your account has been blocked' });
    expect(await confirmJobCaller()).toMatchObject({
      outcome: 'user_refused',
      reason: 'Your account has been blocked',
    });
  });

  it('is refused as long as package does not answer', async () => {
    packages.isAway = true;
    try {
      await expect(resolveJobToken()).rejects.toThrow(/^503 /);
      await expect(confirmJobCaller()).rejects.toThrow(/^503 /);
    } finally {
      packages.isAway = false;
    }
    expect(await resolveJobToken()).toMatchObject({ outcome: 'valid' });
  });
});

describe('the claims of a caller with the token of a job', () => {
  it('hold while the job runs and its user has the same rights', async () => {
    expect(await confirmJobCaller()).toMatchObject({ outcome: 'holds', version: expect.any(Number) });
    expect(packages.asked.at(-1)).toEqual({ id: 5 });
    expect(await confirmJobCaller({ admin: true })).toMatchObject({ outcome: 'changed' });
    expect(await confirmJobCaller({ user_id: ada.id + 1 })).toMatchObject({ outcome: 'changed' });
    packages.job = null;
    expect(await confirmJobCaller()).toMatchObject({ outcome: 'unknown' });
  });
});

import type { ConfirmCallerAnswer } from '@rookery/contracts';
import type { SignedInViewer } from '@rookery/kernel';
import { aContext } from '../../test/support/context';
import { CallerChecks } from './caller-checks';

const HOLDS: ConfirmCallerAnswer = { version: 3, epoch: 'e', outcome: 'holds' };
const PATIENT = Date.now() + 600_000;
const caller = (over: Partial<SignedInViewer> = {}) =>
  ({ ...aContext().viewer, deadline: PATIENT, ...over }) as SignedInViewer;

function recordingChecks(answer: () => Promise<ConfirmCallerAnswer> = () => Promise.resolve(HOLDS)) {
  const questions: object[] = [];
  const confirm = (question: object) => {
    questions.push(question);
    return answer();
  };
  return { questions, checks: new CallerChecks({ confirm }, 1000) };
}

afterEach(() => jest.restoreAllMocks());

it('shares one question among the requests of one caller, but not with other callers', async () => {
  const { questions, checks } = recordingChecks();
  jest.spyOn(performance, 'now').mockReturnValue(0);
  await Promise.all([1, 2, 3].map(() => checks.confirmCaller(caller())));
  expect(questions).toHaveLength(1);
  await checks.confirmCaller(caller({ isAdmin: true }));
  await checks.confirmCaller(caller({ tokenId: 2 }));
  expect(questions).toHaveLength(3);
  jest.spyOn(performance, 'now').mockReturnValue(1001);
  await checks.confirmCaller(caller());
  expect(questions).toHaveLength(4);
});

it('asks again when an answer arrives too late', async () => {
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  let slow = true;
  const { questions, checks } = recordingChecks(() => {
    if (slow) now += 1001;
    slow = false;
    return Promise.resolve(HOLDS);
  });
  expect(await checks.confirmCaller(caller())).toEqual({ askedAt: 1001, directory: { version: 3, epoch: 'e' } });
  expect(questions).toHaveLength(2);
});

it('rejects at the deadline of the request, and does not share a failed question', async () => {
  let answer = (): Promise<ConfirmCallerAnswer> => new Promise(() => undefined);
  const { checks } = recordingChecks(() => answer());
  const late = checks.confirmCaller(caller({ deadline: Date.now() }));
  await expect(late).rejects.toMatchObject({ reason: 'identity away' });
  answer = () => Promise.reject(new Error('away'));
  await expect(checks.confirmCaller(caller({ tokenId: 2 }))).rejects.toThrow('away');
  answer = () => Promise.resolve(HOLDS);
  expect(await checks.confirmCaller(caller({ tokenId: 2 }))).toMatchObject({ directory: { version: 3 } });
});

import { parsePipelinePushOptions } from './push-options';

test.each([
  [['ci.skip'], true],
  [['ci.skip=true'], true],
  [['ci.skipped'], false],
  [['merge_request.create'], false],
])('%j skips pipelines: %s', (options, skips) => {
  expect(parsePipelinePushOptions(options)).toEqual({ isSkipped: skips, variables: [], inputs: {} });
});

it('reads variables and inputs, the last value of each key', () => {
  const options = [
    ...['ci.variable=A=1', 'ci.variable=B=x=y', 'ci.variable=A=2', 'ci.variable=C=', 'ci.input=env=prod'],
    ...['ci.variable=bad-key=1', 'ci.variable=D', 'ci.variable', `ci.variable=${'K'.repeat(256)}=1`, 'ci.input==x'],
  ];
  expect(parsePipelinePushOptions(options)).toEqual({
    isSkipped: false,
    variables: [
      { key: 'A', value: '2' },
      { key: 'B', value: 'x=y' },
      { key: 'C', value: '' },
    ],
    inputs: { env: 'prod' },
  });
});

it('keeps 20 inputs', () => {
  const options = Array.from({ length: 25 }, (_, index) => `ci.input=i${index}=v`);
  expect(Object.keys(parsePipelinePushOptions(options).inputs)).toHaveLength(20);
});

afterAll(() => {
  throw new Error('the last hook');
});

it('passes', () => {
  expect(1).toBe(1);
});

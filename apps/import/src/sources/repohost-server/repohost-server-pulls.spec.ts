import {
  parseRepohostServerComment,
  listRepohostServerGeneralComments,
  parseRepohostServerLineComment,
  listRepohostServerLineComments,
} from './repohost-server-pulls';

const person = { id: 1, name: 'robin' };

it('reads a text that many replies share once', () => {
  const comments = Array.from({ length: 20_000 }, (_, index) => ({
    ...{ id: index + 2, text: 'Yes', author: person, createdDate: 1 },
  }));
  const comment = { id: 1, text: 'é'.repeat(2_000_000), author: person, createdDate: 1, comments };
  const path = { components: Array.from({ length: 500 }, () => 'abcdef') };
  const activity = { action: 'COMMENTED', comment };
  const from = performance.now();
  const general = listRepohostServerGeneralComments(activity, { id: 7 }).map(parseRepohostServerComment);
  const commentAnchor = { path, line: 3, toHash: 'a'.repeat(1_000_000) };
  const lineComments = listRepohostServerLineComments({ ...activity, commentAnchor }, { id: 7 }).map(
    parseRepohostServerLineComment,
  );
  expect(performance.now() - from).toBeLessThan(5000);
  expect(general.at(-1)).toMatchObject({ id: 20_001, body: `> ${'é'.repeat(80)}…\n\nYes` });
  expect(lineComments.at(-1)).toMatchObject({ id: 20_001, path: path.components.join('/'), commitId: 'a'.repeat(64) });
});

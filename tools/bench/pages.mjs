/**
 * The page of an issue with 20 notes, and the API calls behind it. Source: reference pages 1.
 *
 * @import { Request } from './load.mjs'
 * @import { Person } from './writer.mjs'
 */

/** Calls that the gateway makes for one page. */
export const CALLS_A_PAGE = 3;
/** First issue of the seed that has 20 notes, and the number of such issues. */
const [FIRST, SAME] = [2, 100];

/**
 * Signs all people in. Resolves to the page as a browser asks for it, and its API calls one after the other.
 * @param {string} baseUrl
 * @param {Person[]} people
 * @returns {Promise<{ page(index: number): Request, calls(index: number): Request }>}
 */
export async function pageWorkloads(baseUrl, people) {
  /** @type {string[]} */
  const cookies = [];
  for (const { token } of people) {
    const answer = await fetch(`${baseUrl}/-/sign_in`, {
      method: 'POST',
      headers: { accept: 'text/html' },
      body: new URLSearchParams({ token }),
      redirect: 'manual',
    });
    const cookie = answer.headers.get('set-cookie')?.split(';')[0];
    if (answer.status !== 303 || !cookie) throw new Error(`signing in: ${answer.status}`);
    cookies.push(cookie);
  }
  /** @param {number} index */
  const issueOf = (index) => FIRST + ((index * 7) % SAME);
  return {
    page: (index) => ({
      method: 'GET',
      path: `/bench/bench/-/issues/${issueOf(index)}`,
      headers: { accept: 'text/html', cookie: cookies[index % cookies.length] ?? '' },
    }),
    calls: (index) => {
      const issue = `/api/v4/projects/bench%2Fbench/issues/${issueOf(index)}`;
      const discussion = `${issue}/discussions?page=1&per_page=20`;
      const path = [issue, discussion, '/api/v4/broadcast_messages/displayed'][index % CALLS_A_PAGE] ?? '';
      return { method: 'GET', path, headers: { 'private-token': people[index % people.length]?.token ?? '' } };
    },
  };
}

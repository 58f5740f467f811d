/**
 * Returns a function that creates resources through the API of an estate, as its administrator. Errors: an answer other than
 * 201.
 * @typedef {(path: string, json: object) => Promise<any>} Post
 * @typedef {{ id: number, username: string, token: string }} Person
 * @param {{ baseUrl: string, token: string }} estate
 * @returns {Post}
 */
export function writerOf(estate) {
  return async (path, json) => {
    const response = await fetch(`${estate.baseUrl}/api/v4${path}`, {
      method: 'POST',
      headers: { 'private-token': estate.token, 'content-type': 'application/json' },
      body: JSON.stringify(json),
    });
    if (response.status !== 201) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
}

/**
 * Creates a user with a token.
 * @param {Post} post
 * @param {string} username
 * @returns {Promise<Person>}
 */
export async function makePerson(post, username) {
  const email = `${username}@mail.example`;
  const { id } = await post('/users', { username, email, name: username, force_random_password: true });
  const { token } = await post(`/users/${id}/personal_access_tokens`, { name: 'bench', scopes: ['api'] });
  return { id, username, token };
}

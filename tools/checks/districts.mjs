/**
 * Districts: the first level of a service that has more wings than a person can keep in mind. A district is a folder of
 * wings and holds no file of its own. A wing uses the wings of its own district and of the districts in its row, so all
 * arrows point down.
 */

/**
 * Maps a service to its districts, and each district to the districts below it that its wings may use.
 * @type {Record<string, Record<string, string[]>>}
 */
export const DISTRICTS = {
  collaboration: {
    removal: ['work', 'following', 'planning', 'code', 'talk', 'base'],
    work: ['following', 'planning', 'code', 'talk', 'base'],
    following: ['planning', 'talk', 'base'],
    planning: ['talk', 'base'],
    code: ['base'],
    talk: ['base'],
    base: [],
  },
  package: {
    'dependency-exports': ['ci', 'packages'],
    ci: [],
    registries: ['packages', 'protection-rules'],
    uploads: ['packages'],
    packages: ['protection-rules', 'package-settings'],
    'package-settings': [],
    'protection-rules': [],
  },
};

/**
 * The district of a wing: the folder that contains it, or the wing itself if it is no part of a district.
 * @param {string} wing
 */
export const districtOf = (wing) => wing.split('/')[0] ?? '';
